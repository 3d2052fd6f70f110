"""Horizontal pod autoscalers: as many replicas as the metrics ask for, within limits.

Source: k8s.io/kubernetes pkg/controller/podautoscaler/horizontal.go; tests/golden/l2/flows (ids hpa-),
tests/golden/l0/hpa_math.jsonl.gz.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.controllers import _hpa_limits as limits
from env_core.controllers._hpa_limits import Past
from env_core.controllers._hpa_metrics import Computed, MetricFailed, Target, computed
from env_core.controllers._hpa_replicas import TOLERANCE, Tolerance
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS
from env_core.objects import conditions, quantity
from env_core.objects.selectors import SelectorError, parse_labels
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

RESOURCE = "horizontalpodautoscalers.autoscaling"
SYNC_MS = 15_000
"""Source: kube-controller-manager --horizontal-pod-autoscaler-sync-period."""
_LOOK_MS = 30
"""What a look takes, by which the next one is later: recorded periods are that much longer than the period asked for."""
_DUE, _PAST, _SELECTORS = "due", "past", "selectors"
_WHOLE_TYPES = ("Object", "External")


class _Unresolved(Exception):
    """What is to be scaled cannot be found."""


class _NotComputed(Exception):
    """No number of replicas follows from the metrics."""


class _Scaled(NamedTuple):
    """What is scaled: its kind, its own name, and its Scale."""

    kind: Kind
    name: str
    scale: Object

    @property
    def replicas(self) -> int:
        """How many replicas it should have."""
        return int(self.scale["spec"].get("replicas") or 0)

    @property
    def selector(self) -> str:
        """What selects its pods."""
        return str((self.scale.get("status") or {}).get("selector") or "")


class _Decision(NamedTuple):
    """How many replicas there should be, and why."""

    replicas: int
    reason: str


class _Review:
    """One look at one autoscaler, and its status as it becomes."""

    def __init__(self, component: Component, key: Key, hpa: Object) -> None:
        self.component = component
        self.key = key
        self.hpa = hpa
        self.spec: Object = hpa["spec"]
        self.minimum = int(self.spec.get("minReplicas", 1))
        self.maximum = int(self.spec["maxReplicas"])
        self.status: Object = dict(hpa.get("status") or {})
        self.now_ms = component.now_ms

    def condition(self, type_: str, status: str, reason: str, message: str) -> None:
        """Set a condition."""
        rows = self.status.get("conditions")
        self.status["conditions"] = conditions.set_in(
            rows, type_, status, reason, message, now_ms=self.now_ms
        )

    def warn(self, reason: str, message: str) -> None:
        """Record a warning."""
        self.component.recorder.event(self.hpa, "Warning", reason, message)

    def past(self) -> Past:
        """Return what is remembered."""
        return self.component.table(_PAST).get(self.key) or Past()

    def remember(self, past: Past) -> None:
        """Remember another past."""
        self.component.table(_PAST)[self.key] = past

    def counted(self, current: int, desired: int) -> None:
        """Set the numbers of replicas."""
        self.status["observedGeneration"] = self.hpa["metadata"].get("generation", 1)
        self.status["desiredReplicas"] = desired
        self.status.pop("currentReplicas", None)
        if current:
            self.status["currentReplicas"] = current

    def write(self) -> None:
        """Write the status if it has changed."""
        if self.status != (self.hpa.get("status") or {}):
            self.component.api.update_status(
                RESOURCE, self.key.namespace, {**self.hpa, "status": self.status}
            )


def _reconcile(component: Component, key: Key) -> Requeue | None:
    hpa = component.cache.get(RESOURCE, *key)
    due = component.table(_DUE)
    if hpa is None:
        for name in (_DUE, _PAST, _SELECTORS):
            component.table(name).pop(key)
        return None
    now_ms = component.now_ms
    due_ms = due.get(key)
    if due_ms is not None and now_ms < due_ms:
        return Requeue(due_ms - now_ms)
    due[key] = now_ms + SYNC_MS + _LOOK_MS
    review = _Review(component, key, hpa)
    try:
        _look(review)
        review.write()
    except StatusError:
        # A conflict, or a namespace that goes: the next look sees what has become of it.
        pass
    return Requeue(SYNC_MS + _LOOK_MS)


def _look(review: _Review) -> None:
    try:
        scaled = _resolved(review)
    except _Unresolved as error:
        review.warn("FailedGetScale", str(error))
        text = f"the HPA controller was unable to get the target's current scale: {error}"
        review.condition("AbleToScale", "False", "FailedGetScale", text)
        return
    text = "the HPA controller was able to get the target's current scale"
    review.condition("AbleToScale", "True", "SucceededGetScale", text)
    current = scaled.replicas
    if not review.past().recommendations:
        review.remember(review.past().recommended(current, review.now_ms))
    try:
        decision = _decided(review, scaled)
    except _NotComputed as error:
        review.counted(current, review.status.get("desiredReplicas", 0))
        review.warn("FailedComputeMetricsReplicas", str(error))
        return
    desired = current if decision is None else decision.replicas
    if decision is not None and desired != current and not _rescale(review, scaled, decision):
        return
    if decision is None:
        desired = 0
    review.counted(current, desired)


def _resolved(review: _Review) -> _Scaled:
    reference = review.spec["scaleTargetRef"]
    api_version = reference.get("apiVersion", "")
    if api_version.count("/") > 1:
        raise _Unresolved(f"unexpected GroupVersion string: {api_version}")
    group = api_version.rpartition("/")[0]
    kinds = review.component.kinds
    kind = kinds.by_gvk(api_version, reference["kind"]) or next(
        (each for each in kinds.kinds if (each.group, each.kind) == (group, reference["kind"])), None
    )
    if kind is None:
        raise _Unresolved(f'no matches for kind "{reference["kind"]}" in group "{group}"')
    name = reference["name"]
    try:
        scale = review.component.api.get(kind.resource, review.key.namespace, name, "scale")
    except StatusError as error:
        raise _Unresolved(str(error)) from error
    return _Scaled(kind, name, scale)


def _decided(review: _Review, scaled: _Scaled) -> _Decision | None:
    """Return how many replicas there should be; None where scaling is off.

    Raises:
        _NotComputed: with the text for the event.
    """
    current = scaled.replicas
    review.status["currentMetrics"] = None
    was_scaled_to_zero = conditions.status_of({"status": review.status}, "ScaledToZero") == "True"
    if current == 0 and review.minimum != 0 and not was_scaled_to_zero:
        text = "scaling is disabled since the replica count of the target is zero"
        review.condition("ScalingActive", "False", "ScalingDisabled", text)
        return None
    if current > review.maximum:
        return _Decision(review.maximum, "Current number of replicas above Spec.MaxReplicas")
    if current < review.minimum:
        return _Decision(review.minimum, "Current number of replicas below Spec.MinReplicas")
    best = _best(review, scaled)
    past = review.past()
    outcome = limits.limited(
        review.spec.get("behavior"),
        past,
        current=current,
        desired=best.replicas,
        minimum=review.minimum,
        maximum=review.maximum,
        now_ms=review.now_ms,
    )
    review.remember(outcome.past)
    review.condition("AbleToScale", "True", *outcome.able)
    review.condition("ScalingLimited", str(outcome.is_limited), *outcome.limited)
    is_up = best.replicas > current
    return _Decision(outcome.replicas, f"{best.name} above target" if is_up else "All metrics below target")


def _best(review: _Review, scaled: _Scaled) -> Computed:
    """Return what the metric asks for that asks for most, and set the status of all."""
    rows = review.spec["metrics"]
    target = _target(review, scaled)
    found: list[Computed] = []
    failed: list[MetricFailed] = []
    statuses = []
    for row in rows:
        try:
            each = computed(review.component, target, row)
        except MetricFailed as error:
            failed.append(error)
            review.warn(error.reason, error.text)
            statuses.append({"type": ""})
        else:
            found.append(each)
            statuses.append(each.status)
    review.status["currentMetrics"] = statuses
    best = max(found, key=lambda each: each.replicas, default=None)
    # With a part of the metrics missing, it is not known whether fewer would do.
    if best is None or (failed and best.replicas < target.current):
        text = f"the HPA was unable to compute the replica count: {failed[0].text}"
        review.condition("ScalingActive", "False", failed[0].reason, text)
        count = f"{len(failed)} invalid out of {len(rows)}"
        raise _NotComputed(f"invalid metrics ({count}), first error is: {failed[0].whole}")
    text = f"the HPA was able to successfully calculate a replica count from {best.name}"
    review.condition("ScalingActive", "True", "ValidMetricFound", text)
    return best


def _target(review: _Review, scaled: _Scaled) -> Target:
    """Return what the metrics need to know, once it is clear which pods are meant."""
    selector = scaled.selector
    if not selector:
        _reject(review, "SelectorRequired", "selector is required")
    try:
        parsed = parse_labels(selector)
    except SelectorError as error:
        text = f"couldn't convert selector into a corresponding internal selector object: {error}"
        _reject(review, "InvalidSelector", text)
    component, namespace = review.component, review.key.namespace
    selectors = component.table(_SELECTORS)
    selectors[review.key] = parsed
    pods = [
        pod
        for pod in component.cache.list(PODS, namespace)
        if parsed.matches(pod["metadata"].get("labels") or {})
    ]
    rivals = [
        key
        for key, other in selectors.items()
        if key.namespace == namespace
        and any(other.matches(pod["metadata"].get("labels") or {}) for pod in pods)
    ]
    if len(rivals) > 1:
        names = " ".join(f"{key.namespace}/{key.name}" for key in rivals)
        text = f"pods by selector {selector} are controlled by more than one HPA (e.g. [{names}])"
        _reject(review, "AmbiguousSelector", text)
    return Target(namespace, scaled.replicas, selector, pods, _tolerance(review.spec))


def _reject(review: _Review, reason: str, text: str) -> NoReturn:
    review.warn(reason, text)
    review.condition("ScalingActive", "False", reason, text)
    raise _NotComputed(text)


def _tolerance(spec: Object) -> Tolerance:
    behavior = spec.get("behavior") or {}
    up, down = ((behavior.get(key) or {}).get("tolerance") for key in ("scaleUp", "scaleDown"))
    return Tolerance(
        TOLERANCE if up is None else quantity.from_value(up).as_float(),
        TOLERANCE if down is None else quantity.from_value(down).as_float(),
    )


def _rescale(review: _Review, scaled: _Scaled, decision: _Decision) -> bool:
    """Write the new number of replicas; say whether it was taken."""
    component, current, desired = review.component, scaled.replicas, decision.replicas
    scale = {**scaled.scale, "spec": {**scaled.scale["spec"], "replicas": desired}}
    described = f"New size: {desired}; reason: {decision.reason}"
    try:
        component.api.update(scaled.kind.resource, review.key.namespace, scale, subresource="scale")
    except StatusError as error:
        review.warn("FailedRescale", f"{described}; error: {error}")
        text = f"the HPA controller was unable to update the target scale: {error}"
        review.condition("AbleToScale", "False", "FailedUpdateScale", text)
        review.counted(current, review.status.get("desiredReplicas", 0))
        return False
    text = f"the HPA controller was able to update the target scale to {desired}"
    review.condition("AbleToScale", "True", "SucceededRescale", text)
    component.recorder.event(review.hpa, "Normal", "SuccessfulRescale", described)
    if (
        desired == 0
        and review.minimum == 0
        and any(metric["type"] in _WHOLE_TYPES for metric in review.spec["metrics"])
    ):
        text = "the HPA controller scaled the workload to zero"
        review.condition("ScaledToZero", "True", "ScaledToZero", text)
    else:
        text = "the HPA controller did not scale the workload to zero"
        review.condition("ScaledToZero", "False", "NotScaledToZero", text)
    if review.spec.get("behavior") is not None:
        review.remember(review.past().scaled(current, desired, review.now_ms))
    review.status["lastScaleTime"] = rfc3339(review.now_ms)
    return True


CONTROLLER = Controller(
    name="horizontal-pod-autoscaler",
    identity="horizontal-pod-autoscaler",
    component="horizontal-pod-autoscaler",
    watches=((RESOURCE, own_key),),
    reconcile=_reconcile,
    source="k8s.io/kubernetes pkg/controller/podautoscaler; tests/golden/l2/flows (ids hpa-)",
    delay_ms=20,
)
