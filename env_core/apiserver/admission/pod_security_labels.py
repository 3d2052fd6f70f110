"""PodSecurity, as far as namespaces go: the labels that set their levels must make sense."""

from __future__ import annotations

import re

from env_core.apiserver import errors
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


ADMISSION = Admission(
    name="PodSecurity labels",
    order=111,
    operations=("CREATE", "UPDATE"),
    resources=("namespaces",),
    validate=_validate,
    source="k8s.io/pod-security-admission api helpers.go; tests/golden/l2/facts/errors.jsonl.gz, ids psa-label-*",
)
