"""PodSecurity, as far as namespaces go: the labels that set their levels must make sense."""

from __future__ import annotations

import re

from env_core.apiserver import errors
from env_core.apiserver.admission.pod_security import policy_of, violations
from env_core.apiserver.plugin import Admission, Attributes
from env_core.objects.problems import Problem, invalid
from env_core.world import Object

_PREFIX = "pod-security.kubernetes.io/"
_LEVELS = ("privileged", "baseline", "restricted")
_is_version = re.compile(r"latest|v1\.(0|[1-9][0-9]*)").fullmatch
_LABELS = tuple(f"{_PREFIX}{mode}{end}" for mode in ("enforce", "audit", "warn") for end in ("", "-version"))


def _labels(obj: Object | None) -> Object:
    found: Object = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return found


def _problem(label: str, value: str) -> Problem | None:
    field = f"metadata.labels[{label}]"
    if label.endswith("-version"):
        return None if _is_version(value) else invalid(field, value, 'must be "latest" or "v1.x"')
    return None if value in _LEVELS else invalid(field, value, f"must be one of {', '.join(_LEVELS)}")


def _validate(attributes: Attributes) -> None:
    new, old = _labels(attributes.object), _labels(attributes.old)
    given = [label for label in _LABELS if label in new]
    if not given or all(new[label] == old.get(label) for label in given):
        return
    problems = [problem for label in given if (problem := _problem(label, new[label])) is not None]
    if problems:
        raise errors.invalid("", "Namespace", attributes.name, problems)
    if attributes.operation == "UPDATE" and attributes.server is not None:
        for text in _pods_warnings(attributes):
            attributes.server.remarks.warn(text)


def _pods_warnings(attributes: Attributes) -> list[str]:
    """Return warnings about the namespace's pods that a stricter level, or another version, would refuse.

    Source: k8s.io/pod-security-admission admission/admission.go (EvaluatePodsInNamespace).
    """
    assert attributes.object is not None
    assert attributes.old is not None
    level, version = policy_of(attributes.object, "enforce")
    before, version_before = policy_of(attributes.old, "enforce")
    if version == version_before and _LEVELS.index(level) <= _LEVELS.index(before):
        return []
    name = attributes.object["metadata"]["name"]
    pods: dict[str, list[str]] = {}
    for pod in attributes.store.list("pods", name):
        found = violations(level, pod["metadata"], pod["spec"])
        if found:
            pods.setdefault(", ".join(violation.reason for violation in found), []).append(
                pod["metadata"]["name"]
            )
    if not pods:
        return []
    policy = f"{level}:{version}"
    head = f'existing pods in namespace "{name}" violate the new PodSecurity enforce level "{policy}"'
    return [head, *sorted(f"{_counted(names)}: {reasons}" for reasons, names in pods.items())]


def _counted(pods: list[str]) -> str:
    others = len(pods) - 1
    if not others:
        return pods[0]
    return f"{min(pods)} (and {others} other pod{'s' if others > 1 else ''})"


ADMISSION = Admission(
    name="PodSecurity labels",
    order=111,
    operations=("CREATE", "UPDATE"),
    resources=("namespaces",),
    validate=_validate,
    source="k8s.io/pod-security-admission api helpers.go; tests/golden/l2/facts/errors.jsonl.gz, ids psa-label-*",
)
