"""One look at a StatefulSet: which pods it makes, gives up and replaces, in the order that it promises.

Source: k8s.io/kubernetes pkg/controller/statefulset stateful_set_control.go; tests/golden/l2/flows (ids sts-).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _ordinals as ordinals
from env_core.controllers import _statefulset_claims as claims
from env_core.controllers._history import template_of
from env_core.controllers._pods import PODS, in_batches, is_finished
from env_core.controllers._retry import TryAgain
from env_core.objects import conditions, meta
from env_core.objects.int_or_percent import scaled_value
from env_core.world import Object


class Revisions(NamedTuple):
    """The revision that the pods have, and the one that they are to have."""

    current: Object
    update: Object


class Sync:
    """Lives for one reconcile. What was read at its start is not read again: the writes bring the controller back."""

    __slots__ = (
        "_condemned",
        "_is_monotonic",
        "_min_ready_s",
        "_replicas",
        "_revisions",
        "_set",
        "_updated_away",
        "_wanted",
        "component",
    )

    def __init__(
        self, component: Component, stateful_set: Object, revisions: Revisions, pods: Sequence[Object]
    ) -> None:
        self.component = component
        self._set = stateful_set
        self._revisions = revisions
        self._min_ready_s: int = stateful_set["spec"].get("minReadySeconds", 0)
        self._is_monotonic: bool = stateful_set["spec"].get("podManagementPolicy") != "Parallel"
        self._wanted = ordinals.wanted_ordinals(stateful_set)
        by_ordinal = {ordinals.ordinal_of(pod): pod for pod in pods}
        self._replicas = [by_ordinal.get(ordinal) for ordinal in self._wanted]
        self._condemned = [
            by_ordinal[ordinal] for ordinal in sorted(by_ordinal, reverse=True) if ordinal not in self._wanted
        ]
        self._updated_away = 0

    def act(self) -> None:
        """Bring the pods nearer to what is wanted.

        Raises:
            StatusError: if the API refuses.
            TryAgain: if a claim is in the way.
        """
        if meta.is_terminating(self._set):
            return
        if self._stops(len(self._replicas), self._keep):
            return
        if self._stops(len(self._condemned), self._keep_claims):
            return
        if self._stops(len(self._condemned), self._give_up):
            return
        if (self._set["spec"].get("updateStrategy") or {}).get("type") != "OnDelete":
            self._update()

    def _stops(self, count: int, step: Callable[[int], bool]) -> bool:
        """Take a step for each number; in order and up to the first that says to wait, or in batches."""
        if self._is_monotonic:
            return any(step(number) for number in range(count))

        def act(number: int) -> None:
            step(number)

        failure = in_batches(count, act)
        if failure is not None:
            raise failure
        return False

    # Steps; each says whether an ordered set has to wait now.

    def _keep(self, position: int) -> bool:
        pod = self._replicas[position]
        if pod is None:
            return self._create(self._wanted[position])
        if is_finished(pod):
            if not meta.is_terminating(pod):
                self._delete(pod)
            return True
        ordinal, name = self._wanted[position], meta.name(pod)
        if conditions.pod_phase(pod) == "Pending":
            claims.create_missing(self.component, self._set, name, ordinal)
            self._settle_claims(pod, is_condemned=False)
        if self._is_monotonic and self._is_unavailable(pod):
            return True
        self._repair(pod, ordinal)
        return False

    def _create(self, ordinal: int) -> bool:
        name = f"{meta.name(self._set)}-{ordinal}"
        if claims.has_stale_claim(self.component, self._set, name, ordinal):
            return True
        pod = self._new_pod(ordinal)
        try:
            claims.create_missing(self.component, self._set, name, ordinal)
            created = self.component.api.create(PODS, meta.namespace(self._set), pod)
            claims.settle_retention(self.component, self._set, created, ordinal, is_condemned=False)
        except (StatusError, TryAgain) as error:
            if not isinstance(error, StatusError) or error.reason != "AlreadyExists":
                self._record("Create", name, error)
            raise
        self._record("Create", name)
        return self._is_monotonic

    def _new_pod(self, ordinal: int) -> Object:
        strategy = self._set["spec"].get("updateStrategy") or {}
        rolling = strategy.get("rollingUpdate")
        if rolling is not None:
            old_count: int = rolling.get("partition") or 0
        elif strategy.get("type") == "RollingUpdate":
            old_count = (self._set.get("status") or {}).get("currentReplicas", 0)
        else:
            old_count = 0
        is_old = ordinal < self._wanted.start + old_count
        revision = self._revisions.current if is_old else self._revisions.update
        return ordinals.new_pod(self._set, template_of(revision), meta.name(revision), ordinal)

    def _repair(self, pod: Object, ordinal: int) -> None:
        """Bring identity, volumes and claims of a pod back to what they have to be."""
        has_claims = claims.is_retention_settled(self.component, self._set, pod, ordinal, is_condemned=False)
        if has_claims and ordinals.has_identity(pod) and ordinals.has_storage(self._set, pod):
            return
        changed = pod if ordinals.has_identity(pod) else ordinals.with_identity(self._set, pod)
        name = meta.name(pod)
        try:
            if not ordinals.has_storage(self._set, pod):
                claims.create_missing(self.component, self._set, name, ordinal)
                changed = ordinals.with_storage(self._set, changed)
            self._settle_claims(pod, is_condemned=False)
            self.component.api.update(PODS, meta.namespace(self._set), changed)
        except (StatusError, TryAgain) as error:
            self._record("Update", name, error)
            raise
        self._record("Update", name)

    def _settle_claims(self, pod: Object, *, is_condemned: bool) -> None:
        ordinal = ordinals.ordinal_of(pod)
        claims.settle_retention(self.component, self._set, pod, ordinal, is_condemned=is_condemned)

    def _keep_claims(self, position: int) -> bool:
        self._settle_claims(self._condemned[position], is_condemned=True)
        return False

    def _give_up(self, position: int) -> bool:
        pod = self._condemned[position]
        if meta.is_terminating(pod):
            return self._is_monotonic
        if self._is_monotonic and self._is_unavailable(pod) and pod is not self._first_unavailable():
            return True
        self._delete(pod)
        return True

    def _first_unavailable(self) -> Object | None:
        """Return the first pod that is not available, in the order of ordinals, the condemned last."""
        for pod in (*self._replicas, *reversed(self._condemned)):
            if self._is_unavailable(pod):
                return pod
        return None

    def _is_unavailable(self, pod: Object | None) -> bool:
        return ordinals.is_unavailable(pod, self._min_ready_s, self.component.now_ms)

    def _update(self) -> None:
        """Delete pods of old revisions, the highest ordinals first, as far as availability allows."""
        rolling = (self._set["spec"].get("updateStrategy") or {}).get("rollingUpdate")
        allowed, partition = 1, 0
        if rolling is not None:
            partition = rolling.get("partition") or 0
            share = rolling.get("maxUnavailable")
            allowed = max(scaled_value(1 if share is None else share, len(self._replicas), False), 1)
        left = allowed - sum(map(self._is_unavailable, self._replicas))
        name = meta.name(self._revisions.update)
        for position in range(len(self._replicas) - 1, -1, -1):
            if left <= 0 or self._wanted[position] < partition:
                return
            pod = self._replicas[position]
            if pod is not None and ordinals.revision_of(pod) != name and not meta.is_terminating(pod):
                self._delete(pod)
                self._updated_away += 1
                left -= 1

    def _delete(self, pod: Object) -> None:
        name = meta.name(pod)
        try:
            self.component.api.delete(PODS, meta.namespace(pod), name)
        except StatusError as error:
            self._record("Delete", name, error)
            if error.code != 404:
                raise
            return
        self._record("Delete", name)

    def _record(self, verb: str, pod: str, error: Exception | None = None) -> None:
        text = f"{verb} Pod {pod} in StatefulSet {meta.name(self._set)} "
        if error is None:
            self.component.recorder.event(self._set, "Normal", f"Successful{verb}", f"{text}successful")
        else:
            self.component.recorder.event(
                self._set, "Warning", f"Failed{verb}", f"{text}failed error: {error}"
            )

    # Status

    def status(self, collision_count: int) -> Object:
        """Return the status as of the start of this look, but for the pods that it took away for an update."""
        current, update = meta.name(self._revisions.current), meta.name(self._revisions.update)
        pods = [pod for pod in (*self._replicas, *self._condemned) if pod is not None]
        ready = [pod for pod in pods if ordinals.is_ready(pod)]
        now_ms, min_ready_s = self.component.now_ms, self._min_ready_s
        kept = [ordinals.revision_of(pod) for pod in pods if not meta.is_terminating(pod)]
        counts = {
            "readyReplicas": len(ready),
            "currentReplicas": kept.count(current) - self._updated_away,
            "updatedReplicas": kept.count(update),
        }
        spec = self._set["spec"]
        wanted = len(self._wanted)
        is_rolling = (spec.get("updateStrategy") or {}).get("type") == "RollingUpdate"
        if is_rolling and counts["updatedReplicas"] == counts["readyReplicas"] == len(pods) == wanted:
            counts["currentReplicas"], current = counts["updatedReplicas"], update
        return {
            "observedGeneration": meta.generation(self._set),
            "replicas": len(pods),
            **{key: count for key, count in counts.items() if count},
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": collision_count,
            "availableReplicas": sum(conditions.is_pod_available(pod, min_ready_s, now_ms) for pod in ready),
        }
