"""The baseline checks of Pod Security, in upstream's order of evaluation.

Source: tests/golden/l0/pod_security.jsonl.gz, tests/golden/l2/facts/errors.jsonl.gz (ids psa-*);
k8s.io/pod-security-admission policy.
"""

from __future__ import annotations

from env_core.apiserver.admission._pod_security_text import (
    Check,
    Violation,
    containers_of,
    context_of,
    failing,
    plural,
    quoted,
    setters,
    titled,
)
from env_core.world import Object

_APPARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
        "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    )
)  # fmt: skip
_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
    )
)  # fmt: skip
_SECCOMP_TYPES = ("RuntimeDefault", "Localhost")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")


def _apparmor(metadata: Object, spec: Object) -> Violation | None:
    values: set[str] = set()

    def is_bad(context: Object) -> bool:
        profile = context.get("appArmorProfile")
        if profile is None or profile.get("type") in _SECCOMP_TYPES:
            return False
        values.add(f'"{profile.get("type", "")}"')
        return True

    forbidden = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(_APPARMOR_PREFIX)
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    }

    def is_container_bad(container: Object) -> bool:
        # The API server copies the annotation to a field that is not set.
        if forbidden.get(_APPARMOR_PREFIX + container["name"]) == "unconfined":
            values.add('"Unconfined"')
            return True
        return is_bad(context_of(container))

    found = setters(is_bad(context_of(spec)), failing(spec, is_container_bad))
    annotated = [f'"{key}="{value}""' for key, value in forbidden.items()]
    if annotated:
        found.append(plural(len(annotated), "annotation", "annotations"))
        values.update(annotated)
    if not found:
        return None
    return Violation(
        plural(len(values), "forbidden AppArmor profile", "forbidden AppArmor profiles"),
        f"{' and '.join(found)} must not set AppArmor profile type to {', '.join(sorted(values))}",
    )


def capabilities(_metadata: Object, spec: Object) -> Violation | None:
    """Refuse capabilities beyond the default set."""
    added: set[str] = set()
    bad: list[str] = []
    for container in containers_of(spec):
        extra = set((context_of(container).get("capabilities") or {}).get("add") or ()) - _CAPABILITIES
        if extra:
            bad.append(container["name"])
            added |= extra
    if not bad:
        return None
    detail = f"{titled(bad)} must not include {quoted(sorted(added))} in securityContext.capabilities.add"
    return Violation("non-default capabilities", detail)


def _host_namespaces(_metadata: Object, spec: Object) -> Violation | None:
    used = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    return Violation("host namespaces", ", ".join(used)) if used else None


def host_path(_metadata: Object, spec: Object) -> Violation | None:
    """Refuse hostPath volumes."""
    names = [volume["name"] for volume in spec.get("volumes") or () if volume.get("hostPath") is not None]
    if not names:
        return None
    return Violation("hostPath volumes", f"{plural(len(names), 'volume', 'volumes')} {quoted(names)}")


def _host_ports(_metadata: Object, spec: Object) -> Violation | None:
    ports: set[str] = set()

    def is_bad(container: Object) -> bool:
        found = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        ports.update(found)
        return bool(found)

    bad = failing(spec, is_bad)
    if not bad:
        return None
    uses = plural(len(bad), "uses", "use")
    what = plural(len(ports), "hostPort", "hostPorts")
    return Violation("hostPort", f"{titled(bad)} {uses} {what} {', '.join(sorted(ports))}")


def _handlers(container: Object) -> list[Object]:
    found = [container.get(probe) or {} for probe in _PROBES]
    lifecycle = container.get("lifecycle") or {}
    return [*found, *(lifecycle.get(hook) or {} for hook in _HOOKS)]


def _probe_hosts(_metadata: Object, spec: Object) -> Violation | None:
    hosts: set[str] = set()

    def is_bad(container: Object) -> bool:
        found = {
            host
            for handler in _handlers(container)
            for action in ("httpGet", "tcpSocket")
            if (host := (handler.get(action) or {}).get("host"))
        }
        hosts.update(found)
        return bool(found)

    bad = failing(spec, is_bad)
    if not bad:
        return None
    uses = plural(len(bad), "uses", "use")
    what = plural(len(hosts), "host", "hosts")
    return Violation(
        "probe or lifecycle host", f"{titled(bad)} {uses} probe or lifecycle {what} {quoted(sorted(hosts))}"
    )


