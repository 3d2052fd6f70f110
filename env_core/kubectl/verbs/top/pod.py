"""`kubectl top pod`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import ALL_NAMESPACES, FIELD_SELECTOR, NO_HEADERS, SELECTOR, Args, Flag, Verb
from env_core.kubectl.verbs.top._metrics import check_sort_by, pods_table, read_metrics
from env_core.sim.timefmt import go_duration, parse_ms
from env_core.world import Object, Output

_DELAY_MS = 120_000


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if len(words) > 1:
        raise usage_failure(args.path, "pod [NAME | -l label]")
    name = words[0] if words else ""
    selector, fields = args.text("selector"), args.text("field-selector")
    check_sort_by(args.text("sort-by"))
    if name and (selector or fields):
        raise Failure("only one of NAME or selector can be provided")
    namespace = "" if args.is_set("all-namespaces") else ctx.namespace
    metrics = read_metrics(ctx, "pods.metrics.k8s.io", namespace, name, selector)
    if fields:
        kept = {
            (pod["metadata"]["namespace"], pod["metadata"]["name"])
            for pod in ctx.api.list("pods", namespace, label_selector=selector, field_selector=fields)
        }
        metrics = [
            row for row in metrics if (row["metadata"].get("namespace"), row["metadata"]["name"]) in kept
        ]
    if not metrics:
        _explain_none(ctx, namespace, name, selector, fields)
        where = "" if args.is_set("all-namespaces") else f" in {namespace} namespace."
        args.screen.err(f"No resources found{where}\n")
        return args.screen.done()
    args.screen.out(
        pods_table(
            metrics,
            sort_by=args.text("sort-by"),
            has_containers=args.is_set("containers"),
            has_namespace=args.is_set("all-namespaces"),
            has_headers=not args.is_set("no-headers"),
            has_sum=args.is_set("sum"),
            has_swap=args.is_set("show-swap"),
        )
    )
    return args.screen.done()


def _explain_none(ctx: Context, namespace: str, name: str, selector: str, fields: str) -> None:
    """Tell why there are pods without metrics; nothing when there are no pods.

    Raises:
        Failure: when there are pods.
    """
    if name:
        pods: list[Object] = [ctx.api.get("pods", namespace, name)]
    else:
        pods = ctx.api.list("pods", namespace, label_selector=selector, field_selector=fields)
        if not pods:
            return
    for pod in pods:
        metadata = pod["metadata"]
        age_ms = ctx.clock.now_ms - parse_ms(metadata["creationTimestamp"])
        if age_ms > _DELAY_MS:
            where = f"{metadata['namespace']}/{metadata['name']}"
            raise Failure(f"Metrics not available for pod {where}, age: {go_duration(age_ms)}")
    raise Failure("metrics not available yet")


VERB = Verb(
    name="pod",
    usage="top pod [NAME | -l label]",
    summary="Shows what pods use.",
    aliases=("pods", "po"),
    flags=(
        ALL_NAMESPACES,
        FIELD_SELECTOR,
        NO_HEADERS,
        SELECTOR,
        Flag("containers", bool, words="A row for each container."),
        Flag("show-swap", bool, words="Show swap."),
        Flag("sort-by", str, words="cpu or memory."),
        Flag("sum", bool, words="Add up at the end."),
        Flag("use-protocol-buffers", bool, default=True, words="Use protocol buffers."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/top top_pod.go",
)
