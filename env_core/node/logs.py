"""What `logs` and `exec` get from a kubelet.

Source: k8s.io/kubernetes pkg/registry/core/pod/strategy.go (LogLocation) and pkg/kubelet/kubelet_pods.go
(validateContainerLogStatus), 1.37; answers in tests/golden/l2/kubectl and tests/golden/kubelet/kubectl.jsonl.gz.
"""

from __future__ import annotations

from env_core.apiserver import errors
from env_core.apiserver.podlogs import chosen_container
from env_core.apiserver.request import ApiRequest, ExecOptions, LogOptions
from env_core.node._host import SECOND_MS, Host
from env_core.node._records import NodeRecord, PodRecord
from env_core.programs import Line, Run
from env_core.sim.timefmt import parse_ms, rfc3339_micro
from env_core.world import Object, Output


def _status(pod: Object, name: str) -> Object | None:
    status = pod.get("status") or {}
    for key in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for row in status.get(key) or ():
            if row["name"] == name:
                found: Object = row
                return found
    return None


def log(host: Host, pod: Object, request: ApiRequest) -> str:
    """Return a container's log.

    Raises:
        StatusError: when there is none (400), or the pod has no node yet.
    """
    options = request.log if request.log is not None else LogOptions()
    name = chosen_container(pod, options.container)
    metadata = pod["metadata"]
    if not pod["spec"].get("nodeName"):
        return ""
    record = host.record(metadata["uid"])
    node = host.node(pod["spec"]["nodeName"])
    if node is not None and node.stopped_ms is not None:
        raise _unreachable(node, f"containerLogs/{metadata['namespace']}/{metadata['name']}/{name}")
    container_id = _log_of(pod, name, is_previous=options.previous)
    restarts = _restarts_of(record, name, container_id)
    if record is None or restarts is None or not _is_kept(record, name, restarts):
        return f"unable to retrieve container logs for {container_id}"
    if _never_ran(record, name, restarts):
        path = f"/var/log/pods/{record.namespace}_{record.name}_{record.uid}/{name}/{restarts}.log"
        return f'failed to try resolving symlinks in path "{path}": lstat {path}: no such file or directory'
    lines = host.runtime.log_lines(record.uid, name, restarts, now_ms=host.now_ms)
    return _printed(host, record.node, lines, options)


def _unreachable(node: NodeRecord, path: str) -> errors.StatusError:
    address = node.address
    why = "no route to host" if node.is_down else "connection refused"
    text = f'Get "https://{address}:10250/{path}": dial tcp {address}:10250: connect: {why}'
    return errors.StatusError(errors.status(500, "", text))


def _log_of(pod: Object, name: str, *, is_previous: bool) -> str:
    """Return the container id whose log is meant, in the states in which there is one."""
    pod_name = pod["metadata"]["name"]
    row = _status(pod, name)
    if row is None:
        raise errors.bad_request(f'container "{name}" in pod "{pod_name}" is not available')
    state, last = row.get("state") or {}, (row.get("lastState") or {}).get("terminated")
    if is_previous:
        if last is None or not last.get("containerID"):
            raise errors.bad_request(f'previous terminated container "{name}" in pod "{pod_name}" not found')
        return str(last["containerID"])
    if "running" in state:
        return str(row["containerID"])
    ended = state.get("terminated")
    if ended is not None:
        found = ended.get("containerID") or (last or {}).get("containerID")
        if not found:
            raise errors.bad_request(f'container "{name}" in pod "{pod_name}" is terminated')
        return str(found)
    if last is not None:
        if not last.get("containerID"):
            raise errors.bad_request(f'container "{name}" in pod "{pod_name}" is terminated')
        return str(last["containerID"])
    reason = (state.get("waiting") or {}).get("reason", "")
    why = {
        "ErrImagePull": "image can't be pulled",
        "ImagePullBackOff": "trying and failing to pull image",
    }.get(reason, reason)
    raise errors.bad_request(f'container "{name}" in pod "{pod_name}" is waiting to start: {why}')


