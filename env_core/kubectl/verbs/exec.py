"""`kubectl exec`: a command in a container."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info, select, select_one
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import Args, Duration, Flag, Slice, Verb
from env_core.kubectl.verbs._streams import refused, say_no_tty
from env_core.world import Output

_OLD_FORM = "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead"


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    has_files = bool(args.items("filename"))
    target = words[0] if words and args.before_dash != 0 else ""
    command: tuple[str, ...] = ()
    if args.before_dash in (0, 1):
        command = words[args.before_dash :]
    elif len(words) > 1 or (words and has_files):
        raise usage_failure(args.path, _OLD_FORM)
    if not target and not has_files:
        raise Failure("pod, type/name or --filename must be specified")
    if not command:
        raise Failure("you must specify at least one command for the container")
    info = _target(ctx, args, target)
    pods.refuse_custom(info)
    info = info.fetch(ctx)
    if info.kind.kind == "Pod":
        pod = info.found()
    else:
        selector = pods.pod_selector(info, "cannot attach to")
        timeout_ms = args.number("pod-running-timeout")
        pod, _ = pods.first_pod(ctx, info.namespace, selector, timeout_ms, pods.by_activity)
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise Failure(f"cannot exec into a container in a completed pod; current phase is {phase}")
    container = pods.chosen_container(
        pod, args.text("container"), None if args.is_set("quiet") else args.screen
    )
    say_no_tty(args, is_wanted=args.is_set("tty"))
    return run_in_container(
        ctx,
        args,
        pod["metadata"].get("namespace", ""),
        pod["metadata"]["name"],
        ExecOptions(command=command, container=container, stdin=ctx.stdin if args.is_set("stdin") else ""),
    )


def _target(ctx: Context, args: Args, word: str) -> Info:
    if word:
        return select_one(ctx, args, word, "pods")
    selection = select(ctx, args, (), label_selector="", field_selector="", is_typed=True)
    if selection.errors:
        raise selection.errors[0]
    if len(selection.infos) != 1:
        # Source: the answers of kubectl 1.37.1 to files with none and with two objects.
        raise Failure("cannot exec into multiple objects at a time")
    return selection.infos[0]


def run_in_container(ctx: Context, args: Args, namespace: str, pod: str, options: ExecOptions) -> Output:
    """Run a command and print what it prints; its exit code is the verb's.

    Raises:
        Failure: when the connection is refused.
    """
    try:
        result = ctx.api.exec(namespace, pod, options)
    except StatusError as error:
        raise refused(error) from None
    args.screen.out(result.stdout)
    args.screen.err(result.stderr)
    if result.exit_code:
        args.screen.err(f"command terminated with exit code {result.exit_code}\n")
    return args.screen.done(result.exit_code)


VERB = Verb(
    name="exec",
    usage="exec (POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...]",
    summary="Runs a command in a container.",
    flags=(
        Flag("container", str, shorthand="c", words="The container."),
        Flag("filename", Slice, shorthand="f", words="File that names the object."),
        Flag("pod-running-timeout", Duration, default="1m0s", words="How long to wait for a pod."),
        Flag("quiet", bool, shorthand="q", words="Print only what the command prints."),
        Flag("stdin", bool, shorthand="i", words="Hand over standard input."),
        Flag("tty", bool, shorthand="t", words="Ask for a terminal."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/exec",
)
