"""`kubectl drain`: a node without pods."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import CHUNK_SIZE, DRY_RUN, SELECTOR, Args, Duration, Flag, Verb
from env_core.kubectl.verbs._nodes import nodes_of, print_node, set_unschedulable
from env_core.kubectl.verbs.drain._evictions import Evictor
from env_core.kubectl.verbs.drain._pods import DrainPlan, DrainRules, daemon_set_finder, plan_drain
from env_core.kubectl.writes import aggregate_text, raise_listed
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    nodes = nodes_of(ctx, args)
    set_unschedulable(ctx, args, nodes, dry_run, is_wanted=True)
    errors: list[Exception] = []
    remaining: list[str] = []
    for info in nodes:
        problems = _drain(ctx, args, info, dry_run)
        if not problems:
            print_node(args, info, "drained", dry_run)
            continue
        args.screen.err(
            f'error: unable to drain node "{info.name}" due to error: {aggregate_text(problems)}, '
            "continuing command...\n"
        )
        errors.extend(Failure(problem) for problem in problems)
        remaining.append(info.name)
    if remaining:
        args.screen.err("There are pending nodes to be drained:\n")
        args.screen.err("".join(f" {name}\n" for name in remaining))
    raise_listed(errors)
    return args.screen.done()


def _plan(ctx: Context, args: Args, node: str) -> DrainPlan:
    rules = DrainRules(
        force=args.is_set("force"),
        ignores_daemon_sets=args.is_set("ignore-daemonsets"),
        deletes_empty_dir_data=args.is_set("delete-emptydir-data"),
        skip_wait_seconds=args.number("skip-wait-for-delete-timeout"),
        now_ms=ctx.clock.now_ms,
    )
    pods = ctx.api.list(
        "pods", "", label_selector=args.text("pod-selector"), field_selector=f"spec.nodeName={node}"
    )
    return plan_drain(pods, rules, daemon_set_finder(ctx))


def _drain(ctx: Context, args: Args, info: Info, dry_run: str) -> list[str]:
    """Get the pods off a node and return what went wrong."""
    try:
        plan = _plan(ctx, args, info.name)
    except StatusError as error:
        return [error.message]
    if plan.errors:
        return plan.errors
    if plan.warnings:
        args.screen.err(f"Warning: {plan.warnings}\n")
    if dry_run == "client":
        for pod in plan.pods:
            metadata = pod["metadata"]
            args.screen.out(f"evicting pod {metadata['namespace']}/{metadata['name']} (dry run)\n")
        return []
    if not plan.pods:
        return []
    evictor = Evictor(
        ctx=ctx,
        screen=args.screen,
        grace_seconds=args.number("grace-period"),
        timeout_ms=args.number("timeout"),
        skip_wait_seconds=args.number("skip-wait-for-delete-timeout"),
        is_dry=dry_run == "server",
    )
    problems = evictor.delete(plan.pods) if args.is_set("disable-eviction") else evictor.evict(plan.pods)
    if problems:
        pending = _plan(ctx, args, info.name)
        if pending.pods and not pending.errors:
            args.screen.err(
                f'There are pending pods in node "{info.name}" when an error occurred: {aggregate_text(problems)}\n'
            )
            args.screen.err("".join(f"pod/{pod['metadata']['name']}\n" for pod in pending.pods))
    return problems


VERB = Verb(
    name="drain",
    usage="drain NODE",
    summary="Gets all pods off a node.",
    flags=(
        CHUNK_SIZE,
        DRY_RUN,
        SELECTOR,
        Flag("delete-emptydir-data", bool, words="Take pods with emptyDir volumes too."),
        Flag("disable-eviction", bool, words="Delete the pods, whatever the budgets say."),
        Flag("force", bool, words="Take pods without a controller too."),
        Flag("grace-period", int, default=-1, words="Seconds that a pod gets to end; negative for its own."),
        Flag("ignore-daemonsets", bool, words="Leave pods of daemon sets alone."),
        Flag("pod-selector", str, words="Label selector of the pods."),
        Flag("skip-wait-for-delete-timeout", int, words="Do not wait for pods terminating longer."),
        Flag("timeout", Duration, default="0s", words="How long to try; 0 means to the end."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/drain, pkg/drain",
)
