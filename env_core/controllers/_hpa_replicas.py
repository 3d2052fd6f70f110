"""How many replicas a metric asks for.

Source: k8s.io/kubernetes pkg/controller/podautoscaler/replica_calculator.go; tests/golden/l0/hpa_math.jsonl.gz.
Quantities are in thousandths. `value_replicas` and `average_replicas` are for custom and external metrics, whose APIs no
simulated program serves (`_hpa_metrics` says so); their arithmetic is recorded with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from env_core.objects import conditions, quantity
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

TOLERANCE: Final = 0.1
CPU_INITIALIZATION_MS = 300_000
"""Source: kube-controller-manager --horizontal-pod-autoscaler-cpu-initialization-period."""
INITIAL_READINESS_MS = 30_000
"""Source: kube-controller-manager --horizontal-pod-autoscaler-initial-readiness-delay."""


class MetricError(Exception):
    """A metric that cannot be had, or from which nothing follows."""


class PodMetric(NamedTuple):
    """What one pod uses, and over which time it was measured."""

    value: int
    at_ms: int
    window_ms: int


class Tolerance(NamedTuple):
    """How far the use may be from the target before anything is done."""

    up: float = TOLERANCE
    down: float = TOLERANCE

    def holds(self, ratio: float) -> bool:
        """Whether the ratio of use to target is near enough to one."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


DEFAULT_TOLERANCE: Final = Tolerance()


class Proposal(NamedTuple):
    """A number of replicas and the use that it follows from: per pod, and in percent of the requests."""

    replicas: int
    average: int
    utilization: int = 0


class _Groups(NamedTuple):
    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


def _is_unready(pod: Object, metric: PodMetric, now_ms: int) -> bool:
    """Whether a pod's CPU use is left out because it may still be starting."""
    condition = conditions.get(pod, "Ready")
    started = pod["status"].get("startTime")
    if condition is None or not started:
        return True
    started_ms, changed_ms = parse_ms(started), parse_ms(condition["lastTransitionTime"])
    is_false = condition["status"] == "False"
    if started_ms + CPU_INITIALIZATION_MS > now_ms:
        return is_false or metric.at_ms < changed_ms + metric.window_ms
    return is_false and started_ms + INITIAL_READINESS_MS > changed_ms


def _grouped(pods: Sequence[Object], metrics: Mapping[str, PodMetric], resource: str, now_ms: int) -> _Groups:
    ready = 0
    unready: set[str] = set()
    missing: set[str] = set()
    ignored: set[str] = set()
    for pod in pods:
        name, phase = pod["metadata"]["name"], (pod.get("status") or {}).get("phase")
        if "deletionTimestamp" in pod["metadata"] or phase == "Failed":
            ignored.add(name)
        elif phase == "Pending":
            unready.add(name)
        elif name not in metrics:
            missing.add(name)
        elif resource == "cpu" and _is_unready(pod, metrics[name], now_ms):
            unready.add(name)
        else:
            ready += 1
    return _Groups(ready, frozenset(unready), frozenset(missing), frozenset(ignored))


def _requests(pods: Sequence[Object], resource: str, container: str) -> dict[str, int]:
    return {pod["metadata"]["name"]: _request(pod, resource, container) for pod in pods}


def _request(pod: Object, resource: str, container: str) -> int:
    """Return what a pod requests of a resource: all of its containers that run on, or one of them."""
    spec = pod["spec"]
    whole = ((spec.get("resources") or {}).get("requests") or {}).get(resource)
    if whole is not None and not container:
        return quantity.to_milli(whole)
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    total = 0
    for each in (*spec["containers"], *sidecars):
        if container and each["name"] != container:
            continue
        text = ((each.get("resources") or {}).get("requests") or {}).get(resource)
        if text is None:
            name = pod["metadata"]["name"]
            raise MetricError(f"missing request for {resource} in container {each['name']} of Pod {name}")
        total += quantity.to_milli(text)
    return total


def _utilization(
    values: Mapping[str, int], requests: Mapping[str, int], target: int
) -> tuple[float, int, int]:
    """Return use over target, the use in percent of the requests, and its mean."""
    known = [name for name in values if name in requests]
    total, requested = sum(values[name] for name in known), sum(requests[name] for name in known)
    if requested == 0:
        raise MetricError("no metrics returned matched known pods")
    percent = total * 100 // requested
    return percent / target, percent, total // len(known)


def _usage(values: Mapping[str, int], target: int) -> tuple[float, int]:
    average = sum(values.values()) // len(values)
    return average / target, average


