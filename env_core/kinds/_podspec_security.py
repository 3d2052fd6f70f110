"""Validation of security contexts, of the pod and of containers, and of what they exclude.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import re

from env_core.kinds._field_rules import unsupported
from env_core.kinds._internal_types import internal_text
from env_core.kinds._podspec_paths import descending
from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import INVALID, Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_sysctl_match = re.compile(_SYSCTL).fullmatch
_SYSCTL_TEXT = rf"must have at most 253 characters and match regex ^{_SYSCTL}$"
_SECCOMP = ("Localhost", "RuntimeDefault", "Unconfined")
_NO_ESCALATION = "cannot set `allowPrivilegeEscalation` to false and "
_WINDOWS = "cannot be set for a windows pod"


def pod_security_problems(spec: Object, field: str) -> list[Problem]:
    """Check the pod's security context and the host's namespaces it shares."""
    found: list[Problem] = []
    context = spec.get("securityContext") or {}
    if context:
        path = f"{field}.securityContext"
        found += _ids(context, ("fsGroup", "runAsUser", "runAsGroup"), path)
        for index, group in enumerate(context.get("supplementalGroups") or ()):
            found += invalid_each(f"{path}.supplementalGroups[{index}]", group, names.is_id_number(group))
    if spec.get("hostNetwork"):
        for key in ("containers", "initContainers"):
            found += _host_port_problems(spec.get(key) or [], f"{field}.{key}")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        found.append(invalid(f"{field}.shareProcessNamespace", True, text))
    if not context:
        return found
    found += _sysctl_problems(context.get("sysctls") or [], f"{path}.sysctls")
    for key, options in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("MountOption", "Recursive")),
    ):
        value = context.get(key)
        if value is not None and value not in options:
            found.append(unsupported(f"{path}.{key}", value, options))
    return found + _profile_problems(context, path)


def _host_port_problems(containers: list[Object], field: str) -> list[Problem]:
    return [
        invalid(
            f"{field}[{index}].ports[{place}].hostPort",
            port.get("hostPort") or 0,
            "must match `containerPort` when `hostNetwork` is true",
        )
        for index, container in enumerate(containers)
        for place, port in enumerate(container.get("ports") or ())
        if (port.get("hostPort") or 0) != (port.get("containerPort") or 0)
    ]


def _ids(context: Object, keys: tuple[str, ...], field: str) -> list[Problem]:
    found: list[Problem] = []
    for key in keys:
        number = context.get(key)
        if number is not None:
            found += invalid_each(f"{field}.{key}", number, names.is_id_number(number))
    return found


def _sysctl_problems(sysctls: list[Object], field: str) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, sysctl in enumerate(sysctls):
        name = sysctl.get("name") or ""
        path = f"{field}[{index}].name"
        if not name:
            found.append(required(path))
        elif len(name) > names.SUBDOMAIN_LENGTH_MAX or not _sysctl_match(name):
            found.append(invalid(path, name, _SYSCTL_TEXT))
        elif name in seen:
            found.append(duplicate(path, name))
        seen.append(name)
    return found


def _profile_problems(context: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for key, options, noun in (
        ("seccompProfile", _SECCOMP, "seccomp"),
        ("appArmorProfile", _SECCOMP, "AppArmor"),
    ):
        profile = context.get(key)
        if profile is None:
            continue
        path = f"{field}.{key}"
        kind, local = profile.get("type") or "", profile.get("localhostProfile")
        if not kind:
            found.append(required(f"{path}.type", f"type is required when {key} is set"))
        elif kind not in options:
            found.append(unsupported(f"{path}.type", kind, options))
        if kind == "Localhost":
            if local is None:
                found.append(
                    required(f"{path}.localhostProfile", f"must be set when {noun} type is Localhost")
                )
            elif key == "seccompProfile":
                found += descending(local, f"{path}.localhostProfile")
        elif local is not None:
            text = f"can only be set when {noun} type is Localhost"
            found.append(invalid(f"{path}.localhostProfile", local, text))
    return found


def container_security_problems(context: Object, field: str) -> list[Problem]:
    """Check a container's security context."""
    found = _ids(context, ("runAsUser", "runAsGroup"), field)
    proc = context.get("procMount")
    if proc is not None and proc not in ("Default", "Unmasked"):
        found.append(unsupported(f"{field}.procMount", proc, ("Default", "Unmasked")))
    found += _profile_problems(context, field)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            found.append(_contradiction(context, field, "`privileged` to true"))
        for capability in (context.get("capabilities") or {}).get("add") or ():
            if capability == "CAP_SYS_ADMIN":
                found.append(_contradiction(context, field, "`capabilities.Add` CAP_SYS_ADMIN"))
    return found


def _contradiction(context: Object, field: str, what: str) -> Problem:
    return Problem(INVALID, field, internal_text("SecurityContext", context), f"{_NO_ESCALATION}{what}")


def operating_system_problems(spec: Object, field: str) -> list[Problem]:
    """Check `os`, and that a pod for Windows asks for nothing that only Linux has."""
    system = spec.get("os")
    if system is None:
        return []
    name = system.get("name") or ""
    if not name:
        return [required(f"{field}.os.name", "is required")]
    if name not in ("linux", "windows"):
        return [unsupported(f"{field}.os", name, ("linux", "windows"))]
    if name == "linux":
        return []
    context = spec.get("securityContext") or {}
    found = [forbidden(f"{field}.{key}", _WINDOWS) for key in ("hostPID", "hostIPC") if spec.get(key)]
    keys = (
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
    )
    found += [
        forbidden(f"{field}.securityContext.{key}", _WINDOWS) for key in keys if context.get(key) is not None
    ]
    if spec.get("shareProcessNamespace") is not None:
        found.append(forbidden(f"{field}.shareProcessNamespace", _WINDOWS))
    return found


def user_namespace_problems(spec: Object, field: str) -> list[Problem]:
    """Check that a pod with its own user namespace shares none of the host's namespaces."""
    if spec.get("hostUsers") is not False:
        return [
            invalid(
                f"{field}.{key}[{index}].securityContext.procMount",
                "Unmasked",
                "`hostUsers` must be false to use `Unmasked`",
            )
            for key in ("containers", "initContainers")
            for index, container in enumerate(spec.get(key) or ())
            if (container.get("securityContext") or {}).get("procMount") == "Unmasked"
        ]
    return [
        forbidden(f"{field}.{key}", "when `hostUsers` is false")
        for key in ("hostNetwork", "hostPID", "hostIPC")
        if spec.get(key)
    ]
