"""How containers are stopped: hooks, signals, grace periods; and what a started container's hook does.

Source: k8s.io/kubernetes pkg/kubelet/kuberuntime/kuberuntime_container.go (killContainer), pkg/kubelet/lifecycle,
1.37; times in tests/golden/kubelet (del-*, prestop-*, sidecar-*), texts in event-texts and state-texts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.dataplane.serving import programs
from env_core.node import _asking
from env_core.node._host import SECOND_MS, Host
from env_core.node._records import PodRecord
from env_core.node.conditions import is_sidecar
from env_core.node.environment import expand
from env_core.programs import REFUSED, Request, Run, Signalled
from env_core.world import Object

GRACE_MIN_S: Final = 2
SIGKILL_CODE: Final = 137


class HookResult(NamedTuple):
    """How a lifecycle hook ended; `error` is the text of a waiting PostStartHookError."""

    took_ms: int
    error: str = ""


def grace_of(record: PodRecord, pod: Object, container: Object, probe: str = "") -> int:
    """Return the seconds that a container gets to stop."""
    if record.grace_seconds is not None:
        return record.grace_seconds
    given = pod["metadata"].get("deletionGracePeriodSeconds")
    if given is not None:
        return int(given)
    if probe:
        own = (container.get(f"{probe}Probe") or {}).get("terminationGracePeriodSeconds")
        if own is not None:
            return int(own)
    seconds = pod["spec"].get("terminationGracePeriodSeconds")
    return 30 if seconds is None else int(seconds)


def stop(
    host: Host,
    record: PodRecord,
    pod: Object,
    container: Object,
    message: str,
    grace_s: int,
    wait_ms: int = 0,
    errors: list[str] | None = None,
) -> int:
    """Stop a running container and return when it will have ended.

    Why the runtime cannot stop it is added to `errors`; then it runs on.

    `message` is that of the Killing event, `grace_s` the seconds that are left to the container, `wait_ms` how
    long it waits for its turn (sidecars).
    """
    name = container["name"]
    now_ms = host.now_ms
    host.event(record, pod, "Normal", "Killing", message, name)
    run = host.runtime.run(record.uid, name)
    if run is None or not run.is_running(now_ms):
        return now_ms
    error = host.images.stop_error(run.container, run.container_id)
    if error:
        if errors is not None:
            shown = _go_quoted(f"rpc error: code = Unknown desc = {error}")
            errors.append(f'failed to "KillContainer" for "{name}" with KillContainerError: {shown}')
        return now_ms
    start_ms = now_ms + wait_ms
    hook = (container.get("lifecycle") or {}).get("preStop")
    if hook and grace_s > 0:
        done = _run_hook(host, record, run, pod, container, hook, grace_s * SECOND_MS)
        took_ms = min(done.took_ms, grace_s * SECOND_MS)
        if done.error or done.took_ms >= grace_s * SECOND_MS:
            if wait_ms + took_ms:
                host.wake(start_ms + took_ms, "hook", record.uid, name)
            else:
                host.event(record, pod, "Warning", "FailedPreStopHook", "PreStopHook failed", name)
        start_ms += took_ms
        grace_s -= took_ms // SECOND_MS
    grace_s = max(grace_s, GRACE_MIN_S)
    launch = run.launch
    killed_ms = start_ms + grace_s * SECOND_MS
    words = _last_words(host, run, start_ms) if start_ms + launch.stop_ms < killed_ms else None
    if start_ms + launch.stop_ms < killed_ms and (words is None or words.code is not None):
        reason = "Completed" if launch.stop_code == 0 else "Error"
        ended = host.runtime.end(run, start_ms + launch.stop_ms, launch.stop_code, reason)
    else:
        ended = host.runtime.end(run, killed_ms, SIGKILL_CODE, "Error")
    if words is not None:
        host.runtime.log(run, tuple(line for line in words.log if line.at_ms < killed_ms))
    assert ended.exit_at_ms is not None
    return max(ended.exit_at_ms, now_ms)


def _last_words(host: Host, run: Run, at_ms: int) -> Signalled | None:
    """Return what a program does of its SIGTERM; None for what its launch declares."""
    program = programs().get(run.program)
    if program is None or program.signalled is None:
        return None
    container = run.container
    memory = host.runtime.memory(container.pod_uid, container.name)
    found = program.signalled(container, "TERM", at_ms, memory)
    if found is not None and found.memory is not None:
        host.runtime.remember(container.pod_uid, container.name, dict(found.memory))
    return found


def stop_all(host: Host, record: PodRecord, pod: Object, errors: list[str] | None = None) -> int:
    """Stop every running container of a pod, sidecars last and in reverse order; returns when all have ended.

    What the runtime refuses is added to `errors`.
    """
    spec = pod["spec"]
    now_ms = host.now_ms
    end_ms = now_ms
    init = spec.get("initContainers") or ()
    others = [
        *spec["containers"],
        *(each for each in init if not is_sidecar(each)),
        *(spec.get("ephemeralContainers") or ()),
    ]
    for container in others:
        if is_running(host, record, container["name"]):
            grace_s = grace_of(record, pod, container)
            message = f"Stopping container {container['name']}"
            end_ms = max(end_ms, stop(host, record, pod, container, message, grace_s, errors=errors))
    for container in reversed([each for each in init if is_sidecar(each)]):
        if is_running(host, record, container["name"]):
            waited_ms = end_ms - now_ms
            grace_s = grace_of(record, pod, container) - waited_ms // SECOND_MS
            message = f"Stopping container {container['name']}"
            end_ms = stop(host, record, pod, container, message, max(grace_s, 0), waited_ms, errors)
    return end_ms


def is_running(host: Host, record: PodRecord, name: str) -> bool:
    """Whether a container's process lives now, whatever the kubelet has seen yet."""
    instance = record.container(name).current
    if instance is None or not instance.is_running:
        return False
    run = host.runtime.run(record.uid, name)
    return run is not None and run.is_running(host.now_ms)


