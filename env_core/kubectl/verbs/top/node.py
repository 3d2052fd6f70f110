"""`kubectl top node`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import NO_HEADERS, SELECTOR, Args, Flag, Verb
from env_core.kubectl.verbs.top._metrics import check_sort_by, nodes_table, read_metrics
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if len(words) > 1:
        raise usage_failure(args.path, "node [NAME | -l label]")
    name = words[0] if words else ""
    selector = args.text("selector")
    check_sort_by(args.text("sort-by"))
    if name and selector:
        raise Failure("only one of NAME or --selector can be provided")
    metrics = read_metrics(ctx, "nodes.metrics.k8s.io", "", name, selector)
    if not metrics:
        raise Failure("metrics not available yet")
    nodes = [ctx.api.get("nodes", "", name)] if name else ctx.api.list("nodes", label_selector=selector)
    part = "capacity" if args.is_set("show-capacity") else "allocatable"
    args.screen.out(
        nodes_table(
            metrics,
            {node["metadata"]["name"]: (node.get("status") or {}).get(part) or {} for node in nodes},
            sort_by=args.text("sort-by"),
            has_headers=not args.is_set("no-headers"),
            has_swap=args.is_set("show-swap"),
            swap_capacity={
                node["metadata"]["name"]: ((node.get("status") or {}).get("nodeInfo") or {})
                .get("swap", {})
                .get("capacity", 0)
                for node in nodes
            },
        )
    )
    return args.screen.done()


VERB = Verb(
    name="node",
    usage="top node [NAME | -l label]",
    summary="Shows what nodes use.",
    aliases=("nodes", "no"),
    flags=(
        NO_HEADERS,
        SELECTOR,
        Flag("show-capacity", bool, words="Percentages of capacity, not of what is allocatable."),
        Flag("show-swap", bool, words="Show swap."),
        Flag("sort-by", str, words="cpu or memory."),
        Flag("use-protocol-buffers", bool, default=True, words="Use protocol buffers."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/top top_node.go",
)