def _privileged(_metadata: Object, spec: Object) -> Violation | None:
    bad = failing(spec, lambda container: context_of(container).get("privileged") is True)
    return (
        Violation("privileged", f"{titled(bad)} must not set securityContext.privileged=true")
        if bad
        else None
    )


def proc_mount(_metadata: Object, spec: Object) -> Violation | None:
    """Refuse an unmasked /proc, but to pods in a user namespace of their own."""
    return None if spec.get("hostUsers") is False else proc_mount_always(_metadata, spec)


def proc_mount_always(_metadata: Object, spec: Object) -> Violation | None:
    """Refuse an unmasked /proc."""
    values: set[str] = set()

    def is_bad(container: Object) -> bool:
        value = context_of(container).get("procMount")
        if value in (None, "", "Default"):
            return False
        values.add(value)
        return True

    bad = failing(spec, is_bad)
    if not bad:
        return None
    return Violation(
        "procMount", f"{titled(bad)} must not set securityContext.procMount to {quoted(sorted(values))}"
    )


def _selinux(_metadata: Object, spec: Object) -> Violation | None:
    types: set[str] = set()
    parts: set[str] = set()

    def is_bad(context: Object) -> bool:
        options = context.get("seLinuxOptions")
        if options is None:
            return False
        kind = options.get("type") or ""
        if kind not in _SELINUX_TYPES:
            types.add(kind)
        parts.update(part for part in ("user", "role") if options.get(part))
        return kind not in _SELINUX_TYPES or bool(options.get("user") or options.get("role"))

    found = setters(is_bad(context_of(spec)), failing(spec, lambda entry: is_bad(context_of(entry))))
    if not found:
        return None
    values = [f"{plural(len(types), 'type', 'types')} {quoted(sorted(types))}"] if types else []
    values += [f"{part} may not be set" for part in ("user", "role") if part in parts]
    return Violation(
        "seLinuxOptions",
        f"{' and '.join(found)} set forbidden securityContext.seLinuxOptions: {'; '.join(values)}",
    )


def bad_seccomp(spec: Object) -> Violation | None:
    """Return the violation of those who set a seccomp profile of a type that is not allowed."""
    values: set[str] = set()

    def is_bad(context: Object) -> bool:
        profile = context.get("seccompProfile")
        if profile is None or profile.get("type") in _SECCOMP_TYPES:
            return False
        values.add(profile.get("type", ""))
        return True

    found = setters(is_bad(context_of(spec)), failing(spec, lambda entry: is_bad(context_of(entry))))
    if not found:
        return None
    detail = (
        f"{' and '.join(found)} must not set securityContext.seccompProfile.type to {quoted(sorted(values))}"
    )
    return Violation("seccompProfile", detail)


def seccomp(_metadata: Object, spec: Object) -> Violation | None:
    """Refuse to switch seccomp off."""
    return bad_seccomp(spec)


def _sysctls(_metadata: Object, spec: Object) -> Violation | None:
    names = [
        entry["name"] for entry in context_of(spec).get("sysctls") or () if entry["name"] not in _SYSCTLS
    ]
    return Violation("forbidden sysctls", ", ".join(names)) if names else None


def _host_process(_metadata: Object, spec: Object) -> Violation | None:
    def is_bad(context: Object) -> bool:
        return (context.get("windowsOptions") or {}).get("hostProcess") is True

    found = setters(is_bad(context_of(spec)), failing(spec, lambda entry: is_bad(context_of(entry))))
    if not found:
        return None
    detail = f"{' and '.join(found)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail)


CHECKS: tuple[Check, ...] = (
    _apparmor,
    capabilities,
    _host_namespaces,
    host_path,
    _host_ports,
    _probe_hosts,
    _privileged,
    proc_mount,
    _selinux,
    seccomp,
    _sysctls,
    _host_process,
)
