"""One look at a Deployment: its replica sets, old and new, and the writes that a look may make.

Source: k8s.io/kubernetes pkg/controller/deployment sync.go; tests/golden/l2/flows (ids deploy-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _deployment_status as statuses
from env_core.controllers import _revisions, _rolling
from env_core.controllers._model import Requeue
from env_core.controllers._pods import PODS, controller_of, is_finished
from env_core.controllers._retry import is_namespace_terminating
from env_core.objects import conditions
from env_core.world import Object

_DEPLOYMENTS = "deployments.apps"
_REPLICASETS = "replicasets.apps"


class Rollout:
    """Lives for one reconcile. `new` has the deployment's template, `old` are the other replica sets.

    Once `has_written_status` the look is over as far as status goes: what was read is stale, and the write
    brings the controller back.
    """

    __slots__ = ("_latest", "_replicasets", "component", "deployment", "has_written_status", "new", "old")

    def __init__(self, component: Component, deployment: Object, replicasets: Sequence[Object]) -> None:
        self.component = component
        self.deployment = deployment
        self.new: Object | None = None
        self.old: list[Object] = []
        self.has_written_status = False
        self._replicasets = list(replicasets)
        self._latest: dict[str, Object] = {}

    @property
    def all(self) -> list[Object]:
        """The replica sets as they were read, the newest last."""
        return self.old if self.new is None else [*self.old, self.new]

    def latest(self, replicaset: Object) -> Object:
        """Return the replica set as this look has left it."""
        return self._latest.get(replicaset["metadata"]["name"], replicaset)

    # Finding out

    def split(self, *, may_create: bool) -> None:
        """Tell new from old, note revisions, and create the new one if it is missing and `may_create`."""
        new = _revisions.find_new(self.deployment, self._replicasets)
        self.old = [replicaset for replicaset in self._replicasets if replicaset is not new]
        revision = max((_revisions.revision_of(replicaset) for replicaset in self.old), default=0) + 1
        if new is not None:
            self.new = self._noted(new, revision)
        elif may_create:
            self.new = self._created(revision)
        else:
            self.new = None

    def _noted(self, new: Object, revision: int) -> Object:
        notes = _revisions.noted(self.deployment, new, revision)
        seconds = self.deployment["spec"].get("minReadySeconds", 0)
        if notes != _revisions.annotations_of(new) or new["spec"].get("minReadySeconds", 0) != seconds:
            metadata = {**new["metadata"], "annotations": notes}
            spec = {key: value for key, value in new["spec"].items() if key != "minReadySeconds"}
            if seconds:
                spec["minReadySeconds"] = seconds
            changed = {**new, "metadata": metadata, "spec": spec}
            changed = self.component.api.update(_REPLICASETS, metadata["namespace"], changed)
            self._replicasets[self._replicasets.index(new)] = changed
            return changed
        known = statuses.known_conditions(self.deployment)
        entry = None
        if (
            _rolling.progress_deadline_s(self.deployment) is not None
            and conditions.find(known, _rolling.PROGRESSING) is None
        ):
            text = f'Found new replica set "{new["metadata"]["name"]}"'
            entry = statuses.condition(
                _rolling.PROGRESSING, "True", "FoundNewReplicaSet", text, self.component.now_ms
            )
        self._note_revision(notes[_revisions.REVISION], entry)
        return new

    def _note_revision(self, revision: str, entry: Object | None) -> None:
        """Write the revision on the deployment and a condition, as one status write: it takes annotations along."""
        metadata = self.deployment["metadata"]
        notes = _revisions.annotations_of(self.deployment)
        if notes.get(_revisions.REVISION) == revision:
            if entry is not None:
                known = statuses.known_conditions(self.deployment)
                self.write_conditions(statuses.with_condition(known, entry))
            return
        noted = {**metadata, "annotations": {**notes, _revisions.REVISION: revision}}
        self.deployment = {**self.deployment, "metadata": noted}
        if entry is not None:
            self.write_conditions(statuses.with_condition(statuses.known_conditions(self.deployment), entry))
        else:
            self._write(self.deployment.get("status") or {})

    def _created(self, revision: int) -> Object | None:
        component, deployment = self.component, self.deployment
        wished = _revisions.new_replicaset(deployment, self.old, revision)
        name, namespace = wished["metadata"]["name"], wished["metadata"]["namespace"]
        has_deadline = _rolling.progress_deadline_s(deployment) is not None
        try:
            created = component.api.create(_REPLICASETS, namespace, wished)
        except StatusError as error:
            if error.reason == "AlreadyExists":
                return self._taken(name, namespace)
            if not is_namespace_terminating(error):
                text = f'Failed to create new replica set "{name}": {error.message}'
                component.recorder.event(deployment, "Warning", "ReplicaSetCreateError", text)
                if has_deadline:
                    failed = statuses.condition(
                        _rolling.PROGRESSING, "False", "ReplicaSetCreateError", text, component.now_ms
                    )
                    known = statuses.known_conditions(deployment)
                    self.write_conditions(statuses.with_condition(known, failed))
            raise
        self._replicasets.append(created)
        size = _rolling.wanted_replicas(created)
        if size > 0:
            text = f"Scaled up replica set {name} from 0 to {size}"
            component.recorder.event(deployment, "Normal", "ScalingReplicaSet", text)
        entry: Object | None = None
        if has_deadline:
            text = f'Created new replica set "{name}"'
            entry = statuses.condition(
                _rolling.PROGRESSING, "True", "NewReplicaSetCreated", text, component.now_ms
            )
        self._note_revision(str(revision), entry)
        return created

    def _taken(self, name: str, namespace: str) -> Object | None:
        """Go on with a replica set of the same name if it is ours; else count a collision and hash anew."""
        found = self.component.cache.get(_REPLICASETS, namespace, name)
        owner = controller_of(found["metadata"]) if found is not None else None
        if found is not None and owner is not None and owner["uid"] == self.deployment["metadata"]["uid"]:
            if _revisions.find_new(self.deployment, [found]) is not None:
                return found
        status = self.deployment.get("status") or {}
        self._write({**status, "collisionCount": status.get("collisionCount", 0) + 1})
        return None

    def has_old_pods(self) -> bool:
        """Say whether pods of old replica sets still run, or are still stopping."""
        if _rolling.status_sum(self.old, "replicas") > 0:
            return True
        return any(
            not is_finished(pod)
            for replicaset in self.old
            for pod in self.component.cache.owned(replicaset["metadata"]["uid"], PODS)
        )

    # Writing

    def scale(self, replicaset: Object, size: int) -> bool:
        """Scale a replica set and say so in an event; say whether it had another size."""
        if _rolling.wanted_replicas(self.latest(replicaset)) == size:
            return False
        return self.set_size(replicaset, size)

    def set_size(self, replicaset: Object, size: int) -> bool:
        """Like `scale`, but bring the notes of the deployment's size up to date even where the size stays."""
        replicaset = self.latest(replicaset)
        before = _rolling.wanted_replicas(replicaset)
        had = _revisions.annotations_of(replicaset)
        notes = _revisions.replica_notes(self.deployment)
        if before == size and all(had.get(key) == value for key, value in notes.items()):
            return False
        metadata = {**replicaset["metadata"], "annotations": {**had, **notes}}
        changed = {**replicaset, "metadata": metadata, "spec": {**replicaset["spec"], "replicas": size}}
        self._latest[metadata["name"]] = self.component.api.update(
            _REPLICASETS, metadata["namespace"], changed
        )
        if before == size:
            return False
        way = "up" if before < size else "down"
        text = f"Scaled {way} replica set {metadata['name']} from {before} to {size}"
        self.component.recorder.event(self.deployment, "Normal", "ScalingReplicaSet", text)
        return True

    def clean_up(self) -> None:
        """Delete the oldest idle replica sets beyond the revision history limit."""
        limit = self.deployment["spec"].get("revisionHistoryLimit")
        if limit is None or limit == _rolling.UNLIMITED:
            return
        idle = [each for each in self.old if "deletionTimestamp" not in each["metadata"]]
        surplus = len(idle) - limit
        if surplus <= 0:
            return
        idle.sort(
            key=lambda each: (
                _revisions.revision_of(each),
                each["metadata"]["creationTimestamp"],
                each["metadata"]["name"],
            )
        )
        for replicaset in idle[:surplus]:
            metadata = replicaset["metadata"]
            if (
                _rolling.status_count(replicaset, "replicas")
                or _rolling.wanted_replicas(self.latest(replicaset))
                or metadata.get("generation", 0) > _rolling.status_count(replicaset, "observedGeneration")
            ):
                continue
            try:
                self.component.api.delete(_REPLICASETS, metadata["namespace"], metadata["name"])
            except StatusError as error:
                if error.code != 404:
                    raise

    def write_conditions(self, known: list[Object]) -> None:
        """Write the conditions alone."""
        self._write({**(self.deployment.get("status") or {}), "conditions": known})

    def write_status(self) -> None:
        """Write counts and availability."""
        status = statuses.calculated(self.deployment, self.all, self.new, self.component.now_ms)
        self._write_difference(status)

    def write_progress(self) -> Requeue | None:
        """Write the whole status, or wait for the deadline if nothing has changed."""
        now_ms = self.component.now_ms
        if self.has_written_status:
            return None
        status = statuses.calculated(self.deployment, self.all, self.new, now_ms)
        status = statuses.with_progress(self.deployment, status, self.all, self.new, now_ms)
        if self._write_difference(status):
            return None
        wait_ms = statuses.deadline_wait_ms(self.deployment, status, now_ms)
        return None if wait_ms is None else Requeue(wait_ms)

    def _write_difference(self, status: Object) -> bool:
        if self.has_written_status or status == (self.deployment.get("status") or {}):
            return False
        self._write(status)
        return True

    def _write(self, status: Object) -> None:
        namespace = self.deployment["metadata"]["namespace"]
        changed = {**self.deployment, "status": status}
        self.deployment = self.component.api.update_status(_DEPLOYMENTS, namespace, changed)
        self.has_written_status = True
