"""Jobs: pods that run to their end, counted one by one.

Source: k8s.io/kubernetes pkg/controller/job; tests/golden/l2/flows (ids job-).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.controllers import _job_conditions as ends
from env_core.controllers import _job_pods as job_pods
from env_core.controllers._job_backoff import BackOff
from env_core.controllers._job_sync import Sync
from env_core.controllers._job_tracking import release
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS, claimed, controller_of, is_kept, labels_selected, owner_mapper
from env_core.controllers._retry import retrying
from env_core.objects import meta
from env_core.world import Object

RESOURCE = "jobs.batch"
MANAGER = "kubernetes.io/job-controller"
_ORPHAN = "pod/"
_BACK_OFFS = "back-offs"
_GENERATIONS = "generations"

_owner = owner_mapper(RESOURCE, "Job", labels_selected)


def _of_changed_job(job: Object, component: Component) -> Iterable[Key]:
    """Return the key of a job that is new, going or changed in its spec: it does not wait for other changes."""
    table = component.table(_GENERATIONS)
    key, generation = meta.key(job), (meta.uid(job), meta.generation(job))
    if component.cache.get(RESOURCE, *key) is None:
        table.pop(key)
    elif meta.is_terminating(job) or table.get(key) != generation:
        table[key] = generation
    else:
        return ()
    return own_key(job, component)


def _of_orphan(pod: Object, _component: Component) -> Iterable[Key]:
    """Return a key of its own for a pod with a job's finalizer that nobody manages."""
    metadata = pod["metadata"]
    if not job_pods.is_tracked(pod) or controller_of(metadata) is not None:
        return ()
    return (Key(metadata["namespace"], _ORPHAN + metadata["name"]),)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    if key.name.startswith(_ORPHAN):
        _release_orphan(component, key)
        return None
    job = component.cache.get(RESOURCE, *key)
    back_offs = component.table(_BACK_OFFS)
    if job is None:
        back_offs.pop(key)
        _release_all(component, key, "")
        return None
    if job["spec"].get("managedBy") not in (None, MANAGER):
        return None
    if ends.is_finished(job):
        back_offs.pop(key)
        _release_all(component, key, meta.uid(job))
        return None
    pods = claimed(component, job, labels_selected(job), may_claim=is_kept, finalizers=(job_pods.TRACKING,))
    known: BackOff = back_offs.get(key) or BackOff()
    sync = Sync(component, job, pods, known)
    sync.act()
    if sync.back_off != known:
        back_offs[key] = sync.back_off
    if sync.failure is not None:
        raise sync.failure
    return None if sync.wait_ms is None else Requeue(sync.wait_ms)


def _release_orphan(component: Component, key: Key) -> None:
    pod = component.cache.get(PODS, key.namespace, key.name.removeprefix(_ORPHAN))
    if pod is not None and controller_of(pod["metadata"]) is None:
        release(component, pod)


def _release_all(component: Component, key: Key, uid: str) -> None:
    """Take the finalizer from the pods of a job that is finished, or (`uid` is "") gone: it does not count any more."""
    pods = component.cache.owned(uid, PODS) if uid else component.cache.list(PODS, key.namespace)
    for pod in pods:
        owner = controller_of(pod["metadata"])
        if owner is not None and (owner["kind"], owner["name"]) == ("Job", key.name):
            release(component, pod)


CONTROLLER = Controller(
    name="job",
    watches=((RESOURCE, _of_changed_job), (PODS, _of_orphan)),
    batched=((RESOURCE, own_key), (PODS, _owner)),
    reconcile=retrying(_reconcile),
    delay_ms=23,
    source="k8s.io/kubernetes pkg/controller/job; tests/golden/l2/flows (ids job-)",
)
