"""Deployments: rolling from one template to the next, by scaling replica sets.

Source: k8s.io/kubernetes pkg/controller/deployment; tests/golden/l2/flows (ids deploy-).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.controllers import _deployment_status as statuses
from env_core.controllers import _revisions, _rolling
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import claimed, is_kept, labels_selected, owner_mapper
from env_core.controllers._retry import TryAgain, retrying
from env_core.controllers._rollout import Rollout
from env_core.objects import conditions
from env_core.world import Object

RESOURCE = "deployments.apps"
REPLICASETS = "replicasets.apps"
_SETTLED = "settled"
SELECTS_ALL = "This deployment is selecting all pods. A non-empty selector is required."


class _Settled(NamedTuple):
    """What a deployment and its replica sets looked like when there was nothing to do until `due_ms`."""

    stamp: tuple[str, ...]
    due_ms: int | None


def _reconcile(component: Component, key: Key) -> Requeue | None:
    deployment = component.cache.get(RESOURCE, key.namespace, key.name)
    if deployment is None:
        component.table(_SETTLED).pop(key)
        return None
    selector = deployment["spec"].get("selector") or {}
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        component.recorder.event(deployment, "Warning", "SelectingAll", SELECTS_ALL)
        return None
    replicasets = claimed(component, deployment, selector, REPLICASETS, may_claim=is_kept)
    settled = component.table(_SETTLED)
    stamp = _stamp(deployment, replicasets)
    known: _Settled | None = settled.get(key)
    if known is not None and known.stamp == stamp:
        if known.due_ms is None:
            return None
        if known.due_ms > component.now_ms:
            return Requeue(known.due_ms - component.now_ms)
    revision = component.cache.revision
    requeue = _carry_on(Rollout(component, deployment, replicasets))
    if component.cache.revision == revision:
        due_ms = None if requeue is None else component.now_ms + requeue.after_ms
        settled[key] = _Settled(stamp, due_ms)
    return requeue


def _stamp(deployment: Object, replicasets: Sequence[Object]) -> tuple[str, ...]:
    return (
        deployment["metadata"]["resourceVersion"],
        *[replicaset["metadata"]["resourceVersion"] for replicaset in replicasets],
    )


def _carry_on(rollout: Rollout) -> Requeue | None:
    deployment = rollout.deployment
    if "deletionTimestamp" in deployment["metadata"]:
        rollout.split(may_create=False)
        rollout.write_status()
        return None
    if _pause(rollout):
        # The write of the condition brings us back.
        return None
    rollout.split(may_create=False)
    if rollout.has_written_status:
        return None
    if deployment["spec"].get("paused") or _is_scaling(rollout):
        _resize(rollout)
        return None
    if not _rolling.is_rolling(deployment):
        return _recreate(rollout)
    return _roll(rollout)


def _pause(rollout: Rollout) -> bool:
    """Write the condition that says the rollout is paused, or resumed; say whether there was need to."""
    deployment = rollout.deployment
    if _rolling.progress_deadline_s(deployment) is None:
        return False
    known = statuses.known_conditions(deployment)
    current = conditions.find(known, _rolling.PROGRESSING)
    if current is not None and current.get("reason") == _rolling.TIMED_OUT:
        return False
    is_said = current is not None and current.get("reason") == "DeploymentPaused"
    if bool(deployment["spec"].get("paused")) == is_said:
        return False
    text = (
        ("DeploymentResumed", "Deployment is resumed")
        if is_said
        else ("DeploymentPaused", "Deployment is paused")
    )
    entry = statuses.condition(_rolling.PROGRESSING, "Unknown", *text, rollout.component.now_ms)
    rollout.write_conditions(statuses.with_condition(known, entry))
    return True


def _is_scaling(rollout: Rollout) -> bool:
    wanted = _rolling.wanted_replicas(rollout.deployment)
    for replicaset in _revisions.active(rollout.all):
        desired = _rolling.desired_before(replicaset)
        if desired is not None and desired != wanted:
            return True
    return False


def _resize(rollout: Rollout) -> None:
    """Spread a new size over the replica sets; where rolling is on its way, in proportion."""
    _scale(rollout)
    if rollout.deployment["spec"].get("paused"):
        rollout.clean_up()
    rollout.write_status()


def _scale(rollout: Rollout) -> None:
    deployment = rollout.deployment
    wanted = _rolling.wanted_replicas(deployment)
    only = _revisions.active_or_latest(rollout.new, rollout.old)
    if only is not None:
        if _rolling.wanted_replicas(only) != wanted:
            rollout.scale(only, wanted)
        return
    if _rolling.is_saturated(deployment, rollout.new):
        for replicaset in _revisions.active(rollout.old):
            rollout.scale(replicaset, 0)
        return
    if _rolling.is_rolling(deployment):
        _scale_in_proportion(rollout, wanted)


def _scale_in_proportion(rollout: Rollout, wanted: int) -> None:
    deployment = rollout.deployment
    running = _revisions.active(rollout.all)
    allowed = wanted + _rolling.max_surge(deployment) if wanted > 0 else 0
    to_add = allowed - _rolling.spec_sum(running)
    # The biggest first; of equal ones the newer when growing, the older when shrinking.
    running = sorted(
        running, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"])
    )
    if to_add > 0:
        running.reverse()
    running = sorted(running, key=lambda each: -_rolling.wanted_replicas(each)) if to_add else running
    added = 0
    sizes = []
    for replicaset in running:
        share = _rolling.proportion(replicaset, deployment, to_add, added) if to_add else 0
        sizes.append(_rolling.wanted_replicas(replicaset) + share)
        added += share
    for index, (replicaset, size) in enumerate(zip(running, sizes, strict=True)):
        if index == 0 and to_add:
            size = max(size + to_add - added, 0)
        rollout.set_size(replicaset, size)


def _roll(rollout: Rollout) -> Requeue | None:
    if rollout.new is None:
        rollout.split(may_create=True)
    if rollout.new is None:
        return None
    if not _grow(rollout) and not _shrink(rollout):
        _finish(rollout)
    return rollout.write_progress()


def _finish(rollout: Rollout) -> None:
    deployment = rollout.deployment
    if _rolling.is_complete(deployment, deployment.get("status") or {}):
        rollout.clean_up()


def _grow(rollout: Rollout) -> bool:
    deployment, new = rollout.deployment, rollout.new
    assert new is not None
    wanted, size = _rolling.wanted_replicas(deployment), _rolling.wanted_replicas(new)
    if size == wanted:
        return False
    if size < wanted:
        wanted = _rolling.new_replicas(deployment, _rolling.spec_sum(rollout.all), size)
    return rollout.scale(new, wanted)


def _shrink(rollout: Rollout) -> bool:
    """Take pods from the old replica sets, unhealthy ones first, as far as availability allows."""
    deployment, new = rollout.deployment, rollout.new
    assert new is not None
    old = _revisions.active(rollout.old)
    if not old:
        return False
    least = _rolling.wanted_replicas(deployment) - _rolling.max_unavailable(deployment)
    pending = _rolling.wanted_replicas(new) - _rolling.status_count(new, "availableReplicas")
    most = _rolling.spec_sum(rollout.all) - least - pending
    if most <= 0:
        return False
    old = _oldest_first(old)
    unhealthy, kept = 0, []
    for replicaset in old:
        size = _rolling.wanted_replicas(replicaset)
        broken = size - _rolling.status_count(replicaset, "availableReplicas")
        if broken < 0 < size and unhealthy < most:
            raise TryAgain(
                f"replica set {replicaset['metadata']['name']} has more pods available than wanted"
            )
        count = min(most - unhealthy, broken) if unhealthy < most and size else 0
        if count > 0:
            unhealthy += count
            rollout.scale(replicaset, size - count)
            replicaset = rollout.latest(replicaset)
        kept.append(replicaset)
    surplus = _rolling.status_sum([*kept, new], "availableReplicas") - least
    taken = 0
    for replicaset in kept:
        size = _rolling.wanted_replicas(replicaset)
        count = min(size, surplus - taken)
        if count > 0:
            taken += count
            rollout.scale(replicaset, size - count)
    return unhealthy + taken > 0


def _oldest_first(replicasets: list[Object]) -> list[Object]:
    return sorted(
        replicasets, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"])
    )


def _recreate(rollout: Rollout) -> Requeue | None:
    running = _revisions.active(rollout.old)
    scaled = [rollout.scale(replicaset, 0) for replicaset in running]
    if any(scaled) or rollout.has_old_pods():
        return rollout.write_progress()
    if rollout.new is None:
        rollout.split(may_create=True)
        if rollout.new is None:
            return None
    rollout.scale(rollout.new, _rolling.wanted_replicas(rollout.deployment))
    _finish(rollout)
    return rollout.write_progress()


CONTROLLER = Controller(
    name="deployment",
    watches=(
        (RESOURCE, own_key),
        (REPLICASETS, owner_mapper(RESOURCE, "Deployment", labels_selected, REPLICASETS)),
    ),
    reconcile=retrying(_reconcile),
    delay_ms=12,
    source="k8s.io/kubernetes pkg/controller/deployment; tests/golden/l2/flows",
)
