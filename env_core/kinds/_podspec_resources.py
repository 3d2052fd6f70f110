"""Validation of resource requests and limits, of containers and of the pod as a whole.

Source: k8s.io/kubernetes pkg/apis/core/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from functools import lru_cache

from env_core.kinds._field_rules import unsupported
from env_core.objects import names, pod_resources, quantity
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import NOT_FOUND, Problem, duplicate, forbidden, invalid, quoted, required
from env_core.world import Object

HUGE_PAGES = "hugepages-"
_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
_STANDARD = _CONTAINER | {
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
}
_WHOLE = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_POD_LEVEL = ("cpu", HUGE_PAGES, "memory")


def is_native(name: str) -> bool:
    """Tell whether a resource is one of Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Tell whether a resource is an extended one ("example.com/gpu")."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.is_qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Tell whether limits of a resource may exceed requests."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


@lru_cache(maxsize=512)
def _name_complaints(name: str) -> tuple[str, ...]:
    found = list(names.is_qualified_name(name))
    is_huge = name.startswith(HUGE_PAGES)
    if "/" not in name:
        if name not in _STANDARD and not is_huge:
            found.append("must be a standard resource type or fully qualified")
        if name not in _CONTAINER and not is_huge:
            found.append("must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        found.append("doesn't follow extended resource name standard")
    return tuple(found)


def quantity_problems(name: str, text: str, field: str) -> list[Problem]:
    """Check an amount of a resource."""
    amount = quantity.from_value(text)
    found: list[Problem] = []
    if amount.sign() < 0:
        found.append(invalid(field, str(amount), names.NOT_NEGATIVE))
    if (name in _WHOLE or is_extended(name)) and amount.milli_value() % 1000:
        found.append(invalid(field, str(amount), "must be an integer"))
    if name.startswith(HUGE_PAGES):
        page = _page_size(name)
        value = amount.value()
        if page and (value <= 0 or value % page):
            text = f"{amount} is not positive integer multiple of {name}"
            found.append(invalid(field, str(amount), text))
    return found


@lru_cache(maxsize=64)
def _page_size(name: str) -> int:
    try:
        return quantity.parse(name[len(HUGE_PAGES) :]).value()
    except quantity.QuantityError:
        return 0


def container_resource_problems(resources: Object, claims: tuple[str, ...], field: str) -> list[Problem]:
    """Check a container's resources; `claims` are the names of the pod's resource claims."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    found: list[Problem] = []
    for name in sorted(limits):
        path = f"{field}.limits[{name}]"
        found += invalid_each(path, name, _name_complaints(name))
        found += quantity_problems(name, limits[name], path)
    for name in sorted(requests):
        text = requests[name]
        path = f"{field}.requests[{name}]"
        found += invalid_each(path, name, _name_complaints(name))
        found += quantity_problems(name, text, path)
        found += _below_limit(name, text, limits.get(name), field)
    used = [name for name in [*limits, *requests] if name.startswith(HUGE_PAGES)]
    if used and not any(name in ("cpu", "memory") for name in [*limits, *requests]):
        found.append(forbidden(field, "HugePages require cpu or memory"))
    if resources.get("claims"):
        found += _claim_problems(resources["claims"], claims, f"{field}.claims")
    return found


def _below_limit(name: str, text: str, limit: str | None, field: str) -> list[Problem]:
    if limit is None:
        if may_overcommit(name):
            return []
        return [required(f"{field}.limits", "Limit must be set for non overcommitable resources")]
    if text == limit:
        return []
    order = quantity.from_value(text).compare(quantity.from_value(limit))
    shown, most = quantity.canonical(text), quantity.canonical(limit)
    if order != 0 and not may_overcommit(name):
        return [invalid(f"{field}.requests", shown, f"must be equal to {name} limit of {most}")]
    if order > 0:
        return [invalid(f"{field}.requests", shown, f"must be less than or equal to {name} limit of {most}")]
    return []


def _claim_problems(used: list[Object], claims: tuple[str, ...], field: str) -> list[Problem]:
    found: list[Problem] = []
    seen: list[str] = []
    for index, claim in enumerate(used):
        name, request = claim.get("name") or "", claim.get("request") or ""
        path = f"{field}[{index}]"
        key = f"{name}/{request}" if request else name
        if not name:
            found.append(required(path))
        elif key in seen:
            found.append(duplicate(path, key))
        elif name not in claims:
            listed = f": {', '.join(sorted(claims))}" if claims else " which is empty"
            text = f"must be one of the names in pod.spec.resourceClaims{listed}"
            found.append(Problem(NOT_FOUND, path, quoted(name), text))
        seen.append(key)
    return found


def resize_policy_problems(policies: list[Object], pod_restart: str, field: str) -> list[Problem]:
    """Check what resizing each resource does to a container."""
    found: list[Problem] = []
    seen: list[str] = []
    for policy in policies:
        name, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if name in seen:
            found.append(duplicate(field, name))
        seen.append(name)
        if name not in ("cpu", "memory"):
            found.append(unsupported(field, name, ("cpu", "memory")) if name else required(field))
        if not restart:
            found.append(required(field))
        elif restart not in ("NotRequired", "RestartContainer"):
            found.append(unsupported(field, restart, ("NotRequired", "RestartContainer")))
        elif pod_restart == "Never" and restart != "NotRequired":
            text = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            found.append(invalid(field, restart, text))
    return found


def pod_resource_problems(spec: Object, field: str) -> list[Problem]:
    """Check the resources of the pod as a whole against those of its containers."""
    resources = spec.get("resources")
    if resources is None:
        return []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    found: list[Problem] = []
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name in sorted(amounts):
            path = f"{field}.{kind}[{name}]"
            if name not in ("cpu", "memory") and not name.startswith(HUGE_PAGES):
                found.append(unsupported(path, name, _POD_LEVEL))
            found += quantity_problems(name, amounts[name], path)
            if kind == "requests":
                found += _below_limit(name, amounts[name], limits.get(name), field)
    used = pod_resources.container_requests(spec)
    for name in sorted(requests):
        needed = used.get(name)
        if (
            needed is not None
            and quantity.from_value(requests[name]).compare(quantity.from_value(needed)) < 0
        ):
            text = f"must be greater than or equal to aggregate container requests of {quantity.canonical(needed)}"
            found.append(invalid(f"{field}.requests[{name}]", quantity.canonical(requests[name]), text))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, text in sorted(((container.get("resources") or {}).get("limits") or {}).items()):
            most = limits.get(name)
            if most is not None and quantity.from_value(text).compare(quantity.from_value(most)) > 0:
                path = f"spec.containers[{index}].resources.limits"
                detail = f"must be less than or equal to pod limits of {quantity.canonical(most)}"
                found.append(invalid(path, quantity.canonical(text), detail))
    return found
