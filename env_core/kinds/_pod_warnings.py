"""What the API server warns of when it stores a pod, or something with a pod template.

Source: k8s.io/kubernetes pkg/api/pod/warnings.go and the strategies' WarningsOnCreate and WarningsOnUpdate; texts in
tests/golden/l0/validation.jsonl.gz, defaulting.jsonl.gz and l2/facts/errors.jsonl.gz (ids warn-).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from env_core.kinds._container_warnings import container_warnings, fractional, port_warnings
from env_core.kinds._node_labels import label_warning, selector_warnings, term_warnings
from env_core.objects import names, quantity
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
_SHOWN_AS = {"storageos": "storageOS"}
_GONE_ANNOTATIONS = (
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        'non-functional in v1.16+; use the "priorityClassName" field instead',
    ),
    ("security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        'non-functional in v1.11+; use the "sysctls" field instead',
    ),
)
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_TEXT = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_warnings(pod: Object) -> list[str]:
    """Return the warnings about a new pod."""
    found = name_warnings(pod, "the Pod's hostname")
    return found + _warnings(pod, "", is_template=False)


def name_warnings(obj: Object, use: str = "Pod names and hostnames") -> list[str]:
    """Return the warning about a name that is to be part of other names, for which it is not fit."""
    problems = names.is_dns1123_label(obj["metadata"].get("name", ""))
    if not problems:
        return []
    text = f"this is used in {use}, which can result in surprising behavior; a DNS label is recommended"
    return [f"metadata.name: {text}: [{' '.join(problems)}]"]


def template_warnings(template: Object, field: str) -> list[str]:
    """Return the warnings about a pod template that stands at `field`."""
    return _warnings(template, f"{field}.", is_template=True)


def with_new_generation(warnings: Callable[[Object], list[str]]) -> Callable[[Object, Object], list[str]]:
    """Return the warnings about an update: those that a new object would get, but only if the generation changed."""

    def of_update(new: Object, old: Object) -> list[str]:
        if new["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return warnings(new)

    return of_update


def _warnings(pod: Object, prefix: str, *, is_template: bool) -> list[str]:
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    field = f"{prefix}spec"
    found = _placement_warnings(spec, field)
    found += [
        f"{prefix}metadata.annotations[{key}]: {text}"
        for key, text in _GONE_ANNOTATIONS
        if key in annotations
    ]
    volumes = spec.get("volumes") or ()
    for index, volume in enumerate(volumes):
        found += _volume_warnings(volume, f"{field}.volumes[{index}]")
    found += _path_warnings(volumes, field)
    found += _repeated(spec.get("hostAliases") or (), "ip", "ip", f"{field}.hostAliases")
    secrets = spec.get("imagePullSecrets") or ()
    found += _repeated(secrets, "name", "name", f"{field}.imagePullSecrets")
    found += [
        f'{field}.imagePullSecrets[{index}].name: invalid empty name ""'
        for index, secret in enumerate(secrets)
        if not secret.get("name")
    ]
    for name in ("memory", "ephemeral-storage"):
        found += fractional((spec.get("overhead") or {}).get(name), f"{field}.overhead[{name}]")
    if annotations:
        context = spec.get("securityContext") or {}
        if context.get("seccompProfile") is None and _SECCOMP in annotations:
            found.append(f"{prefix}metadata.annotations[{_SECCOMP}]: {_SECCOMP_TEXT}")
    for container, path in _containers(spec, field):
        found += container_warnings(pod, container, path, prefix, is_template=is_template)
    found += port_warnings(list(_containers(spec, field)))
    grace = spec.get("terminationGracePeriodSeconds")
    if is_template and grace is not None and grace < 0:  # a pod's own was made 1 before
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{field}.terminationGracePeriodSeconds: {text}")
    return found + _affinity_warnings(spec.get("affinity") or {}, field)


def _containers(spec: Object, field: str) -> Iterator[tuple[Object, str]]:
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            yield container, f"{field}.{group}[{index}]"


def _placement_warnings(spec: Object, field: str) -> list[str]:
    found = selector_warnings(spec.get("nodeSelector") or (), f"{field}.nodeSelector")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    if affinity:
        base = f"{field}.affinity.nodeAffinity"
        for index, term in enumerate((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
            found += term_warnings(term, f"{base}.{_REQUIRED}.nodeSelectorTerms[{index}]")
        for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
            found += term_warnings(
                weighted.get("preference") or {}, f"{base}.{_PREFERRED}[{index}].preference"
            )
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        path = f"{field}.topologySpreadConstraints[{index}]"
        key = constraint.get("topologyKey") or ""
        if label_warning(key):
            found.append(f"{path}.topologyKey: {key} is {label_warning(key)}")
        if constraint.get("labelSelector") is None:
            found.append(f"{path}.labelSelector: {_NULL_SELECTOR}")
    return found


def _affinity_warnings(affinity: Object, field: str) -> list[str]:
    found: list[str] = []
    for key in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(key)
        if not terms:
            continue
        base = f"{field}.affinity.{key}"
        for index, term in enumerate(terms.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                found.append(f"{base}.{_REQUIRED}[{index}].labelSelector: {_NULL_SELECTOR}")
        for index, weighted in enumerate(terms.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                where = f"{base}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector"
                found.append(f"{where}: {_NULL_SELECTOR}")
    return found


def _repeated(items: Any, key: str, what: str, field: str) -> list[str]:
    if len(items) < 2:
        return []
    found: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(key) or ""
        if value in seen:
            found.append(f"{field}[{index}].{key}: duplicate {what} {quoted(value)}")
        seen.add(value)
    return found


def claim_spec_warnings(spec: Object, field: str) -> list[str]:
    """Return the warnings about a claim's spec that stands at `field`. Source: pkg/api/persistentvolumeclaim/util.go."""
    resources = spec.get("resources") or {}
    found: list[str] = []
    for kind in ("requests", "limits"):
        text = (resources.get(kind) or {}).get("storage")
        if text is not None and quantity.to_milli(text) % 1000:
            found += fractional(text, f"{field}.resources.{kind}[storage]")
    return found


