"""`kubectl attach`: to a running container; nothing can be typed, so what it prints from now on is all there is."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions, LogOptions
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import select_one
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import Args, Duration, Flag, Verb
from env_core.kubectl.verbs._attached import PROMPT, RECORDED
from env_core.kubectl.verbs._streams import Source, follow, refused, say_no_tty
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if not words:
        raise Failure("at least 1 argument is required for attach")
    if len(words) > 2:
        raise Failure(
            f"expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {len(words)}: [{' '.join(words)}]"
        )
    if args.number("pod-running-timeout") <= 0:
        raise usage_failure(args.path, "--pod-running-timeout must be higher than zero")
    info = select_one(ctx, args, words[0] if len(words) == 1 else "/".join(words), "pods").fetch(ctx)
    pods.refuse_custom(info)
    pod = info.found()
    if info.kind.kind != "Pod":
        selector = pods.pod_selector(info, "cannot attach to")
        pod, _ = pods.first_pod(
            ctx, info.namespace, selector, args.number("pod-running-timeout"), pods.by_activity
        )
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise Failure(f"cannot attach a container in a completed pod; current phase is {phase}")
    try:
        container = pods.chosen_container(
            pod, args.text("container"), None if args.is_set("quiet") else args.screen
        )
    except Failure as failure:
        raise Failure(f"cannot attach to the container: {failure.text}") from None
    has_tty = _has_tty(pod, container)
    if args.is_set("tty") and not has_tty and not args.is_set("quiet"):
        args.screen.err(f"error: Unable to use a TTY - container {container} did not allocate one\n")
    say_no_tty(args, is_wanted=has_tty)
    if not args.is_set("quiet"):
        args.screen.err(RECORDED + PROMPT)
    metadata = pod["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    try:
        lasts = ctx.api.attach(namespace, name, ExecOptions(command=(), container=container))
    except StatusError as error:
        raise refused(error) from None
    if lasts:
        follow(ctx, args, [Source(namespace, name, container)], LogOptions(), ctx.clock.now_ms, False)
    return args.screen.done()


def _has_tty(pod: Object, name: str) -> bool:
    parts = ("containers", "initContainers", "ephemeralContainers")
    return any(one.get("tty") for part in parts for one in pods.containers(pod, part) if one["name"] == name)


VERB = Verb(
    name="attach",
    usage="attach (POD | TYPE/NAME) -c CONTAINER",
    summary="Attaches to a running container.",
    flags=(
        Flag("container", str, shorthand="c", words="The container."),
        Flag("detach-keys", str, default="ctrl-p,ctrl-q", words="Keys that detach."),
        Flag("pod-running-timeout", Duration, default="1m0s", words="How long to wait for a pod."),
        Flag("quiet", bool, shorthand="q", words="Print only what the container prints."),
        Flag("stdin", bool, shorthand="i", words="Hand over standard input."),
        Flag("tty", bool, shorthand="t", words="Ask for a terminal."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/attach",
    unrecorded="what is printed while attached: it is read from the log, and a session ends after 30 s",
)
