"""What the API server warns of in the containers of a pod.

Source: k8s.io/kubernetes pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.objects import quantity
from env_core.objects.problems import quoted
from env_core.world import Object

SECCOMP_PREFIX = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_TEXT = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_APPARMOR_TEXT = 'deprecated since v1.30; use the "appArmorProfile" field instead'


def fractional(text: str | None, field: str) -> list[str]:
    """Return the warning about a quantity of bytes that is not a whole number."""
    if text is None or not quantity.to_milli(text) % 1000:
        return []
    return [
        f"{field}: fractional byte value {quoted(quantity.canonical(text))} is invalid, must be an integer"
    ]


def container_warnings(
    pod: Object, container: Object, field: str, prefix: str, *, is_template: bool
) -> list[str]:
    """Return the warnings about a container at `field`, of the pod or template whose parts begin with `prefix`."""
    found = _annotation_warnings(pod, container, prefix, is_template=is_template)
    resources = container.get("resources")
    if resources:
        for name in ("memory", "ephemeral-storage"):
            for kind in ("limits", "requests"):
                text = (resources.get(kind) or {}).get(name)
                found += fractional(text, f"{field}.resources.{kind}[{name}]")
    return found + _variable_warnings(container, field)


def _annotation_warnings(pod: Object, container: Object, prefix: str, *, is_template: bool) -> list[str]:
    annotations = (pod.get("metadata") or {}).get("annotations")
    if not annotations:
        return []
    found: list[str] = []
    context, name = container.get("securityContext") or {}, container.get("name") or ""
    if context.get("seccompProfile") is None and f"{SECCOMP_PREFIX}{name}" in annotations:
        found.append(f"{prefix}metadata.annotations[{SECCOMP_PREFIX}{name}]: {_SECCOMP_TEXT}")
    pods = ((pod.get("spec") or {}).get("securityContext") or {}).get("appArmorProfile")
    if f"{APPARMOR_PREFIX}{name}" in annotations:
        # A pod's own annotation is copied to the field, which a real server warns of before it does.
        if not is_template or (pods is None and context.get("appArmorProfile") is None):
            found.append(f"{prefix}metadata.annotations[{APPARMOR_PREFIX}{name}]: {_APPARMOR_TEXT}")
    return found


def _variable_warnings(container: Object, field: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name") or ""
        # X="$(X)123" goes on from the value before; X="$(X)" and other values do not.
        reference, value = f"$({name})", variable.get("value") or ""
        goes_on = variable.get("valueFrom") is None and value != reference and reference in value
        if name in seen and not goes_on:
            found.append(
                f"{field}.env[{index}]: hides previous definition of {quoted(name)}, "
                "which may be dropped when using apply"
            )
        seen.add(name)
    return found


class _Port(NamedTuple):
    field: str
    address: str
    host: int


def port_warnings(containers: list[tuple[Object, str]]) -> list[str]:
    """Return the warnings about the ports of all containers of a pod, which are given with their fields."""
    found: list[str] = []
    known: dict[tuple[int, str], list[_Port]] = {}
    for container, field in containers:
        for index, port in enumerate(container.get("ports") or ()):
            number, protocol = port.get("containerPort") or 0, port.get("protocol") or ""
            own = _Port(f"{field}.ports[{index}]", port.get("hostIP") or "", port.get("hostPort") or 0)
            if own.address and not own.host:
                shown = (
                    f"{{Name:{port.get('name') or ''} HostPort:0 ContainerPort:{number} "
                    f"Protocol:{protocol} HostIP:{own.address}}}"
                )
                found.append(f"{own.field}: hostIP set without hostPort: {shown}")
            others = known.setdefault((number, protocol), [])
            found += [text for other in others if (text := _clash(own, other))]
            others.append(own)
    return found


def _clash(own: _Port, other: _Port) -> str:
    if (own.address, own.host) == (other.address, other.host):
        return f"{own.field}: duplicate port definition with {other.field}"
    if not own.host or not other.host:
        return f"{own.field}: overlapping port definition with {other.field}"
    if own.host == other.host and bool(own.address) != bool(other.address):
        return f"{own.field}: dangerously ambiguous port definition with {other.field}"
    return ""