def _volume_warnings(volume: Object, field: str) -> list[str]:
    found = [
        f"{field}.{_SHOWN_AS.get(key, key)}: {text}"
        for key, text in _GONE_VOLUMES
        if volume.get(key) is not None
    ]
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        found += claim_spec_warnings(
            template.get("spec") or {}, f"{field}.ephemeral.volumeClaimTemplate.spec"
        )
    projected = volume.get("projected")
    if projected is not None:
        if any(
            not any(value is not None for value in source.values())
            for source in projected.get("sources") or ()
        ):
            found.append(f"volume {quoted(volume.get('name') or '')} (Projected) has no sources provided")
    return found


def _path_warnings(volumes: Any, field: str) -> list[str]:
    """Return warnings about projected files that stand where a token does."""
    tokens = {
        source["serviceAccountToken"].get("path") or ""
        for volume in volumes
        for source in (volume.get("projected") or {}).get("sources") or ()
        if source.get("serviceAccountToken") is not None
    }
    found: list[str] = []
    for index, volume in enumerate(volumes) if tokens else ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            base = f"{field}.volumes[{index}].projected.sources"
            for kind, shown in (
                ("configMap", "configMap"),
                ("secret", "secrets"),
                ("downwardAPI", "downwardAPI"),
            ):
                for place, item in enumerate((source.get(kind) or {}).get("items") or ()):
                    if item.get("path") in tokens:
                        found.append(f"{base}.{shown}[{place}]: {_taken(item['path'])}")
            bundle = source.get("clusterTrustBundle") or {}
            if bundle and bundle.get("path") in tokens:
                found.append(f"{base}.ClusterTrustBundle: {_taken(bundle['path'])}")
    return found


def _taken(path: str) -> str:
    return f"has duplicated path with ServiceAccountToken {quoted(path)}"
