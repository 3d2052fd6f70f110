"""What `cordon`, `uncordon` and `drain` share: which nodes, and whether pods may be scheduled to them.

Source: k8s.io/kubectl pkg/cmd/drain drain.go, pkg/drain cordon.go; tests/golden/l2/flows/sched-cordon, drain.
"""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH, Options
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import names_text
from env_core.kubectl.resolve import Info, Listing, kind_named
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import Args
from env_core.objects import selectors
from env_core.world import Output

_NOTES = {"client": " (dry run)", "server": " (server dry run)"}


def nodes_of(ctx: Context, args: Args) -> list[Info]:
    """Return the nodes that the command line means.

    Raises:
        Failure: when it names none, or both names and a selector.
        StatusError: the first refusal.
    """
    names, selector = args.positional, args.text("selector")
    if not names and "selector" not in args.given:
        raise usage_failure(args.path, f"USAGE: {args.verb.usage} [flags]")
    if names and selector:
        raise usage_failure(args.path, "error: cannot specify both a node name and a --selector option")
    if args.has("pod-selector") and args.text("pod-selector"):
        try:
            selectors.parse_labels(args.text("pod-selector"))
        except selectors.SelectorError:
            raise Failure("--pod-selector=<pod_selector> must be a valid label selector") from None
    kind = kind_named(ctx, "nodes")
    if selector:
        rows = Listing(kind, "", selector).fetch(ctx)
        return [Info(kind, "", obj["metadata"]["name"], obj) for obj in rows]
    return [Info(kind, "", name.removeprefix("node/").removeprefix("nodes/")).fetch(ctx) for name in names]


def print_node(args: Args, info: Info, operation: str, dry_run: str) -> None:
    """Print what happened to a node."""
    args.screen.out(names_text(info.found(), operation=operation + _NOTES.get(dry_run, "")))


def set_unschedulable(ctx: Context, args: Args, infos: list[Info], dry_run: str, *, is_wanted: bool) -> None:
    """Cordon or uncordon nodes; a refusal is told and the next node is tried."""
    verb = "cordon" if is_wanted else "uncordon"
    for info in infos:
        if bool((info.found().get("spec") or {}).get("unschedulable")) == is_wanted:
            print_node(args, info, f"already {verb}ed", dry_run)
            continue
        if dry_run != "client":
            patch = {"spec": {"unschedulable": True if is_wanted else None}}
            try:
                ctx.api.patch(
                    "nodes",
                    "",
                    info.name,
                    patch,
                    STRATEGIC_PATCH,
                    options=Options(dry_run=dry_run == "server"),
                )
            except StatusError as error:
                args.screen.err(f'error: unable to {verb} node "{info.name}": {error.message}\n')
                continue
        print_node(args, info, f"{verb}ed", dry_run)


def run_cordon(ctx: Context, args: Args, dry_run: str, *, is_wanted: bool) -> Output:
    """Run `cordon` or `uncordon`."""
    set_unschedulable(ctx, args, nodes_of(ctx, args), dry_run, is_wanted=is_wanted)
    return args.screen.done()
