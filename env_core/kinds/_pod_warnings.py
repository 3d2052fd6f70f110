"""What the API server warns of when it stores a pod.

Source: k8s.io/kubernetes pkg/api/pod warnings; texts in tests/golden/l0/validation.jsonl.gz and defaulting.jsonl.gz.
"""

from __future__ import annotations

from env_core.objects import quantity
from env_core.objects.problems import quoted
from env_core.world import Object

_NULL_SELECTOR = "a null labelSelector results in matching no pod"
_GONE_VOLUMES = (
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
_OLD_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
}
_AFFINITY_TERMS = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_warnings(pod: Object) -> list[str]:
    """Return the warnings about a pod."""
    return spec_warnings(pod.get("spec") or {}, "spec")


def template_warnings(template: Object, field: str) -> list[str]:
    """Return the warnings about a pod template that stands at `field`."""
    return spec_warnings(template.get("spec") or {}, f"{field}.spec")


def spec_warnings(spec: Object, field: str) -> list[str]:
    """Return the warnings about a pod's spec."""
    found: list[str] = []
    for key in spec.get("nodeSelector") or ():
        if key in _OLD_LABELS:
            since, label = _OLD_LABELS[key]
            found.append(f'{field}.nodeSelector[{key}]: deprecated since {since}; use "{label}" instead')
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        if constraint.get("labelSelector") is None:
            found.append(f"{field}.topologySpreadConstraints[{index}].labelSelector: {_NULL_SELECTOR}")
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            found.append(f'{field}.imagePullSecrets[{index}].name: invalid empty name ""')
    for index, volume in enumerate(spec.get("volumes") or ()):
        found += _volume_warnings(volume, f"{field}.volumes[{index}]")
    for list_key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(list_key) or ()):
            found += _container_warnings(container, f"{field}.{list_key}[{index}]")
    affinity = spec.get("affinity")
    if affinity:
        for key in ("podAffinity", "podAntiAffinity"):
            for index, term in enumerate((affinity.get(key) or {}).get(_AFFINITY_TERMS) or ()):
                if term.get("labelSelector") is None:
                    found.append(
                        f"{field}.affinity.{key}.{_AFFINITY_TERMS}[{index}].labelSelector: {_NULL_SELECTOR}"
                    )
    return found


def _volume_warnings(volume: Object, field: str) -> list[str]:
    found = [f"{field}.{key}: {text}" for key, text in _GONE_VOLUMES if volume.get(key) is not None]
    projected = volume.get("projected")
    if projected is not None:
        if any(
            not any(value is not None for value in source.values())
            for source in projected.get("sources") or ()
        ):
            found.append(f"volume {quoted(volume.get('name') or '')} (Projected) has no sources provided")
    return found


def _container_warnings(container: Object, field: str) -> list[str]:
    found: list[str] = []
    resources = container.get("resources")
    if resources:
        for kind in ("limits", "requests"):
            for name in ("memory", "ephemeral-storage"):
                text = (resources.get(kind) or {}).get(name)
                if text is not None and quantity.to_milli(text) % 1000:
                    shown = quoted(quantity.canonical(text))
                    found.append(
                        f"{field}.resources.{kind}[{name}]: fractional byte value {shown} is invalid, must be an integer"
                    )
    seen: list[str] = []
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name") or ""
        if name in seen:
            found.append(
                f"{field}.env[{index}]: hides previous definition of {quoted(name)}, "
                "which may be dropped when using apply"
            )
        seen.append(name)
    found += _port_warnings(container.get("ports") or [], field)
    return found


def _port_warnings(ports: list[Object], field: str) -> list[str]:
    found: list[str] = []
    seen: dict[tuple[str, str, int, int], int] = {}
    for index, port in enumerate(ports):
        protocol, host_ip = port.get("protocol") or "", port.get("hostIP") or ""
        number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
        if host_ip and not host:
            shown = (
                f"{{Name:{port.get('name') or ''} HostPort:0 ContainerPort:{number} "
                f"Protocol:{protocol} HostIP:{host_ip}}}"
            )
            found.append(f"{field}.ports[{index}]: hostIP set without hostPort: {shown}")
        key = (protocol, host_ip, number, host)
        if key in seen:
            found.append(f"{field}.ports[{index}]: duplicate port definition with {field}.ports[{seen[key]}]")
        else:
            seen[key] = index
    return found
