"""What a LimitRange says of a pod or a claim that is too small, too big or too elastic.

Source: tests/golden/l0/limit_ranger.jsonl.gz; k8s.io/kubernetes plugin/pkg/admission/limitranger. Upstream walks
Go maps, so the order of resources within one rule is random there; here it is alphabetical.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from env_core.objects import pod_resources, quantity
from env_core.objects.quantity import Quantity
from env_core.world import Object

_MILLI_MAX = (2**63 - 1) // 1000

Amounts = Mapping[str, Any]


def pod_problems(limit_range: Object, pod: Object) -> list[str]:
    """Return what the limits of types Container and Pod have against a pod, without repeats."""
    spec = pod["spec"]
    found: list[str] = []
    for limit in limit_range["spec"].get("limits") or ():
        if limit.get("type") == "Container":
            for group in ("containers", "initContainers"):
                for container in spec.get(group) or ():
                    resources = container.get("resources") or {}
                    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
                    found += _rule_problems(limit, requests, limits)
        elif limit.get("type") == "Pod":
            requests = pod_resources.pod_requests(spec, has_overhead=False)
            limits = pod_resources.pod_limits(spec, has_overhead=False)
            found += _rule_problems(limit, requests, limits)
    return list(dict.fromkeys(found))


def claim_problems(limit_range: Object, claim: Object) -> list[str]:
    """Return what the limits of type PersistentVolumeClaim have against a claim, without repeats."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    found: list[str] = []
    for limit in limit_range["spec"].get("limits") or ():
        if limit.get("type") == "PersistentVolumeClaim":
            for name, bound in sorted((limit.get("min") or {}).items()):
                found += _below(name, "PersistentVolumeClaim", bound, requests, {})
            for name, bound in sorted((limit.get("max") or {}).items()):
                found += _request_above(name, "PersistentVolumeClaim", bound, requests)
    return list(dict.fromkeys(found))


def _rule_problems(limit: Object, requests: Amounts, limits: Amounts) -> list[str]:
    kind = limit["type"]
    found: list[str] = []
    for name, bound in sorted((limit.get("min") or {}).items()):
        found += _below(name, kind, bound, requests, limits)
    for name, bound in sorted((limit.get("max") or {}).items()):
        found += _above(name, kind, bound, requests, limits)
    for name, bound in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
        found += _elastic(name, kind, bound, requests, limits)
    return found


def _is_more(first: Any, second: Any) -> bool:
    return quantity.from_value(first) > quantity.from_value(second)


def _below(name: str, kind: str, bound: Any, requests: Amounts, limits: Amounts) -> list[str]:
    start = f"minimum {name} usage per {kind} is {quantity.canonical(bound)}"
    if name not in requests:
        return [f"{start}.  No request is specified"]
    if _is_more(bound, requests[name]):
        return [f"{start}, but request is {quantity.canonical(requests[name])}"]
    if name in limits and _is_more(bound, limits[name]):
        return [f"{start}, but limit is {quantity.canonical(limits[name])}"]
    return []


def _above(name: str, kind: str, bound: Any, requests: Amounts, limits: Amounts) -> list[str]:
    start = f"maximum {name} usage per {kind} is {quantity.canonical(bound)}"
    if name not in limits:
        return [f"{start}.  No limit is specified"]
    if _is_more(limits[name], bound):
        return [f"{start}, but limit is {quantity.canonical(limits[name])}"]
    if name in requests and _is_more(requests[name], bound):
        return [f"{start}, but request is {quantity.canonical(requests[name])}"]
    return []


def _request_above(name: str, kind: str, bound: Any, requests: Amounts) -> list[str]:
    start = f"maximum {name} usage per {kind} is {quantity.canonical(bound)}"
    if name not in requests:
        return [f"{start}.  No request is specified"]
    if _is_more(requests[name], bound):
        return [f"{start}, but request is {quantity.canonical(requests[name])}"]
    return []


def _elastic(name: str, kind: str, bound: Any, requests: Amounts, limits: Amounts) -> list[str]:
    start = f"{name} max limit to request ratio per {kind} is {quantity.canonical(bound)}"
    amounts = [quantity.from_value(listed[name]) for listed in (requests, limits) if name in listed]
    wanted = quantity.from_value(bound)
    has_fractions = all(amount.value() <= _MILLI_MAX for amount in (*amounts, wanted))
    request = _number(requests.get(name), has_fractions=has_fractions)
    if not request:
        return [f"{start}, but no request is specified or request is 0"]
    limit = _number(limits.get(name), has_fractions=has_fractions)
    if not limit:
        return [f"{start}, but no limit is specified or limit is 0"]
    ratio = limit / request
    is_small = wanted.value() <= _MILLI_MAX
    is_over = ratio * 1000 > wanted.milli_value() if is_small else ratio > wanted.value()
    return [f"{start}, but provided ratio is {ratio:.6f}"] if is_over else []


def _number(amount: Any, *, has_fractions: bool) -> int:
    if amount is None:
        return 0
    found: Quantity = quantity.from_value(amount)
    return found.milli_value() if has_fractions else found.value()
