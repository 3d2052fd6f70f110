"""Debugging profiles: what they make of a pod and its debug container.

Source: k8s.io/kubectl pkg/cmd/debug profiles.go; tests/golden/l2/flows/debug-variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.world import Object

PROFILES = ("legacy", "general", "baseline", "restricted", "netadmin", "sysadmin")
EPHEMERAL, COPY, NODE = "ephemeral", "copy", "node"
_PARTS = ("initContainers", "containers", "ephemeralContainers")
_PROBES = (("livenessProbe", "liveness"), ("readinessProbe", "readiness"), ("startupProbe", "startup"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """What a copied pod keeps of the original."""

    labels: bool = False
    annotations: bool = False
    liveness: bool = False
    readiness: bool = False
    startup: bool = False
    init_containers: bool = True


def with_profile(profile: str, pod: Object, container: str, style: str, keep: Keep) -> Object:
    """Return the pod with a profile applied to its debug container; `style` is ephemeral, copy or node."""
    if profile == "legacy":
        if style == NODE:
            return _with_host_namespaces(_with_root_mounted(pod, container))
        return _without(pod, "labels") if style == COPY else pod
    if profile in ("baseline", "restricted") or (profile == "general" and style == NODE):
        pod = _changed(pod, container, lambda one: _drop(one, "securityContext"))
    if profile == "restricted":
        pod = _changed(pod, container, _restricted)
    elif profile == "netadmin":
        pod = _changed(pod, container, lambda one: _with_capabilities(one, "NET_ADMIN", "NET_RAW"))
    elif profile == "sysadmin":
        pod = _changed(pod, container, lambda one: _with_security(one, privileged=True))
    if style == NODE:
        if profile in ("general", "sysadmin"):
            pod = _with_root_mounted(pod, container)
        return _with_host_namespaces(pod) if profile in ("general", "netadmin", "sysadmin") else pod
    if style == COPY:
        pod = _stripped(pod, keep)
    if profile == "general":
        pod = _changed(pod, container, lambda one: _with_capabilities(one, "SYS_PTRACE"))
    if style == COPY:
        pod = _with_spec(pod, shareProcessNamespace=pod["spec"].get("shareProcessNamespace", True))
    return pod


def _with_spec(pod: Object, **fields: object) -> Object:
    return {**pod, "spec": {**pod["spec"], **fields}}


def _drop(obj: Object, key: str) -> Object:
    return {name: value for name, value in obj.items() if name != key}


def _without(pod: Object, field: str) -> Object:
    return {**pod, "metadata": _drop(pod["metadata"], field)}


def _changed(pod: Object, container: str, change: Callable[[Object], Object]) -> Object:
    """Return the pod with the first container of that name changed."""
    for part in _PARTS:
        items = pod["spec"].get(part) or []
        for index, item in enumerate(items):
            if item["name"] == container:
                return _with_spec(pod, **{part: [*items[:index], change(item), *items[index + 1 :]]})
    return pod


def _with_security(container: Object, **fields: object) -> Object:
    return {**container, "securityContext": {**(container.get("securityContext") or {}), **fields}}


def _with_capabilities(container: Object, *names: str) -> Object:
    capabilities = (container.get("securityContext") or {}).get("capabilities") or {}
    added = [*(capabilities.get("add") or ()), *names]
    return _with_security(container, capabilities={**capabilities, "add": added})


def _restricted(container: Object) -> Object:
    return _with_security(
        container,
        runAsNonRoot=True,
        capabilities={"drop": ["ALL"]},
        allowPrivilegeEscalation=False,
        seccompProfile={"type": "RuntimeDefault"},
    )


def _stripped(pod: Object, keep: Keep) -> Object:
    if not keep.labels:
        pod = _without(pod, "labels")
    if not keep.annotations:
        pod = _without(pod, "annotations")
    unwanted = [probe for probe, flag in _PROBES if not getattr(keep, flag)]
    containers = [
        {name: value for name, value in item.items() if name not in unwanted}
        for item in pod["spec"]["containers"]
    ]
    pod = _with_spec(pod, containers=containers)
    return pod if keep.init_containers else {**pod, "spec": _drop(pod["spec"], "initContainers")}


def _with_root_mounted(pod: Object, container: str) -> Object:
    volume = {"name": "host-root", "hostPath": {"path": "/"}}
    mount = {"mountPath": "/host", "name": "host-root"}
    pod = _with_spec(pod, volumes=[*(pod["spec"].get("volumes") or ()), volume])
    return _changed(
        pod, container, lambda one: {**one, "volumeMounts": [*(one.get("volumeMounts") or ()), mount]}
    )


def _with_host_namespaces(pod: Object) -> Object:
    return _with_spec(pod, hostNetwork=True, hostPID=True, hostIPC=True)
