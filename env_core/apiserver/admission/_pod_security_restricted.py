"""The restricted checks of Pod Security: the baseline ones that nothing replaces, then its own.

Source: tests/golden/l0/pod_security.jsonl.gz; k8s.io/pod-security-admission policy.
"""

from __future__ import annotations

from env_core.apiserver.admission import _pod_security_baseline as baseline
from env_core.apiserver.admission._pod_security_text import (
    Check,
    Violation,
    containers_of,
    context_of,
    failing,
    is_windows,
    plural,
    quoted,
    setters,
    titled,
)
from env_core.world import Object

_VOLUMES = frozenset(
    (
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim",
        "projected", "secret",
    )
)  # fmt: skip
_REPLACED = (baseline.capabilities, baseline.host_path, baseline.proc_mount, baseline.seccomp)


def _escalation(_metadata: Object, spec: Object) -> Violation | None:
    if is_windows(spec):
        return None
    bad = failing(spec, lambda entry: context_of(entry).get("allowPrivilegeEscalation") is not False)
    if not bad:
        return None
    detail = f"{titled(bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def _capabilities(_metadata: Object, spec: Object) -> Violation | None:
    if is_windows(spec):
        return None
    keeping: list[str] = []
    adding: list[str] = []
    added: set[str] = set()
    for container in containers_of(spec):
        given = context_of(container).get("capabilities") or {}
        if "ALL" not in (given.get("drop") or ()):
            keeping.append(container["name"])
        extra = set(given.get("add") or ()) - {"NET_BIND_SERVICE"}
        if extra:
            adding.append(container["name"])
            added |= extra
    details = []
    if keeping:
        details.append(f'{titled(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        text = (
            f"{titled(adding)} must not include {quoted(sorted(added))} in securityContext.capabilities.add"
        )
        details.append(text)
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def _volumes(_metadata: Object, spec: Object) -> Violation | None:
    names: list[str] = []
    types: set[str] = set()
    for volume in spec.get("volumes") or ():
        kinds = [key for key, value in volume.items() if key != "name" and value is not None]
        if any(kind not in _VOLUMES for kind in kinds):
            names.append(volume["name"])
            types.update(kind for kind in kinds if kind not in _VOLUMES)
    if not names:
        return None
    volumes = plural(len(names), "volume", "volumes")
    uses = plural(len(names), "uses", "use")
    kinds_text = plural(len(types), "restricted volume type", "restricted volume types")
    return Violation(
        "restricted volume types", f"{volumes} {quoted(names)} {uses} {kinds_text} {quoted(sorted(types))}"
    )


def _non_root(_metadata: Object, spec: Object) -> Violation | None:
    if spec.get("hostUsers") is False:
        return None
    pod_says = context_of(spec).get("runAsNonRoot")
    explicit = failing(spec, lambda entry: context_of(entry).get("runAsNonRoot") is False)
    found = setters(pod_says is False, explicit)
    if found:
        detail = f"{' and '.join(found)} must not set securityContext.runAsNonRoot=false"
        return Violation("runAsNonRoot != true", detail)
    silent = failing(spec, lambda entry: context_of(entry).get("runAsNonRoot") is None)
    if pod_says or not silent:
        return None
    return Violation(
        "runAsNonRoot != true", f"pod or {titled(silent)} must set securityContext.runAsNonRoot=true"
    )


def _user(_metadata: Object, spec: Object) -> Violation | None:
    if spec.get("hostUsers") is False:
        return None
    is_pod_root = context_of(spec).get("runAsUser") == 0
    found = setters(is_pod_root, failing(spec, lambda entry: context_of(entry).get("runAsUser") == 0))
    return Violation("runAsUser=0", f"{' and '.join(found)} must not set runAsUser=0") if found else None


def _seccomp(_metadata: Object, spec: Object) -> Violation | None:
    if is_windows(spec):
        return None
    found = baseline.bad_seccomp(spec)
    if found is not None or context_of(spec).get("seccompProfile") is not None:
        return found
    silent = failing(spec, lambda entry: context_of(entry).get("seccompProfile") is None)
    if not silent:
        return None
    detail = f'pod or {titled(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Violation("seccompProfile", detail)


CHECKS: tuple[Check, ...] = (
    *(check for check in baseline.CHECKS if check not in _REPLACED),
    _escalation,
    _capabilities,
    baseline.proc_mount_always,
    _volumes,
    _non_root,
    _user,
    _seccomp,
)
