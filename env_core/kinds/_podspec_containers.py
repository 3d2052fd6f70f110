"""Validation of containers: app, init and ephemeral ones.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import orjson

from env_core.kinds._field_rules import unsupported
from env_core.kinds._podspec_env import env_from_problems, env_problems
from env_core.kinds._podspec_paths import descending
from env_core.kinds._podspec_probes import lifecycle_problems, probe_problems
from env_core.kinds._podspec_resources import container_resource_problems, resize_policy_problems
from env_core.kinds._podspec_security import container_security_problems
from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, not_found, required
from env_core.world import Object

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_NOT_STARTING = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"
_EPHEMERAL_LACKS = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
_BLOCK_TEXT = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


@dataclass(frozen=True, slots=True)
class PodContext:
    """What containers are checked against: their pod's volumes, claims, grace period and restart policy."""

    volumes: dict[str, Object]
    claims: tuple[str, ...]
    grace: int
    restart_policy: str


def container_problems(containers: list[Object], pod: PodContext, field: str) -> list[Problem]:
    """Check the app containers."""
    if not containers:
        return [required(field)]
    found: list[Problem] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        path = f"{field}[{index}]"
        is_fine = _is_fine_alone(container, pod)
        if is_fine:
            mounts = container.get("volumeMounts")
            if mounts:
                found += _mount_problems(mounts, [], container, pod, f"{path}.volumeMounts")
        else:
            found += _common_problems(container, pod, path)
        name = container.get("name") or ""
        if name in seen:
            found.append(duplicate(f"{path}.name", name))
        else:
            seen.add(name)
        if not is_fine:
            found += _running_problems(container, pod, path)
            found += _restart_problems(container, path)
    return found + _host_port_conflicts(containers, field)


def _is_fine_alone(container: Object, pod: PodContext) -> bool:
    """Tell whether all of a container but its mounts is known to be fine.

    Replicas differ in no more than the name of a volume, so the answer is kept by the container's text.
    """
    if "volumeDevices" in container:
        return False
    rest = {key: value for key, value in container.items() if key != "volumeMounts"}
    return _is_fine_text(orjson.dumps(rest), pod.claims, pod.grace, pod.restart_policy)


@lru_cache(maxsize=2048)
def _is_fine_text(text: bytes, claims: tuple[str, ...], grace: int, restart_policy: str) -> bool:
    container = orjson.loads(text)
    pod = PodContext({}, claims, grace, restart_policy)
    return not (
        _common_problems(container, pod, "")
        or _running_problems(container, pod, "")
        or _restart_problems(container, "")
    )


def _running_problems(container: Object, pod: PodContext, field: str) -> list[Problem]:
    lifecycle = container.get("lifecycle")
    found = lifecycle_problems(lifecycle, pod.grace, f"{field}.lifecycle") if lifecycle is not None else []
    return found + probe_problems(container, pod.grace, field)


def _restart_problems(container: Object, field: str) -> list[Problem]:
    policy = container.get("restartPolicy")
    if policy is not None and policy not in _RESTART_POLICIES:
        return [unsupported(f"{field}.restartPolicy", policy, _RESTART_POLICIES)]
    return []


def init_container_problems(
    containers: list[Object], others: list[Object], pod: PodContext, field: str
) -> list[Problem]:
    """Check the init containers, whose names must differ from those of `others` too."""
    found: list[Problem] = []
    seen = [container.get("name") or "" for container in others]
    for index, container in enumerate(containers):
        path = f"{field}[{index}]"
        found += _common_problems(container, pod, path)
        found += _restart_problems(container, path)
        name = container.get("name") or ""
        if name in seen:
            found.append(duplicate(f"{path}.name", name))
        elif name:
            seen.append(name)
        found += _host_port_conflicts([container], field)
        if container.get("restartPolicy") == "Always":
            found += _running_problems(container, pod, path)
            continue
        found += [
            forbidden(f"{path}.{key}", _NOT_STARTING)
            for key in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
            if container.get(key) is not None
        ]
    return found


