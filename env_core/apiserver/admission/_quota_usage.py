"""What an object uses of a quota, and whether a quota is about it: the evaluators of the quota system.

Source: tests/golden/l0/resource_quota.jsonl.gz; k8s.io/kubernetes pkg/quota/v1/evaluator/core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.objects import pod_resources, quantity
from env_core.objects.quantity import Quantity
from env_core.world import Object

Usage = dict[str, Quantity]

_ONE = quantity.from_units(1)
_ZERO = quantity.from_units(0)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_POD_RESOURCES = frozenset(
    (
        "count/pods",
        "pods",
        *_COMPUTE,
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE),
    )
)
_MUST_SPECIFY = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))
_SERVICE_RESOURCES = frozenset(("count/services", "services", "services.nodeports", "services.loadbalancers"))
_CLASS_SUFFIX = ".storageclass.storage.k8s.io/"
_CLAIM_RESOURCES = ("persistentvolumeclaims", "requests.storage")
_COUNTED_BY_NAME = ("configmaps", "secrets", "replicationcontrollers", "resourcequotas")
_NATIVE_DOMAIN = "kubernetes.io/"
_SCOPE_OPERATORS = {"In": True, "NotIn": False}


def usage(resource: str, obj: Object) -> Usage:
    """Return what an object of a group-qualified plural counts for, by quota resource name."""
    if resource == "pods":
        return _pod_usage(obj)
    if resource == "services":
        return _service_usage(obj)
    if resource == "persistentvolumeclaims":
        return _claim_usage(obj)
    counted = {f"count/{resource}": _ONE}
    if resource in _COUNTED_BY_NAME:
        counted[resource] = _ONE
    return counted


def tracked(resource: str, names: Iterable[str]) -> list[str]:
    """Return those quota resource names that objects of a resource can use."""
    return [name for name in names if _is_tracked(resource, name)]


def _is_tracked(resource: str, name: str) -> bool:
    if resource == "pods":
        return (
            name in _POD_RESOURCES
            or name.startswith(("hugepages-", "requests.hugepages-"))
            or _is_extended_request(name)
        )
    if resource == "services":
        return name in _SERVICE_RESOURCES
    if resource == "persistentvolumeclaims":
        return (
            name in _CLAIM_RESOURCES
            or name == "count/persistentvolumeclaims"
            or any(name.endswith(_CLASS_SUFFIX + kind) for kind in _CLAIM_RESOURCES)
        )
    return name == f"count/{resource}" or (resource in _COUNTED_BY_NAME and name == resource)


def _is_extended_request(name: str) -> bool:
    bare = name.removeprefix("requests.")
    return bare != name and "/" in bare and _NATIVE_DOMAIN not in bare and _CLASS_SUFFIX not in bare


def covers(quota: Object, resource: str, obj: Object) -> bool:
    """Say whether a quota (by its `status.hard` and its scopes) is about an object."""
    hard = (quota.get("status") or {}).get("hard") or {}
    if not tracked(resource, hard):
        return False
    spec = quota.get("spec") or {}
    selectors = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    selectors += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(resource == "pods" and _in_scope(selector, obj) for selector in selectors)


def _in_scope(selector: Object, pod: Object) -> bool:
    spec = pod["spec"]
    scope = selector["scopeName"]
    if scope in ("Terminating", "NotTerminating"):
        deadline = spec.get("activeDeadlineSeconds")
        is_bounded = deadline is not None and int(deadline) >= 0
        return is_bounded == bool(scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return (pod_resources.qos_class(spec) == "BestEffort") is bool(scope == "BestEffort")
    if scope == "PriorityClass":
        return _priority_in(selector, spec.get("priorityClassName") or "")
    return scope == "CrossNamespacePodAffinity" and _crosses_namespaces(spec)


def _priority_in(selector: Object, name: str) -> bool:
    operator = selector.get("operator")
    if operator == "Exists":
        return bool(name)
    if operator == "DoesNotExist":
        return not name
    is_listed = bool(name) and name in (selector.get("values") or ())
    return is_listed if _SCOPE_OPERATORS.get(operator or "", True) else not is_listed


def _crosses_namespaces(spec: Object) -> bool:
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        terms += [
            entry.get("podAffinityTerm") or {}
            for entry in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def unspecified(names: Iterable[str], pod: Object) -> str:
    """Return `must specify limits.cpu for: app; …` when containers leave out what quotas demand; "" if not."""
    demanded = sorted(_MUST_SPECIFY.intersection(names))
    if not demanded:
        return ""
    spec = pod["spec"]
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        given = _compute(resources.get("requests") or {}, resources.get("limits") or {})
        for name in demanded:
            if name not in given:
                missing.setdefault(name, set()).add(container["name"])
    parts = [f"{name} for: {','.join(sorted(missing[name]))}" for name in demanded if name in missing]
    return f"must specify {'; '.join(parts)}" if parts else ""


def _compute(requests: Mapping[str, str], limits: Mapping[str, str]) -> Usage:
    found: Usage = {"pods": _ONE}
    for name, text in requests.items():
        amount = quantity.from_value(text)
        if name in _COMPUTE or name.startswith("hugepages-"):
            found[name] = amount
            found[f"requests.{name}"] = amount
        elif "/" in name and _NATIVE_DOMAIN not in name:
            found[f"requests.{name}"] = amount
    for name, text in limits.items():
        if name in _COMPUTE:
            found[f"limits.{name}"] = quantity.from_value(text)
    return found


def _pod_usage(pod: Object) -> Usage:
    counted = {"count/pods": _ONE}
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return counted
    spec = pod["spec"]
    return {**counted, **_compute(pod_resources.pod_requests(spec), pod_resources.pod_limits(spec))}


def _service_usage(service: Object) -> Usage:
    spec = service["spec"]
    ports = spec.get("ports") or ()
    kind = spec.get("type")
    on_nodes = 0
    if kind == "NodePort":
        on_nodes = len(ports)
    elif kind == "LoadBalancer":
        is_given = spec.get("allocateLoadBalancerNodePorts") is False
        on_nodes = sum(1 for port in ports if not is_given or port.get("nodePort"))
    return {
        "count/services": _ONE,
        "services": _ONE,
        "services.nodeports": quantity.from_units(on_nodes),
        "services.loadbalancers": _ONE if kind == "LoadBalancer" else _ZERO,
    }


def _claim_usage(claim: Object) -> Usage:
    spec = claim["spec"]
    found: Usage = {"count/persistentvolumeclaims": _ONE, "persistentvolumeclaims": _ONE}
    annotated = (claim["metadata"].get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    chosen = annotated or spec.get("storageClassName")
    if chosen:
        found[f"{chosen}{_CLASS_SUFFIX}persistentvolumeclaims"] = _ONE
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is not None:
        amount = quantity.from_value(size)
        found["requests.storage"] = amount
        if chosen:
            found[f"{chosen}{_CLASS_SUFFIX}requests.storage"] = amount
    return found
