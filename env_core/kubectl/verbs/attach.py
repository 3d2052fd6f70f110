"""`kubectl attach`: to a running container; nothing can be typed, so only what it prints would be seen."""

from __future__ import annotations

from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import select_one
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Duration, Flag, Verb
from env_core.kubectl.verbs._attached import PROMPT, RECORDED
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
        raise Failure("--pod-running-timeout must be higher than zero")
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
    if not args.is_set("quiet"):
        args.screen.err(RECORDED + PROMPT)
    raise _refused(pod, container)


def _refused(pod: Object, container: str) -> Failure:
    """Return why no stream is opened: the kubelet's reason if it has one, else that this terminal has no streams."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    metadata = pod["metadata"]
    if not spec.get("nodeName"):
        return Failure(f"unable to upgrade connection: pod {metadata['name']} does not have a host assigned")
    rows = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
        *(status.get("ephemeralContainerStatuses") or ()),
    ]
    state = next((row.get("state") or {} for row in rows if row.get("name") == container), {})
    if "running" not in state:
        return Failure('unable to upgrade connection: container not found ("' + container + '")')
    return Failure(
        f"attach is not simulated: this terminal is not interactive; use kubectl logs {metadata['name']} "
        f"-c {container} or kubectl exec"
    )


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
    unrecorded="attaching itself: it is refused",
)
