"""PodSecurity: pods of a namespace must meet the level that its labels enforce.

Only `enforce` acts: warnings (`warn`, and `enforce` of workloads' templates) have no way back to the client yet.
Versions are shown as the labels have them, but the checks are always those of the newest.
"""

from __future__ import annotations

from collections.abc import Mapping

from env_core.apiserver.admission import _pod_security_baseline, _pod_security_restricted
from env_core.apiserver.admission._pod_security_text import Check, Violation
from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_PREFIX = "pod-security.kubernetes.io/"
_CHECKS: Mapping[str, tuple[Check, ...]] = {
    "privileged": (),
    "baseline": _pod_security_baseline.CHECKS,
    "restricted": _pod_security_restricted.CHECKS,
}
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def violations(level: str, metadata: Object, spec: Object) -> list[Violation]:
    """Return what a pod does that a level ("privileged", "baseline", "restricted") forbids, in upstream's order.

    Source: tests/golden/l0/pod_security.jsonl.gz.
    """
    found = (check(metadata, spec) for check in _CHECKS[level])
    return [violation for violation in found if violation is not None]


def text(policy: str, found: list[Violation]) -> str:
    """Return `violates PodSecurity "restricted:latest": …` for violations of a policy."""
    details = ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in found)
    return f'violates PodSecurity "{policy}": {details}'


def policy_of(namespace: Object, mode: str) -> tuple[str, str]:
    """Return level and version that a namespace's labels give for "enforce", "audit" or "warn"."""
    labels = namespace["metadata"].get("labels") or {}
    level = labels.get(_PREFIX + mode) or "privileged"
    return (level if level in _CHECKS else "restricted"), labels.get(f"{_PREFIX}{mode}-version") or "latest"


def _validate(attributes: Attributes) -> None:
    namespace = attributes.store.get("namespaces", "", attributes.namespace)
    if namespace is None:
        return
    level, version = policy_of(namespace, "enforce")
    if level == "privileged":
        return
    pod = attributes.object
    assert pod is not None
    spec = pod["spec"]
    if attributes.operation == "UPDATE":
        old_spec = (attributes.old or {}).get("spec") or {}
        if all(spec.get(key) == old_spec.get(key) for key in _CONTAINERS):
            return
    found = violations(level, pod["metadata"], spec)
    if found:
        raise refusal(attributes, text(f"{level}:{version}", found))


ADMISSION = Admission(
    name="PodSecurity",
    order=110,
    operations=("CREATE", "UPDATE"),
    resources=("pods",),
    validate=_validate,
    source="tests/golden/l0/pod_security.jsonl.gz; tests/golden/l2/facts/errors.jsonl.gz, ids psa-*",
)
