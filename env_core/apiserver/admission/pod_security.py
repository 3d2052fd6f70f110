"""PodSecurity: pods of a namespace must meet the level that its labels enforce, and are remarked on by two others.

Templates of workloads are never refused, only remarked on. Versions are shown as the labels have them, but the checks are
always those of the newest.

Source: k8s.io/pod-security-admission admission/admission.go (EvaluatePod).
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


def text(policy: str, found: list[Violation], *, verb: str = "violates") -> str:
    """Return `violates PodSecurity "restricted:latest": …` for violations of a policy."""
    details = ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in found)
    return f'{verb} PodSecurity "{policy}": {details}'


def policy_of(namespace: Object, mode: str) -> tuple[str, str]:
    """Return level and version that a namespace's labels give for "enforce", "audit" or "warn".

    What is no level is the strictest one to enforce, and none at all to remark on.
    """
    labels = namespace["metadata"].get("labels") or {}
    level = labels.get(_PREFIX + mode) or "privileged"
    if level not in _CHECKS:
        level = "restricted" if mode == "enforce" else "privileged"
    return level, labels.get(f"{_PREFIX}{mode}-version") or "latest"


def template_of(obj: Object) -> Object | None:
    """Return the pod, or the pod template, in an object that has one."""
    if obj.get("kind") == "Pod":
        return obj
    found: Object | None = obj.get("template")
    spec = obj.get("spec") or {}
    if obj.get("kind") == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    return found if obj.get("kind") == "PodTemplate" else spec.get("template")


def _validate(attributes: Attributes) -> None:
    namespace = attributes.store.get("namespaces", "", attributes.namespace)
    labels = () if namespace is None else namespace["metadata"].get("labels") or ()
    if namespace is None or not any(label.startswith(_PREFIX) for label in labels):
        return
    policies = {mode: policy_of(namespace, mode) for mode in ("enforce", "audit", "warn")}
    is_pod = attributes.kind.resource == "pods"
    if all(level == "privileged" for mode, (level, _) in policies.items() if is_pod or mode != "enforce"):
        return
    body = attributes.object
    assert body is not None
    pod = template_of(body)
    if pod is None or (is_pod and not _is_significant(attributes)):
        return
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    found = {level: violations(level, metadata, spec) for level in {level for level, _ in policies.values()}}
    _remark(attributes, policies, found, is_pod=is_pod)


def _is_significant(attributes: Attributes) -> bool:
    """Whether a write changes what the checks look at."""
    if attributes.operation != "UPDATE":
        return True
    spec, old = (attributes.object or {}).get("spec") or {}, (attributes.old or {}).get("spec") or {}
    return any(spec.get(key) != old.get(key) for key in _CONTAINERS)


def _remark(
    attributes: Attributes,
    policies: Mapping[str, tuple[str, str]],
    found: Mapping[str, list[Violation]],
    *,
    is_pod: bool,
) -> None:
    remarks = None if attributes.server is None else attributes.server.remarks
    level, version = policies["enforce"]
    enforced = f"{level}:{version}"
    if remarks is not None:
        if is_pod:
            remarks.annotations[f"{_PREFIX}enforce-policy"] = enforced
        level, version = policies["audit"]
        if found[level]:
            remarks.annotations[f"{_PREFIX}audit-violations"] = text(
                f"{level}:{version}", found[level], verb="would violate"
            )
    if is_pod and found[policies["enforce"][0]]:
        raise refusal(attributes, text(enforced, found[policies["enforce"][0]]))
    level, version = policies["warn"]
    if remarks is not None and found[level]:
        remarks.warn(text(f"{level}:{version}", found[level], verb="would violate"))


ADMISSION = Admission(
    name="PodSecurity",
    order=110,
    operations=("CREATE", "UPDATE"),
    resources=(
        "pods",
        "podtemplates",
        "replicationcontrollers",
        "replicasets.apps",
        "deployments.apps",
        "statefulsets.apps",
        "daemonsets.apps",
        "jobs.batch",
        "cronjobs.batch",
    ),
    validate=_validate,
    source="tests/golden/l0/pod_security.jsonl.gz; tests/golden/l2/facts/errors.jsonl.gz, ids psa-*",
)
