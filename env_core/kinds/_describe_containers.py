"""The containers of a pod or pod template, as `kubectl describe` prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import quote

from env_core.kinds._describe_text import NONE, LineWriter, bool_text, rfc1123z, sorted_as_go
from env_core.objects import problems, quantity
from env_core.world import Object

FieldResolver = Callable[[str], str]
"""Returns the value of a downward API field path, "" when kubectl cannot know it."""


def write_containers(
    writer: LineWriter,
    title: str,
    containers: list[Object],
    statuses: list[Object] | None,
    resolve: FieldResolver | None,
    indent: str = "",
) -> None:
    """Append a title and every container; `indent` is "  " inside a pod template.

    `statuses` are a pod's container statuses (found by name), `resolve` looks up its fields; a template has
    neither.

    Source: k8s.io/kubectl pkg/describe describeContainers; tests/golden/l0/describe.jsonl.gz.
    """
    by_name = {status["name"]: status for status in statuses or ()}
    writer.line(0, f"{indent}{title}:" + ("" if containers else f" {NONE}"))
    for container in containers:
        status = by_name.get(container["name"])
        writer.line(1, f"{' ' if indent else ''}{container['name']}:")
        _write_image_and_ports(writer, container, status)
        _write_words(writer, "Command", container.get("command"))
        _write_words(writer, "Args", container.get("args"))
        if status is not None:
            _write_status(writer, status)
        write_resources(writer, container.get("resources") or {}, 2)
        for label, key in (
            ("Liveness", "livenessProbe"),
            ("Readiness", "readinessProbe"),
            ("Startup", "startupProbe"),
        ):
            if container.get(key):
                writer.line(2, f"{label}:\t{probe_text(container[key])}")
        if container.get("envFrom"):
            _write_environment_sources(writer, container["envFrom"])
        _write_environment(writer, container, resolve)
        _write_mounts(writer, container)


def _write_image_and_ports(writer: LineWriter, container: Object, status: Object | None) -> None:
    if status is not None:
        writer.line(2, f"Container ID:\t{status.get('containerID', '')}")
    writer.line(2, f"Image:\t{container.get('image', '')}")
    if status is not None:
        writer.line(2, f"Image ID:\t{status.get('imageID', '')}")
    ports = container.get("ports") or []
    for label, key in (("Port", "containerPort"), ("Host Port", "hostPort")):
        text = ", ".join(_port(port, key) for port in ports)
        writer.line(2, f"{label}s:\t{text}" if len(ports) > 1 else f"{label}:\t{text or NONE}")
    seccomp = (container.get("securityContext") or {}).get("seccompProfile")
    if seccomp:
        writer.line(2, f"SeccompProfile:\t{seccomp.get('type', '')}")
        if seccomp.get("type") == "Localhost":
            writer.line(3, f"LocalhostProfile:\t{seccomp.get('localhostProfile', '')}")


def _port(port: Object, key: str) -> str:
    text = f"{port.get(key, 0)}/{port.get('protocol', '')}"
    return f"{text} ({port['name']})" if port.get("name") else text


def _write_words(writer: LineWriter, title: str, words: list[str] | None) -> None:
    if not words:
        return
    writer.line(2, f"{title}:")
    for word in words:
        for line in word.split("\n"):
            writer.line(3, line)


def _write_status(writer: LineWriter, status: Object) -> None:
    _write_state(writer, "State", status.get("state") or {})
    last = status.get("lastState") or {}
    if last.get("terminated") is not None:
        _write_state(writer, "Last State", last)
    writer.line(2, f"Ready:\t{bool_text(bool(status.get('ready')))}")
    writer.line(2, f"Restart Count:\t{status.get('restartCount', 0)}")


def _write_state(writer: LineWriter, title: str, state: Object) -> None:
    running, waiting, terminated = state.get("running"), state.get("waiting"), state.get("terminated")
    if running is not None:
        writer.line(2, f"{title}:\tRunning")
        writer.line(3, f"Started:\t{rfc1123z(running.get('startedAt'))}")
    elif waiting is not None or terminated is None:
        writer.line(2, f"{title}:\tWaiting")
        if waiting and waiting.get("reason"):
            writer.line(3, f"Reason:\t{waiting['reason']}")
    else:
        writer.line(2, f"{title}:\tTerminated")
        if terminated.get("reason"):
            writer.line(3, f"Reason:\t{terminated['reason']}")
        if terminated.get("message"):
            writer.line(3, f"Message:\t{terminated['message']}")
        writer.line(3, f"Exit Code:\t{terminated.get('exitCode', 0)}")
        if terminated.get("signal", 0) > 0:
            writer.line(3, f"Signal:\t{terminated['signal']}")
        writer.line(3, f"Started:\t{rfc1123z(terminated.get('startedAt'))}")
        writer.line(3, f"Finished:\t{rfc1123z(terminated.get('finishedAt'))}")


def write_resources(writer: LineWriter, resources: Object, level: int) -> None:
    """Append `Limits` and `Requests`, each sorted by resource name."""
    for title, key in (("Limits", "limits"), ("Requests", "requests")):
        amounts = resources.get(key)
        if amounts:
            writer.line(level, f"{title}:")
            for name in sorted(amounts):
                writer.line(level + 1, f"{name}:\t{quantity.canonical(str(amounts[name]))}")


def probe_text(probe: Object) -> str:
    """Return a probe in one line: what it does, then its times and thresholds."""
    times = (
        f"delay={probe.get('initialDelaySeconds', 0)}s timeout={probe.get('timeoutSeconds', 0)}s "
        f"period={probe.get('periodSeconds', 0)}s successThreshold={probe.get('successThreshold', 0)} "
        f"failureThreshold={probe.get('failureThreshold', 0)}"
    )
    if probe.get("exec") is not None:
        return f"exec [{' '.join(probe['exec'].get('command') or ())}] {times}"
    if probe.get("httpGet") is not None:
        return f"http-get {_probe_url(probe['httpGet'])} {times}"
    if probe.get("tcpSocket") is not None:
        socket = probe["tcpSocket"]
        return f"tcp-socket {socket.get('host', '')}:{socket.get('port', '')} {times}"
    if probe.get("grpc") is not None:
        return f"grpc <pod>:{probe['grpc'].get('port', 0)} {probe['grpc'].get('service') or ''} {times}"
    return f"unknown {times}"


def _probe_url(action: Object) -> str:
    """Return the URL as Go's net/url prints it: the path is escaped, an IPv6 host is bracketed."""
    host = action.get("host") or ""
    port = str(action.get("port", ""))
    if port:
        host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    scheme = (action.get("scheme") or "").lower()
    path = quote(action.get("path") or "", safe="$&+,/:;=@")
    if path and not path.startswith("/") and host:
        path = "/" + path
    return (
        f"{scheme}:{'//' if host or path else ''}{host}{path}"
        if scheme
        else f"//{host}{path}"
        if host
        else path
    )