def ephemeral_container_problems(
    containers: list[Object], others: list[Object], pod: PodContext, field: str
) -> list[Problem]:
    """Check the ephemeral containers, whose names must differ from those of `others` too."""
    found: list[Problem] = []
    other_names = [container.get("name") or "" for container in others]
    seen = list(other_names)
    for index, container in enumerate(containers):
        path = f"{field}[{index}]"
        found += _common_problems(container, pod, path)
        found += image_blanks(container, path)
        name = container.get("name") or ""
        if name in seen:
            found.append(duplicate(f"{path}.name", name))
        else:
            seen.append(name)
        target = container.get("targetContainerName")
        if target and target not in other_names:
            found.append(not_found(f"{path}.targetContainerName", target))
        found += [
            forbidden(f"{path}.{key}", _NOT_EPHEMERAL)
            for key in _EPHEMERAL_LACKS
            if container.get(key) not in (None, {}, [])
        ]
        for place, mount in enumerate(container.get("volumeMounts") or ()):
            found += [
                forbidden(f"{path}.volumeMounts[{place}].{key}", _NOT_EPHEMERAL)
                for key in ("subPath", "subPathExpr")
                if mount.get(key)
            ]
    return found


def image_blanks(container: Object, field: str) -> list[Problem]:
    """Check that the image has no blanks around it; a rule for pods, not for templates."""
    image = container.get("image") or ""
    if image != image.strip():
        return [invalid(f"{field}.image", image, "must not have leading or trailing whitespace")]
    return []


def _common_problems(container: Object, pod: PodContext, field: str) -> list[Problem]:
    found: list[Problem] = []
    name = container.get("name")
    if not name:
        found.append(required(f"{field}.name"))
    else:
        complaints = names.is_dns1123_label(name)
        if complaints:
            found += invalid_each(f"{field}.name", name, complaints)
    if not container.get("image"):
        found.append(required(f"{field}.image"))
    policy = container.get("terminationMessagePolicy") or ""
    if policy not in _MESSAGE_POLICIES:
        path = f"{field}.terminationMessagePolicy"
        found.append(unsupported(path, policy, _MESSAGE_POLICIES) if policy else required(path))
    ports, env, env_from = container.get("ports"), container.get("env"), container.get("envFrom")
    if ports:
        found += _port_problems(ports, f"{field}.ports")
    if env:
        found += env_problems(env, f"{field}.env")
    if env_from:
        found += env_from_problems(env_from, f"{field}.envFrom")
    mounts, devices = container.get("volumeMounts") or [], container.get("volumeDevices") or []
    if mounts:
        found += _mount_problems(mounts, devices, container, pod, f"{field}.volumeMounts")
    if devices:
        found += _device_problems(devices, mounts, pod, f"{field}.volumeDevices")
    policy = container.get("imagePullPolicy") or ""
    if policy not in _PULL_POLICIES:
        path = f"{field}.imagePullPolicy"
        found.append(unsupported(path, policy, _PULL_POLICIES) if policy else required(path))
    resources, resize = container.get("resources"), container.get("resizePolicy")
    if resources:
        found += container_resource_problems(resources, pod.claims, f"{field}.resources")
    if resize:
        found += resize_policy_problems(resize, pod.restart_policy, f"{field}.resizePolicy")
    security = container.get("securityContext")
    if security:
        found += container_security_problems(security, f"{field}.securityContext")
    return found


