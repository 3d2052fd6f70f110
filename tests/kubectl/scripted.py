"""What the recorder's script kubelet and metrics stub answered: not Kubernetes, only input of the replays."""

from __future__ import annotations

from env_core.apiserver import errors
from env_core.apiserver.request import ApiRequest
from env_core.world import Object, Output
from tests.kubectl.golden_world import State, TinyApi


def configure(state: State, api: TinyApi) -> None:
    """Let `api` answer logs like the recorder's script kubelet, and metrics like its stub."""
    api.logs = lambda request: answer_log(state, request)
    api.execs = lambda request: answer_exec(state, request)
    api.allows = lambda request: _is_allowed(state, request)
    api.metrics = {"PodMetrics": [], "NodeMetrics": []}
    usage = {"k-hpa": "50m,20Mi"}.get(state.record["namespace"], "3m,10Mi")
    for pod in state.record["state"].get("pods", []):
        if (pod.get("status") or {}).get("phase") != "Running":
            continue
        own = (pod["metadata"].get("annotations") or {}).get("sim/usage", usage)
        cpu, _, memory = own.partition(",")
        if cpu == "none":
            continue
        containers = [
            {"name": one["name"], "usage": {"cpu": cpu, "memory": memory}}
            for one in pod["spec"]["containers"]
        ]
        metadata = {key: pod["metadata"].get(key) for key in ("name", "namespace", "labels")}
        api.metrics["PodMetrics"].append({"metadata": metadata, "containers": containers})
    for node in state.record["state"].get("nodes", []):
        conditions = {row["type"]: row["status"] for row in node["status"].get("conditions", [])}
        if conditions.get("Ready") == "True":
            api.metrics["NodeMetrics"].append(
                {"metadata": {"name": node["metadata"]["name"]}, "usage": {"cpu": "256m", "memory": "1220Mi"}}
            )


def answer_log(state: State, request: ApiRequest) -> Output:
    """Answer like the recorder's script kubelet.

    Raises:
        StatusError: for a container that has not started.
    """
    assert request.log is not None
    name = request.log.container
    pod = _pod(state, request)
    status = pod.get("status") or {}
    rows = [
        row
        for part in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
        for row in status.get(part) or ()
        if row["name"] == name
    ]
    if not (pod.get("spec") or {}).get("nodeName"):
        return Output()
    waiting = (rows[0].get("state") or {}).get("waiting") if rows else None
    has_run = bool(rows) and bool((rows[0].get("lastState") or {}).get("terminated"))
    where = f'"{name}" in pod "{request.name}"'
    if request.log.previous:
        if not has_run:
            raise errors.bad_request(f"previous terminated container {where} not found")
        lines = [f"starting {name}", "panic: boom"]
    elif waiting is not None and not has_run:
        why = waiting.get("reason", "")
        if why in ("ErrImagePull", "ImagePullBackOff"):
            why = "trying and failing to pull image"
        raise errors.bad_request(f"container {where} is waiting to start: {why}")
    else:
        lines = [f"starting {name}", "listening on :8080", "GET /healthz 200", "GET / 200", "GET /api 500"]
    tail = request.log.tail_lines
    if tail is not None:
        lines = lines[len(lines) - tail :] if tail else []
    if request.log.timestamps:
        lines = [f"2026-11-29T00:00:0{index}.000000000Z {line}" for index, line in enumerate(lines)]
    return Output("".join(line + "\n" for line in lines))


def _pod(state: State, request: ApiRequest) -> Object:
    for pod in state.record["state"].get("pods", []):
        if pod["metadata"]["name"] == request.name:
            return dict(pod)
    raise errors.not_found("", "pods", request.name)


def _running(state: State, request: ApiRequest, container: str) -> None:
    """Check that a container runs.

    Raises:
        StatusError: when it does not; kubectl falls back to SPDY then, which is what the script kubelet refuses.
    """
    pod = _pod(state, request)
    if not (pod.get("spec") or {}).get("nodeName"):
        raise errors.bad_request(f"pod {request.name} does not have a host assigned")
    rows = {row["name"]: row for row in (pod.get("status") or {}).get("containerStatuses") or ()}
    row = rows.get(container)
    if row is None or "running" not in (row.get("state") or {}):
        raise errors.bad_request("unable to upgrade: missing websocket key")


def answer_exec(state: State, request: ApiRequest) -> Output:
    assert request.exec is not None
    _running(state, request, request.exec.container)
    command = request.exec.command
    if command[:2] in (("sh", "-c"), ("bash", "-c")):
        command = tuple(command[2].split())
    if command[0] == "exit":
        return Output("", "", int(command[1]))
    if command[0] in ("true", "sh"):
        return Output()
    if command[0] == "hostname":
        return Output(f"{request.name}\n")
    if command[0] == "echo":
        return Output(" ".join(command[1:]) + "\n")
    if command[0] == "cat":
        return Output("", f"cat: {command[1]}: No such file or directory\n", 1)
    if command[0] == "false":
        return Output("", "", 1)
    raise errors.internal(
        'error executing command in container: failed to exec in container: failed to start exec "d34db33f": '
        f'OCI runtime exec failed: exec failed: unable to start container process: exec: "{command[0]}": '
        "executable file not found in $PATH"
    )


def answer_attach(state: State, request: ApiRequest) -> bool:
    """Whether a session lasts: the script kubelet ends each at once."""
    assert request.exec is not None
    _running(state, request, request.exec.container)
    return False


def _is_allowed(state: State, request: ApiRequest) -> bool:
    """Answer by the recorded roles and role bindings; members of system:masters may do everything."""
    who = request.identity
    if "system:masters" in who.groups:
        return True
    rows = state.record["state"]
    for binding in rows.get("rolebindings", []):
        if not any(_is_subject(subject, who.name) for subject in binding.get("subjects") or ()):
            continue
        if request.namespace != binding["metadata"]["namespace"]:
            continue
        for role in rows.get("roles", []):
            if role["metadata"]["name"] == binding["roleRef"]["name"] and _covers(role, request):
                return True
    return False


def _is_subject(subject: Object, name: str) -> bool:
    if subject["kind"] == "ServiceAccount":
        return name == f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
    return bool(subject["kind"] == "User" and subject["name"] == name)


def _covers(role: Object, request: ApiRequest) -> bool:
    plural, _, group = request.resource.partition(".")
    if request.subresource:
        plural = f"{plural}/{request.subresource}"
    return any(
        group in rule["apiGroups"]
        and (plural in rule["resources"] or "*" in rule["resources"])
        and (request.verb in rule["verbs"] or "*" in rule["verbs"])
        and (not rule.get("resourceNames") or request.name in rule["resourceNames"])
        for rule in role.get("rules") or ()
    )