def _write_environment_sources(writer: LineWriter, sources: list[Object]) -> None:
    writer.line(2, "Environment Variables from:")
    for source in sources:
        kind, reference = "", {}
        if source.get("configMapRef") is not None:
            kind, reference = "ConfigMap", source["configMapRef"]
        elif source.get("secretRef") is not None:
            kind, reference = "Secret", source["secretRef"]
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        writer.line(3, f"{reference.get('name', '')}\t{kind}{prefix}\tOptional: {_optional(reference)}")


def _optional(reference: Object) -> str:
    return "true" if reference.get("optional") else "false"


def _write_environment(writer: LineWriter, container: Object, resolve: FieldResolver | None) -> None:
    variables = container.get("env") or []
    writer.line(2, "Environment:" + ("" if variables else f"\t{NONE}"))
    for variable in variables:
        name = variable["name"]
        source = variable.get("valueFrom")
        if source is None:
            first, *rest = (variable.get("value") or "").split("\n")
            writer.line(3, f"{name}:\t{first}")
            for line in rest:
                writer.line(3, f"\t{line}")
        elif source.get("fieldRef") is not None:
            reference = source["fieldRef"]
            value = resolve(reference.get("fieldPath", "")) if resolve else ""
            writer.line(
                3, f"{name}:\t{value} ({reference.get('apiVersion', '')}:{reference.get('fieldPath', '')})"
            )
        elif source.get("resourceFieldRef") is not None:
            reference = source["resourceFieldRef"]
            resource = reference.get("resource", "")
            value = _resource_value(container, resource, str(reference.get("divisor") or "0"))
            if value == "0" and resource in ("limits.cpu", "limits.memory"):
                value = "node allocatable"
            writer.line(3, f"{name}:\t{value} ({resource})")
        elif source.get("secretKeyRef") is not None:
            reference = source["secretKeyRef"]
            text = f"<set to the key '{reference.get('key', '')}' in secret '{reference.get('name', '')}'>"
            writer.line(3, f"{name}:\t{text}\tOptional: {_optional(reference)}")
        elif source.get("configMapKeyRef") is not None:
            reference = source["configMapKeyRef"]
            text = (
                f"<set to the key '{reference.get('key', '')}' of config map '{reference.get('name', '')}'>"
            )
            writer.line(3, f"{name}:\t{text}\tOptional: {_optional(reference)}")


_SIZED = ("cpu", "memory", "ephemeral-storage")


def _resource_value(container: Object, resource: str, divisor: str) -> str:
    """Return the container's own limit or request in units of `divisor`, rounded up; "" for other resources."""
    side, _, name = resource.partition(".")
    if side not in ("limits", "requests") or not (name in _SIZED or name.startswith("hugepages-")):
        return ""
    amount = str(((container.get("resources") or {}).get(side) or {}).get(name, "0"))
    unit = divisor if quantity.to_milli(divisor) else "1"
    if name == "cpu":
        return str(-(-quantity.to_milli(amount) // quantity.to_milli(unit)))
    return str(math.ceil(quantity.to_bytes(amount) / quantity.to_bytes(unit)))


def _write_mounts(writer: LineWriter, container: Object) -> None:
    mounts = container.get("volumeMounts") or []
    none = "" if mounts else f"\t{NONE}"
    writer.line(2, f"Mounts:{none}")
    for mount in sorted_as_go(mounts, "mountPath"):
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f",path={problems.quoted(mount['subPath'])}"
        writer.line(3, f"{mount.get('mountPath', '')} from {mount['name']} ({flags})")
    devices = container.get("volumeDevices") or []
    if devices:
        writer.line(2, f"Devices:{none}")
        for device in sorted_as_go(devices, "devicePath"):
            writer.line(3, f"{device.get('devicePath', '')} from {device['name']}")
