"""Finished Jobs go after their time to live.

Source: k8s.io/kubernetes pkg/controller/ttlafterfinished; tests/golden/l2/flows (job-ttl).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

RESOURCE = "jobs.batch"


def _of_job(job: Object, component: Component) -> Iterable[Key]:
    if job["spec"].get("ttlSecondsAfterFinished") is None:
        return ()
    return own_key(job, component)


def _finished_ms(job: Object) -> int | None:
    for condition in conditions.conditions_of(job):
        if condition["type"] in ("Complete", "Failed") and condition["status"] == conditions.TRUE:
            return conditions.transition_ms(condition)
    return None


def _reconcile(component: Component, key: Key) -> Requeue | None:
    job = component.cache.get(RESOURCE, *key)
    if job is None or "deletionTimestamp" in job["metadata"]:
        return None
    seconds, finished_ms = job["spec"].get("ttlSecondsAfterFinished"), _finished_ms(job)
    if seconds is None or finished_ms is None:
        return None
    left_ms = finished_ms + seconds * 1000 - component.now_ms
    if left_ms > 0:
        return Requeue(left_ms)
    options = Options(propagation_policy="Foreground", precondition_uid=job["metadata"]["uid"])
    try:
        component.api.delete(RESOURCE, key.namespace, key.name, options)
    except StatusError as error:
        if error.code != 404:
            raise
    return None


CONTROLLER = Controller(
    name="ttl-after-finished",
    watches=((RESOURCE, _of_job),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/ttlafterfinished; tests/golden/l2/flows (job-ttl)",
)
