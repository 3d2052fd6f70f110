"""What a pod asks of its node in all: requests and limits over containers, init containers, sidecars, overhead.

Source: k8s.io/component-helpers resource; tests/golden/l0/pod_resources.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.objects import quantity
from env_core.objects.quantity import Quantity
from env_core.world import Object

Amounts = dict[str, Quantity]


def pod_requests(pod: Object, *, use_status: bool = False) -> Amounts:
    """Return a pod's requests; with `use_status`, what a resize under way still holds counts too."""
    total = _over_containers(pod, "requests", use_status=use_status)
    overhead = _parsed((pod.get("spec") or {}).get("overhead"))
    return added(total, overhead)


def pod_limits(pod: Object, *, use_status: bool = False) -> Amounts:
    """Return a pod's limits; overhead adds to those that are set."""
    total = _over_containers(pod, "limits", use_status=use_status)
    overhead = _parsed((pod.get("spec") or {}).get("overhead"))
    return added(
        total, {name: value for name, value in overhead.items() if name in total and total[name].sign()}
    )


def added(total: Amounts, more: Mapping[str, Quantity]) -> Amounts:
    """Return the sums, name by name."""
    result = dict(total)
    for name, value in more.items():
        result[name] = result[name] + value if name in result else value
    return result


def _larger(total: Amounts, other: Mapping[str, Quantity]) -> Amounts:
    result = dict(total)
    for name, value in other.items():
        if name not in result or value > result[name]:
            result[name] = value
    return result


def _parsed(amounts: Mapping[str, object] | None) -> Amounts:
    return {name: quantity.parse(str(value)) for name, value in (amounts or {}).items()}


def _over_containers(pod: Object, field: str, *, use_status: bool) -> Amounts:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    reported = _statuses(status, "containerStatuses") if use_status else {}
    total: Amounts = {}
    for container in spec.get("containers") or ():
        total = added(total, _of_container(container, field, reported))
    reported = _statuses(status, "initContainerStatuses") if use_status else {}
    sidecars: Amounts = {}
    initial: Amounts = {}
    for container in spec.get("initContainers") or ():
        amounts = _of_container(container, field, reported)
        if container.get("restartPolicy") == "Always":
            total = added(total, amounts)
            sidecars = added(sidecars, amounts)
            initial = _larger(initial, sidecars)
        else:
            initial = _larger(initial, added(amounts, sidecars))
    total = _larger(total, initial)
    whole = _parsed((spec.get("resources") or {}).get(field))
    return {**total, **{name: value for name, value in whole.items() if _is_pod_level(name)}}


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _statuses(status: Object, field: str) -> dict[str, Object]:
    statuses: Iterable[Object] = status.get(field) or ()
    return {each["name"]: each for each in statuses}


def _of_container(container: Object, field: str, reported: dict[str, Object]) -> Amounts:
    amounts = _parsed((container.get("resources") or {}).get(field))
    status = reported.get(container["name"])
    if status is None or status.get("resources") is None:
        return amounts
    amounts = _larger(amounts, _parsed(status["resources"].get(field)))
    return _larger(amounts, _parsed(status.get("allocatedResources"))) if field == "requests" else amounts
