"""What a pod requests and may use in all, and the quality-of-service class that follows from it.

Source: k8s.io/component-helpers resource and k8s.io/kubernetes pkg/apis/core/helper/qos; recorded in
tests/golden/l0/pod_resources.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from env_core.objects import quantity
from env_core.objects.quantity import Quantity
from env_core.world import Object

Amounts = dict[str, Quantity]

_COMPUTE = ("cpu", "memory")


def _amounts(resources: Mapping[str, Any] | None, kind: str) -> Amounts:
    listed = (resources or {}).get(kind) or {}
    return {name: quantity.from_value(text) for name, text in listed.items()}


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise(total: Amounts, other: Amounts) -> None:
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def _of_containers(spec: Object, kind: str) -> Amounts:
    """Sum containers, then raise to what init containers need one by one beside the sidecars before them."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        resources = container.get("resources")
        if resources:
            _add(total, _amounts(resources, kind))
    starting = spec.get("initContainers")
    if not starting:
        return total
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in starting:
        used = _amounts(container.get("resources"), kind)
        if container.get("restartPolicy") == "Always":
            _add(total, used)
            _add(sidecars, used)
            used = dict(sidecars)
        else:
            _add(used, sidecars)
        _raise(most, used)
    _raise(total, most)
    return total


def _texts(amounts: Amounts) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}


def container_requests(spec: Object) -> dict[str, str]:
    """Return what the containers of a pod request together, pod-level resources and overhead left out."""
    return _texts(_of_containers(spec, "requests"))


def _is_pod_level(name: str) -> bool:
    return name in _COMPUTE or name.startswith("hugepages-")


def pod_requests(spec: Object, *, has_overhead: bool = True) -> dict[str, str]:
    """Return what a pod requests, as quantities by resource; pod-level requests replace their containers'."""
    return dict(_requests_of(_key(spec), has_overhead))


def _key(spec: Object) -> bytes:
    """Return the text of all of a spec that decides what it requests."""
    starting = spec.get("initContainers")
    return orjson.dumps(
        {
            "containers": [{"resources": entry.get("resources")} for entry in spec.get("containers") or ()],
            "initContainers": [
                {"resources": entry.get("resources"), "restartPolicy": entry.get("restartPolicy")}
                for entry in starting
            ]
            if starting
            else None,
            "resources": spec.get("resources"),
            "overhead": spec.get("overhead"),
        }
    )


@lru_cache(maxsize=2048)
def _requests_of(text: bytes, has_overhead: bool) -> dict[str, str]:
    spec = orjson.loads(text)
    total = _of_containers(spec, "requests")
    for name, amount in _amounts(spec.get("resources"), "requests").items():
        if _is_pod_level(name):
            total[name] = amount
    if has_overhead and spec.get("overhead"):
        _add(total, _amounts(spec, "overhead"))
    return _texts(total)


def pod_limits(spec: Object, *, has_overhead: bool = True) -> dict[str, str]:
    """Return what a pod may use, as quantities by resource; overhead only adds to limits that exist."""
    total = _of_containers(spec, "limits")
    for name, amount in _amounts(spec.get("resources"), "limits").items():
        if _is_pod_level(name):
            total[name] = amount
    if has_overhead and spec.get("overhead"):
        for name, amount in _amounts(spec, "overhead").items():
            if name in total:
                total[name] = total[name] + amount
    return _texts(total)


def qos_class(spec: Object) -> str:
    """Return the quality-of-service class of a pod with this spec."""
    if spec.get("resources"):
        parts = [spec["resources"]]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        parts = [container.get("resources") for container in containers]
    return _qos_class_of(orjson.dumps(parts))


@lru_cache(maxsize=1024)
def _qos_class_of(text: bytes) -> str:
    """Return the class for a list of resource requirements, kept by its text."""
    requests: Amounts = {}
    limits: Amounts = {}
    is_guaranteed = True
    for resources in orjson.loads(text):
        if not resources:
            is_guaranteed = False
            continue
        found = []
        for kind, total in (("requests", requests), ("limits", limits)):
            used = _amounts(resources, kind)
            for name in _COMPUTE:
                if name in used and used[name].sign() > 0:
                    _add(total, {name: used[name]})
                    if kind == "limits":
                        found.append(name)
        if len(found) != len(_COMPUTE):
            is_guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    if is_guaranteed and len(requests) == len(limits):
        if all(requests[name].equals(limits[name]) for name in requests if name in limits):
            if all(name in limits for name in requests):
                return "Guaranteed"
    return "Burstable"
