"""The Jobs of a CronJob: making them from the template, deleting them, the list of those that run.

Source: k8s.io/kubernetes pkg/controller/cronjob cronjob_controllerv2.go, utils.go; tests/golden/l2/flows (ids cron-).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.objects import meta
from env_core.objects.owners import controller_reference
from env_core.objects.time_zones import utc_offset_s
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

JOBS = "jobs.batch"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def job_name(cronjob: Object, due_s: int) -> str:
    """Return the name of the job for a due Unix second: it ends in the minute, so that no job is made twice."""
    return f"{meta.name(cronjob)}-{due_s // 60}"


def new_job(cronjob: Object, due_s: int) -> Object:
    """Return the job to create for a due Unix second."""
    template = cronjob["spec"]["jobTemplate"]
    said = template.get("metadata") or {}
    zone = cronjob["spec"].get("timeZone") or ""
    metadata: Object = {
        "name": job_name(cronjob, due_s),
        "namespace": meta.namespace(cronjob),
        "annotations": {**(said.get("annotations") or {}), SCHEDULED: _local_time(due_s, zone)},
        "ownerReferences": [controller_reference(cronjob)],
    }
    if said.get("labels"):
        metadata["labels"] = said["labels"]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec") or {}}


def _local_time(second: int, zone: str) -> str:
    """Return an RFC 3339 time as the clocks of a zone show it."""
    offset_s = utc_offset_s(zone, second)
    text = rfc3339((second + offset_s) * 1000)
    if not offset_s:
        return text
    hours, minutes = divmod(abs(offset_s) // 60, 60)
    return f"{text[:-1]}{'-' if offset_s < 0 else '+'}{hours:02d}:{minutes:02d}"


def reference_to(job: Object) -> Object:
    """Return the reference to a running job in the cron job's status."""
    metadata = job["metadata"]
    return {
        "kind": "Job",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "apiVersion": "batch/v1",
        "resourceVersion": metadata["resourceVersion"],
    }


def delete(component: Component, cronjob: Object, job: Object) -> bool:
    """Delete a job with its pods and say so; say whether that worked."""
    try:
        component.api.delete(
            JOBS, meta.namespace(job), meta.name(job), Options(propagation_policy="Background")
        )
    except StatusError as error:
        component.recorder.event(cronjob, "Warning", "FailedDelete", f"Deleted job: {error.message}")
        return False
    component.recorder.event(cronjob, "Normal", "SuccessfulDelete", f"Deleted job {meta.name(job)}")
    return True
