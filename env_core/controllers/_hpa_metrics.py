"""What each metric of an autoscaler asks for, read through the APIs of metrics.

Source: k8s.io/kubernetes pkg/controller/podautoscaler/horizontal.go (computeStatusFor…) and metrics/client.go;
tests/golden/l2/flows (ids hpa-). No API of custom or external metrics is served, and the answers say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _hpa_replicas as replicas_for
from env_core.controllers._hpa_replicas import MetricError, PodMetric, Proposal, Tolerance
from env_core.controllers._selector_text import go_text
from env_core.objects import quantity
from env_core.sim.timefmt import parse_go_duration, parse_ms
from env_core.world import Object

POD_METRICS = "pods.metrics.k8s.io"
_NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"


class MetricFailed(Exception):
    """A metric that gives no number of replicas: the condition's reason and text, and the text for the whole."""

    def __init__(self, reason: str, text: str, whole: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.whole = whole


class Target(NamedTuple):
    """What is scaled, as the metrics need it."""

    namespace: str
    current: int
    selector: str
    pods: Sequence[Object]
    tolerance: Tolerance


class Computed(NamedTuple):
    """What a metric asks for, what to call it, and its entry in the status."""

    replicas: int
    name: str
    status: Object


def computed(component: Component, target: Target, metric: Object) -> Computed:
    """Return what one metric asks for.

    Raises:
        MetricFailed: with the controller's texts.
    """
    found = _READERS.get(metric["type"])
    if found is None:
        text = f'unknown metric source type "{metric["type"]}"'
        raise MetricFailed("InvalidMetricSourceType", text, text)
    return found(component, target, metric)


def _resource(component: Component, target: Target, metric: Object) -> Computed:
    source = metric["resource"]
    name = source["name"]
    wanted = source["target"]
    try:
        proposal = _by_resource(component, target, name, "", wanted)
    except MetricError as error:
        whole = f"failed to get {name} resource metric value: {error}"
        raise MetricFailed("FailedGetResourceMetric", str(error), whole) from error
    label, current = _labelled(f"{name} resource", name, wanted, proposal)
    status = {"type": "Resource", "resource": {"name": name, "current": current}}
    return Computed(proposal.replicas, label, status)


def _container_resource(component: Component, target: Target, metric: Object) -> Computed:
    source = metric["containerResource"]
    name, container, wanted = source["name"], source["container"], source["target"]
    try:
        proposal = _by_resource(component, target, name, container, wanted)
    except MetricError as error:
        whole = f"failed to get {container} container metric value: {error}"
        raise MetricFailed("FailedGetContainerResourceMetric", str(error), whole) from error
    label, current = _labelled(f"{name} container resource", name, wanted, proposal)
    row = {"name": name, "container": container, "current": current}
    return Computed(proposal.replicas, label, {"type": "ContainerResource", "containerResource": row})


def _labelled(label: str, resource: str, wanted: Object, proposal: Proposal) -> tuple[str, Object]:
    """Return the metric's name, and its current value."""
    format_ = quantity.Format.BINARY_SI if resource == "memory" else quantity.Format.DECIMAL_SI
    current: Object = {"averageValue": str(quantity.from_milli(proposal.average, format_))}
    if wanted.get("averageValue") is None:
        current["averageUtilization"] = proposal.utilization
        return f"{label} utilization (percentage of request)", current
    return label, current


def _by_resource(
    component: Component, target: Target, resource: str, container: str, wanted: Object
) -> Proposal:
    is_raw = wanted.get("averageValue") is not None
    prefix = f"failed to get {resource} {'usage' if is_raw else 'utilization'}: "
    try:
        metrics = _pod_metrics(component, target, resource, container)
    except MetricError as error:
        raise MetricError(f"{prefix}unable to get metrics for resource {resource}: {error}") from error
    current, pods, now_ms = target.current, target.pods, component.now_ms
    try:
        if is_raw:
            milli = quantity.to_milli(wanted["averageValue"])
            return replicas_for.plain_replicas(
                current, milli, metrics, pods, now_ms, resource=resource, tolerance=target.tolerance
            )
        return replicas_for.resource_replicas(
            current,
            wanted["averageUtilization"],
            resource,
            container,
            metrics,
            pods,
            now_ms,
            target.tolerance,
        )
    except MetricError as error:
        raise MetricError(f"{prefix}{error}") from error


def _pod_metrics(component: Component, target: Target, resource: str, container: str) -> dict[str, PodMetric]:
    try:
        items = component.api.list(POD_METRICS, target.namespace, label_selector=target.selector)
    except StatusError as error:
        raise MetricError(f"unable to fetch metrics from resource metrics API: {error}") from error
    if not items:
        raise MetricError("no metrics returned from resource metrics API")
    found = {}
    for item in items:
        name = item["metadata"]["name"]
        value = _used(item, resource, container)
        if value is not None:
            found[name] = PodMetric(value, parse_ms(item["timestamp"]), parse_go_duration(item["window"]))
    return found


def _used(item: Object, resource: str, container: str) -> int | None:
    """Return what a pod, or one of its containers, uses, in thousandths; None when a measurement is missing."""
    rows = item["containers"]
    if container:
        rows = [row for row in rows if row["name"] == container]
        if not rows:
            name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
            raise MetricError(f"container {container} not present in metrics for pod {namespace}/{name}")
    total = 0
    for row in rows:
        text = row["usage"].get(resource)
        if text is None:
            return None
        total += quantity.to_milli(text)
    return total


def _pods(_component: Component, _target: Target, metric: Object) -> Computed:
    text = f"unable to get metric {metric['pods']['metric']['name']}: {_NO_CUSTOM}"
    raise MetricFailed("FailedGetPodsMetric", text, f"failed to get pods metric value: {text}")


def _object(_component: Component, target: Target, metric: Object) -> Computed:
    source = metric["object"]
    described = source["describedObject"]
    about = f"{described['kind']} {target.namespace}/{described['name']}"
    text = f"unable to get metric {source['metric']['name']} on {about}: {_NO_CUSTOM}"
    is_average = source["target"].get("averageValue") is not None
    more = f"failed to get {source['metric']['name']} object metric: " if is_average else ""
    raise MetricFailed("FailedGetObjectMetric", text, f"failed to get object metric value: {more}{text}")


def _external(_component: Component, target: Target, metric: Object) -> Computed:
    source = metric["external"]
    name = source["metric"]["name"]
    selector = source["metric"].get("selector")
    shown = "nil" if selector is None else go_text(selector)
    problem = f"the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
    text = (
        f"unable to get external metric {target.namespace}/{name}/{shown}: "
        f"unable to fetch metrics from external metrics API: {problem}"
    )
    is_average = source["target"].get("averageValue") is not None
    more = f"{name} external metric" if is_average else f"external metric {name}"
    whole = f"failed to get {name} external metric value: failed to get {more}: {text}"
    raise MetricFailed("FailedGetExternalMetric", text, whole)


_READERS: dict[str, Callable[[Component, Target, Object], Computed]] = {
    "Resource": _resource,
    "ContainerResource": _container_resource,
    "Pods": _pods,
    "Object": _object,
    "External": _external,
}