def post_start(host: Host, record: PodRecord, run: Run, pod: Object, container: Object) -> HookResult:
    """Run a container's postStart hook."""
    hook = (container.get("lifecycle") or {}).get("postStart")
    if not hook:
        return HookResult(0)
    return _run_hook(host, record, run, pod, container, hook, 0)


def _run_hook(
    host: Host, record: PodRecord, run: Run, pod: Object, container: Object, hook: Object, timeout_ms: int
) -> HookResult:
    name = container["name"]
    who = f'for Container "{name}" in Pod "{record.name}_{record.namespace}({record.uid})" failed - error: '
    if "exec" in hook:
        command = [expand(word, run.container.env) for word in hook["exec"].get("command") or []]
        done = _asking.execute(host, run, command, timeout_ms)
        output = done.output
        if not output.exit_code:
            return HookResult(done.took_ms)
        shown = " ".join(command)
        printed = output.stderr or output.stdout
        text = (
            f"Exec lifecycle hook ([{shown}]) {who}command '{shown}' exited with {output.exit_code}: "
            f"{printed}, message: {_go_quoted(output.stdout + output.stderr)}"
        )
        return HookResult(done.took_ms, text)
    if "sleep" in hook:
        return HookResult(int(hook["sleep"]["seconds"]) * SECOND_MS)
    if "httpGet" in hook:
        return _http_hook(host, record, container, hook["httpGet"], who)
    return HookResult(0)


def _http_hook(host: Host, record: PodRecord, container: Object, get: Object, who: str) -> HookResult:
    path = get.get("path") or "/"
    before = f"HTTP lifecycle hook ({path}) {who}"
    number = _asking.port_number(container, get["port"])
    if number is None:
        return HookResult(0, f'{before}port "{get["port"]}" not found')
    sandbox = record.sandbox
    address = get.get("host") or (sandbox.address if sandbox is not None else "")
    node = host.node(record.node)
    source = node.address if node is not None else ""
    request = Request(
        path=path, host=f"{address}:{number}", headers={"User-Agent": "kube-lifecycle/1.37"}, source_ip=source
    )
    reply = host.network.request_pod(address, number, request, source)
    if not reply.failure:
        return HookResult(reply.latency_ms)
    why = "EOF" if reply.failure != REFUSED else f"dial tcp {address}:{number}: connect: connection refused"
    return HookResult(reply.latency_ms, f'{before}Get "http://{address}:{number}{path}": {why}')


def _go_quoted(text: str) -> str:
    escaped = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\t", "\\t")
        .replace("\r", "\\r")
    )
    return f'"{escaped}"'


def observe(host: Host, record: PodRecord, *, is_early: bool = False) -> PodRecord:
    """Return the record after a look at the runtime: runs that have ended are dead containers now.

    `is_early` leaves out what ends this very millisecond: syncs that begin then do not see it yet.
    """
    now_ms = host.now_ms - 1 if is_early else host.now_ms
    changed = None
    for name, container in record.containers.items():
        instance = container.current
        if instance is None or not instance.is_running:
            continue
        run = host.runtime.run(record.uid, name)
        if run is None or run.is_running(now_ms):
            continue
        assert run.exit_at_ms is not None
        reason = run.exit_reason or ("Completed" if run.exit_code == 0 else "Error")
        ended = instance._replace(
            finished_ms=run.exit_at_ms,
            exit_code=run.exit_code,
            reason=reason,
            message=termination_message(host, record, name, run),
        )
        if changed is None:
            changed = dict(record.containers)
        changed[name] = container._replace(current=ended)
        if container.previous is not None:
            # The runtime keeps one dead container: the older one goes, and its log with it.
            host.runtime.drop_log(record.uid, name, container.previous.restarts)
    return record if changed is None else record._replace(containers=changed)


FALLBACK_LINES: Final = 80
FALLBACK_BYTES: Final = 2048
MESSAGE_BYTES: Final = 4096


def termination_message(host: Host, record: PodRecord, name: str, run: Run) -> str:
    """Return what a dead container left as its message: its own, or the end of its log where the spec says so."""
    if run.exit_message:
        return run.exit_message.encode()[-MESSAGE_BYTES:].decode("utf-8", "ignore")
    pod = host.pod(record) or record.pod
    if pod is None or run.exit_code == 0:
        return ""
    spec = pod["spec"]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        if container["name"] == name and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
            lines = host.runtime.log_lines(
                record.uid, name, run.container.restarts, FALLBACK_LINES, now_ms=host.now_ms
            )
            at_ms = run.exit_at_ms if run.exit_at_ms is not None else host.now_ms
            text = "".join(line.text + "\n" for line in lines if line.at_ms <= at_ms)
            return text.encode()[-FALLBACK_BYTES:].decode("utf-8", "ignore")
    return ""