def _port_problems(ports: list[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, port in enumerate(ports):
        path = f"{field}[{index}]"
        name = port.get("name")
        if name:
            complaints = names.is_port_name(name)
            if complaints:
                found += invalid_each(f"{path}.name", name, complaints)
            elif name in seen:
                found.append(duplicate(f"{path}.name", name))
            else:
                seen.append(name)
        number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
        if number == 0:
            found.append(required(f"{path}.containerPort"))
        else:
            found += invalid_each(f"{path}.containerPort", number, names.is_port_number(number))
        if host != 0:
            found += invalid_each(f"{path}.hostPort", host, names.is_port_number(host))
        protocol = port.get("protocol") or ""
        if protocol not in _PROTOCOLS:
            path = f"{path}.protocol"
            found.append(unsupported(path, protocol, _PROTOCOLS) if protocol else required(path))
    return found


def _host_port_conflicts(containers: list[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, container in enumerate(containers):
        ports = container.get("ports")
        if not ports:
            continue
        for place, port in enumerate(ports):
            number = port.get("hostPort")
            if not number:
                continue
            key = f"{port.get('protocol') or ''}/{port.get('hostIP') or ''}/{number}"
            if key in seen:
                found.append(duplicate(f"{field}[{index}].ports[{place}].hostPort", key))
            else:
                seen.append(key)
    return found


def _mount_problems(
    mounts: list[Object], devices: list[Object], container: Object, pod: PodContext, field: str
) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, mount in enumerate(mounts):
        name, where = mount.get("name") or "", mount.get("mountPath") or ""
        path = f"{field}[{index}]"
        if not name:
            found.append(required(f"{path}.name"))
        if name not in pod.volumes:
            found.append(not_found(f"{path}.name", name))
        if not where:
            found.append(required(f"{path}.mountPath"))
        if where in seen:
            found.append(invalid(f"{path}.mountPath", where, "must be unique"))
        seen.append(where)
        if any(device.get("name") == name for device in devices):
            found.append(invalid(f"{path}.name", name, "must not already exist in volumeDevices"))
        if any(device.get("devicePath") == where for device in devices):
            text = "must not already exist as a path in volumeDevices"
            found.append(invalid(f"{path}.mountPath", where, text))
        # Upstream gives the list's path, not the mount's, from here on.
        below, expression = mount.get("subPath"), mount.get("subPathExpr")
        if below:
            found += descending(below, f"{field}.subPath")
        if expression:
            if below:
                text = "subPathExpr and subPath are mutually exclusive"
                found.append(invalid(f"{path}.subPathExpr", expression, text))
            found += descending(expression, f"{field}.subPathExpr")
        propagation = mount.get("mountPropagation")
        if propagation is not None:
            found += _propagation_problems(propagation, container, f"{field}.mountPropagation")
        if mount.get("recursiveReadOnly") is not None:
            found += _recursive_problems(mount, f"{field}.recursiveReadOnly")
    return found


def _recursive_problems(mount: Object, field: str) -> list[Problem]:
    value = mount["recursiveReadOnly"]
    if value not in ("Disabled", "Enabled", "IfPossible"):
        return [unsupported(field, value, ("Disabled", "Enabled", "IfPossible"))]
    if value == "Disabled":
        return []
    found: list[Problem] = []
    if not mount.get("readOnly"):
        found.append(forbidden(field, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation") not in (None, "None"):
        text = "may only be specified when mountPropagation is None or not specified"
        found.append(forbidden(field, text))
    return found


def _propagation_problems(propagation: str, container: Object, field: str) -> list[Problem]:
    if propagation not in _PROPAGATIONS:
        return [unsupported(field, propagation, _PROPAGATIONS)]
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        text = "Bidirectional mount propagation is available only to privileged containers"
        return [forbidden(field, text)]
    return []


def _device_problems(
    devices: list[Object], mounts: list[Object], pod: PodContext, field: str
) -> list[Problem]:
    found: list[Problem] = []
    seen_names: list[str] = []
    seen_paths: list[str] = []
    for index, device in enumerate(devices):
        name, where = device.get("name") or "", device.get("devicePath") or ""
        path = f"{field}[{index}]"
        if not name:
            found.append(required(f"{path}.name"))
        if name in seen_names:
            found.append(invalid(f"{path}.name", name, "must be unique"))
        volume = pod.volumes.get(name)
        if volume is None:
            found.append(not_found(f"{path}.name", name))
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            found.append(invalid(f"{path}.name", name, _BLOCK_TEXT))
        if not where:
            found.append(required(f"{path}.devicePath"))
        if where in seen_paths:
            found.append(invalid(f"{path}.devicePath", where, "must be unique"))
        if ".." in where.split("/"):
            found.append(invalid(f"{path}.devicePath", where, "can not contain backsteps ('..')"))
        else:
            seen_paths.append(where)
        if any(mount.get("name") == name for mount in mounts):
            found.append(invalid(f"{path}.name", name, "must not already exist in volumeMounts"))
        if any(mount.get("mountPath") == where for mount in mounts):
            text = "must not already exist as a path in volumeMounts"
            found.append(invalid(f"{path}.devicePath", where, text))
        if name:
            seen_names.append(name)
    return found