def _restarts_of(record: PodRecord | None, name: str, container_id: str) -> int | None:
    if record is None:
        return None
    state = record.container(name)
    for instance in (state.current, state.previous):
        if instance is not None and container_id == f"containerd://{instance.container_id}":
            return instance.restarts
    return None


def _is_kept(record: PodRecord, name: str, restarts: int) -> bool:
    # The runtime keeps one dead container: the older of two is gone, and its log with it.
    state = record.container(name)
    is_older = state.previous is not None and state.previous.restarts == restarts
    return not (is_older and state.current is not None and not state.current.is_running)


def _never_ran(record: PodRecord, name: str, restarts: int) -> bool:
    """Whether a container could not be started, so that no log was opened for it."""
    state = record.container(name)
    return any(
        each is not None and each.restarts == restarts and not each.is_running and not each.started_ms
        for each in (state.current, state.previous)
    )


def _printed(host: Host, node: str, lines: list[Line], options: LogOptions) -> str:
    shown = [line for line in lines if line.at_ms <= host.now_ms]
    clocks = host.runtime.clocks
    if clocks.was_set(node):
        shown = [line._replace(at_ms=clocks.shown_ms(node, line.at_ms)) for line in shown]
    now_ms = host.clock_ms(node)
    since_ms = None
    if options.since_seconds is not None:
        since_ms = now_ms - options.since_seconds * SECOND_MS
    elif options.since_time:
        since_ms = parse_ms(options.since_time)
    if since_ms is not None:
        shown = [line for line in shown if line.at_ms >= since_ms]
    if options.tail_lines is not None:
        shown = shown[len(shown) - min(options.tail_lines, len(shown)) :]
    if options.timestamps:
        text = "".join(f"{rfc3339_micro(line.at_ms)[:-1]}000Z {line.text}\n" for line in shown)
    else:
        text = "".join(f"{line.text}\n" for line in shown)
    if options.limit_bytes is not None:
        # The limit may fall within a character; what is shown of it then are its first bytes, as they are.
        said = text.encode("utf-8", "surrogateescape")[: options.limit_bytes]
        text = said.decode("utf-8", "surrogateescape")
    return text


def execute(host: Host, pod: Object, request: ApiRequest) -> Output:
    """Run a command in a container of a pod.

    Raises:
        StatusError: when the pod or the container cannot run one.
    """
    run = running(host, pod, request)
    options = request.exec
    assert options is not None, "exec requests carry their options"
    name = run.container.name
    return host.exec_in(run, ExecOptions(command=options.command, container=name, stdin=options.stdin))


def running(host: Host, pod: Object, request: ApiRequest) -> Run:
    """Return the running container that an exec or attach request means.

    Raises:
        StatusError: when there is none, or its node does not answer.
    """
    options = request.exec
    assert options is not None, "such requests carry their options"
    name = chosen_container(pod, options.container)
    metadata = pod["metadata"]
    pod_name = metadata["name"]
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {pod_name} does not have a host assigned")
    phase = (pod.get("status") or {}).get("phase", "")
    if phase in ("Succeeded", "Failed"):
        what = "exec into" if request.subresource == "exec" else "attach"
        text = f"cannot {what} a container in a completed pod; current phase is {phase}"
        raise errors.StatusError(errors.status(500, "InternalError", text))
    node = host.node(pod["spec"]["nodeName"])
    if node is not None and node.stopped_ms is not None:
        raise _unreachable(node, f"{request.subresource}/{metadata['namespace']}/{pod_name}/{name}")
    run = host.runtime.run(metadata["uid"], name)
    if run is None or not run.is_running(host.now_ms):
        text = f'container not found ("{name}")'
        raise errors.StatusError(errors.status(404, "NotFound", text))
    return run