def resource_replicas(
    current: int,
    target: int,
    resource: str,
    container: str,
    metrics: Mapping[str, PodMetric],
    pods: Sequence[Object],
    now_ms: int,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Proposal:
    """Return what a target in percent of the pods' requests asks for; `container` is "" for whole pods.

    Raises:
        MetricError: with the controller's text.
    """
    groups, values = _measured(pods, metrics, resource, now_ms)
    requests = _requests(pods, resource, container)
    if not values:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    ratio, percent, average = _utilization(values, requests, target)
    rebalances = bool(groups.unready) and ratio > 1.0
    if not rebalances and not groups.missing:
        replicas = current if tolerance.holds(ratio) else math.ceil(ratio * groups.ready)
        return Proposal(replicas, average, percent)
    if ratio < 1.0:
        # Scaling down, a pod without metrics counts as one that uses all that it may.
        fallback = max(100, target)
        values |= {name: requests[name] * fallback // 100 for name in sorted(groups.missing)}
    elif ratio > 1.0:
        values |= dict.fromkeys(sorted(groups.missing), 0)
    if rebalances:
        values |= dict.fromkeys(sorted(groups.unready), 0)
    again, _, _ = _utilization(values, requests, target)
    return Proposal(_reconsidered(current, ratio, again, len(values), tolerance), average, percent)


def _measured(
    pods: Sequence[Object], metrics: Mapping[str, PodMetric], resource: str, now_ms: int
) -> tuple[_Groups, dict[str, int]]:
    if not pods:
        raise MetricError("no pods returned by selector while calculating replica count")
    groups = _grouped(pods, metrics, resource, now_ms)
    left_out = groups.unready | groups.ignored
    return groups, {name: metric.value for name, metric in metrics.items() if name not in left_out}


def _reconsidered(current: int, ratio: float, again: float, count: int, tolerance: Tolerance) -> int:
    """Return the replicas after pods without metrics got assumed ones, unless these turn the direction."""
    if tolerance.holds(again) or (ratio < 1.0 < again) or (again < 1.0 < ratio):
        return current
    replicas = math.ceil(again * count)
    if (again < 1.0 and replicas > current) or (again > 1.0 and replicas < current):
        return current
    return replicas


def plain_replicas(
    current: int,
    target: int,
    metrics: Mapping[str, PodMetric],
    pods: Sequence[Object],
    now_ms: int,
    *,
    resource: str = "",
    tolerance: Tolerance = DEFAULT_TOLERANCE,
) -> Proposal:
    """Return what a target per pod asks for; `resource` is "" for other metrics than resources.

    Raises:
        MetricError: with the controller's text.
    """
    groups, values = _measured(pods, metrics, resource, now_ms)
    if not values:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    ratio, average = _usage(values, target)
    rebalances = bool(groups.unready) and ratio > 1.0
    if not rebalances and not groups.missing:
        return Proposal(current if tolerance.holds(ratio) else math.ceil(ratio * groups.ready), average)
    values |= dict.fromkeys(sorted(groups.missing), target if ratio < 1.0 else 0)
    if rebalances:
        values |= dict.fromkeys(sorted(groups.unready), 0)
    again, _ = _usage(values, target)
    return Proposal(_reconsidered(current, ratio, again, len(values), tolerance), average)


def value_replicas(
    current: int, target: int, value: int, pods: Sequence[Object], tolerance: Tolerance = DEFAULT_TOLERANCE
) -> Proposal:
    """Return what a target for a metric as a whole asks for (of an object, or external).

    Raises:
        MetricError: with the controller's text.
    """
    ratio = value / target
    if current == 0:
        return Proposal(math.ceil(ratio), value)
    if tolerance.holds(ratio):
        return Proposal(current, value)
    if not pods:
        text = "no pods returned by selector while calculating replica count"
        raise MetricError(f"unable to calculate ready pods: {text}")
    ready = sum(pod["status"].get("phase") == "Running" and conditions.is_true(pod, "Ready") for pod in pods)
    return Proposal(math.ceil(ratio * ready), value)


def average_replicas(
    status_replicas: int, target: int, value: int, tolerance: Tolerance = DEFAULT_TOLERANCE
) -> Proposal:
    """Return what a target per replica for a metric as a whole asks for."""
    replicas = status_replicas
    ratio = value / (target * replicas) if replicas else math.inf
    if not tolerance.holds(ratio):
        replicas = math.ceil(value / target)
    return Proposal(replicas, math.ceil(value / status_replicas) if status_replicas else 0)
