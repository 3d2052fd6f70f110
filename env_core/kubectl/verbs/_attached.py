"""What `run` and `debug` do after creating a container that they should attach to: wait for it, show what it printed.

Nothing can be typed in this terminal, so a container that does not end by itself is left running.

Source: k8s.io/kubectl pkg/cmd/run run.go (handleAttachPod, waitForPod), pkg/cmd/debug debug.go.
"""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import LogOptions
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, Screen
from env_core.objects.conditions import is_pod_ready
from env_core.world import Object

RECORDED = (
    "All commands and output from this session will be recorded in container logs, including credentials and sensitive "
    "information passed through the command prompt.\n"
)
PROMPT = "If you don't see a command prompt, try pressing enter.\n"
_SESSION_MS = 60_000
"""How long an attached command may run."""
_ENDED = ("Succeeded", "Failed")


def follow_pod(
    ctx: Context,
    screen: Screen,
    namespace: str,
    name: str,
    container: str,
    timeout_ms: int,
    *,
    is_quiet: bool,
) -> Object:
    """Wait until the pod runs, then until its process ends, print its log, and return it.

    Raises:
        Failure: when it does not start, or does not end.
        StatusError: when it may not be looked at.
    """
    pod: Object = {}

    def has_started() -> bool:
        nonlocal pod
        pod = ctx.api.get("pods", namespace, name)
        return _has_run(pod) or ((pod.get("status") or {}).get("phase") == "Running" and is_pod_ready(pod))

    def has_ended() -> bool:
        nonlocal pod
        pod = ctx.api.get("pods", namespace, name)
        return _has_run(pod)

    if not has_started() and not ctx.clock.advance_until(has_started, timeout_ms):
        raise Failure("timed out waiting for the condition")
    if not has_ended():
        if not is_quiet:
            screen.err(RECORDED + PROMPT)
        if not ctx.clock.advance_until(has_ended, _SESSION_MS):
            _print_log(ctx, screen, namespace, name, container)
            raise left_running(namespace, name, container)
    rows: list[Object] = (pod.get("status") or {}).get("containerStatuses") or []
    # The session is with the first process; a restarted container has another one by now.
    is_previous = bool(rows) and "running" in (rows[0].get("state") or {})
    _print_log(ctx, screen, namespace, name, container, is_previous=is_previous)
    return pod


def _has_run(pod: Object) -> bool:
    """Whether the pod is over, or its container has ended once."""
    status = pod.get("status") or {}
    if status.get("phase") in _ENDED:
        return True
    return any(
        row.get("restartCount")
        or "terminated" in (row.get("state") or {})
        or "terminated" in (row.get("lastState") or {})
        for row in status.get("containerStatuses") or ()
    )


def follow_container(ctx: Context, screen: Screen, namespace: str, name: str, container: str) -> None:
    """Wait until an ephemeral container has ended, and print its log.

    Raises:
        Failure: when it does not end.
        StatusError: when the pod may not be looked at.
    """

    def has_ended() -> bool:
        pod = ctx.api.get("pods", namespace, name)
        status = pod.get("status") or {}
        rows = (*(status.get("ephemeralContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
        return any(
            row.get("name") == container and (row.get("state") or {}).get("terminated") for row in rows
        )

    if not has_ended() and not ctx.clock.advance_until(has_ended, _SESSION_MS):
        raise left_running(namespace, name, container)
    _print_log(ctx, screen, namespace, name, container)


def left_running(namespace: str, name: str, container: str) -> Failure:
    """Return the error of a session that would need a person at the keyboard."""
    return Failure(
        f"cannot attach: this terminal is not interactive; the container is still running, "
        f"use kubectl exec {name} -n {namespace} -c {container} -- COMMAND"
    )


def _print_log(
    ctx: Context, screen: Screen, namespace: str, name: str, container: str, *, is_previous: bool = False
) -> None:
    try:
        screen.out(ctx.api.logs(namespace, name, LogOptions(container=container, previous=is_previous)))
    except StatusError as error:
        screen.err(
            f"warning: couldn't attach to pod/{name}, falling back to streaming logs: {error.message}\n"
        )
