"""Counting a Job's pods exactly once: first into the status, then without their finalizer, then as numbers.

Source: k8s.io/kubernetes pkg/controller/job trackJobStatusAndRemoveFinalizers; tests/golden/l2/flows (ids job-).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _job_conditions as ends
from env_core.controllers import _job_pods as job_pods
from env_core.controllers._job_indexes import Indexes, parse_indexes
from env_core.controllers._job_policies import judge_failure
from env_core.controllers._pods import PODS
from env_core.objects import meta
from env_core.world import Object

UNCOUNTED_MAX = 500
_JOBS = "jobs.batch"
_UNCOUNTED = "uncountedTerminatedPods"


class Tracking:
    """Lives for one reconcile. Changes `status` and writes it, before and after the pods lose their finalizer."""

    __slots__ = (
        "_component",
        "_failed_indexes",
        "_is_full",
        "_job",
        "_kept_uids",
        "_pods",
        "_status",
        "_succeeded_indexes",
    )

    def __init__(
        self,
        component: Component,
        job: Object,
        pods: Sequence[Object],
        status: Object,
        succeeded_indexes: Indexes,
    ) -> None:
        self._component = component
        self._job = job
        self._pods = job_pods.by_index(pods) if job_pods.is_indexed(job) else pods
        self._status = status
        self._succeeded_indexes = succeeded_indexes
        self._failed_indexes: Indexes | None = None
        self._kept_uids: set[str] = set()
        self._is_full = False

    def keep_failed_indexes(self, failed: Indexes, last_failed: Sequence[Object]) -> None:
        """Say which indexes have failed, and which failed pods stay until they are replaced."""
        self._failed_indexes = failed
        self._kept_uids = {meta.uid(pod) for pod in last_failed}

    def settle(self, ending: Object | None, *, is_stopping: bool) -> bool:
        """Count what has ended and write the status; end the job if it is ending and nothing holds it up.

        Returns whether pods have been noted but not yet counted: that is for another look soon, as others (and a
        controller that starts anew) have to see the note first.

        Raises:
            StatusError: if the API refuses.
        """
        tracked = {meta.uid(pod) for pod in self._pods if job_pods.is_tracked(pod)}
        self._count_released(tracked)
        counted = self._note_ended(ending)
        if job_pods.is_indexed(self._job):
            self._note_indexes()
        final = self._announce(ending)
        noted = {uid for uids in self._uncounted.values() for uid in uids}
        is_news = self._write()
        for pod in counted:
            if is_news and meta.uid(pod) in noted:
                continue
            release(self._component, pod)
            tracked.discard(meta.uid(pod))
        if is_news and (noted or final is not None):
            return True
        self._count_released(tracked)
        is_over = final is not None and not is_stopping and not self._is_full and not self._uncounted
        if final is not None and is_over:
            self._status["conditions"] = ends.ensured(self._status.get("conditions") or [], final)
            if final["type"] == ends.COMPLETE:
                self._status["completionTime"] = final["lastTransitionTime"]
        self._write()
        if final is not None and is_over:
            self._tell(final)
        return False

    @property
    def _uncounted(self) -> Object:
        found: Object = self._status[_UNCOUNTED]
        return found

    def _count_released(self, tracked: Collection[str]) -> None:
        """Turn noted pods that have no finalizer any more into numbers."""
        left: Object = {}
        for key, uids in self._uncounted.items():
            kept = [uid for uid in uids if uid in tracked]
            if len(kept) < len(uids):
                self._status[key] = self._status.get(key, 0) + len(uids) - len(kept)
            if kept:
                left[key] = kept
        self._status[_UNCOUNTED] = left

    def _note_ended(self, ending: Object | None) -> list[Object]:
        """Note the pods that have ended; return those that may lose their finalizer."""
        counted: list[Object] = []
        noted = {key: list(uids) for key, uids in self._uncounted.items()}
        before = parse_indexes(
            self._status.get("completedIndexes", ""), self._job["spec"].get("completions") or 0
        )
        fresh = 0
        is_success = ending is not None and ending["type"] in (ends.SUCCESS_CRITERIA_MET, ends.COMPLETE)
        for pod in self._pods:
            if not job_pods.is_tracked(pod) or not self._may_release(pod, ending):
                continue
            counted.append(pod)
            uid = meta.uid(pod)
            if job_pods.has_succeeded(pod) and uid not in noted.get("failed", ()):
                if job_pods.is_indexed(self._job):
                    index = job_pods.valid_index(self._job, pod)
                    fresh += index is not None and not before.has(index)
                elif uid not in noted.get("succeeded", ()):
                    noted.setdefault("succeeded", []).append(uid)
            elif job_pods.has_failed(self._job, pod) or (ending is not None and not is_success):
                if uid not in noted.get("failed", ()) and self._counts_as_failed(pod):
                    noted.setdefault("failed", []).append(uid)
            if fresh + sum(map(len, noted.values())) >= UNCOUNTED_MAX:
                self._is_full = True
                break
        self._status[_UNCOUNTED] = noted
        return counted

    def _may_release(self, pod: Object, ending: Object | None) -> bool:
        if meta.is_terminating(self._job) or ending is not None or job_pods.has_succeeded(pod):
            return True
        return job_pods.has_failed(self._job, pod) and meta.uid(pod) not in self._kept_uids

    def _counts_as_failed(self, pod: Object) -> bool:
        if job_pods.is_indexed(self._job) and job_pods.valid_index(self._job, pod) is None:
            return False
        return judge_failure(self._job["spec"].get("podFailurePolicy"), pod).is_counted

    def _note_indexes(self) -> None:
        succeeded = self._succeeded_indexes
        for key, value in (("succeeded", succeeded.total()), ("completedIndexes", str(succeeded))):
            if value:
                self._status[key] = value
            else:
                self._status.pop(key, None)
        if self._failed_indexes is not None:
            self._status["failedIndexes"] = str(self._failed_indexes)

    def _announce(self, ending: Object | None) -> Object | None:
        """Say that the job is about to end, and return the condition that it ends with."""
        if ending is None or ending["type"] == ends.FAILED:
            return ending
        known = self._status.get("conditions") or []
        if ends.find_true(known, ending["type"]) is None:
            self._status["conditions"] = [*known, ending]
        final = ends.FAILED if ending["type"] == ends.FAILURE_TARGET else ends.COMPLETE
        return ends.condition(final, ending["reason"], ending["message"], self._component.now_ms)

    def _write(self) -> bool:
        if self._status == self._job.get("status"):
            return False
        body = {**self._job, "status": dict(self._status)}
        self._job = self._component.api.update_status(_JOBS, meta.namespace(self._job), body)
        return True

    def _tell(self, final: Object) -> None:
        recorder, job = self._component.recorder, self._job
        if final["type"] == ends.FAILED:
            recorder.event(job, "Warning", final["reason"], final["message"])
            return
        completions = job["spec"].get("completions")
        if completions is not None and self._status.get("succeeded", 0) > completions:
            text = "Too many succeeded pods running after completion count reached"
            recorder.event(job, "Warning", "TooManySucceededPods", text)
        recorder.event(job, "Normal", "Completed", "Job completed")


def release(component: Component, pod: Object) -> None:
    """Take the job's finalizer from a pod.

    Raises:
        StatusError: if the API refuses; that the pod is gone is no refusal.
    """
    rest = [each for each in meta.finalizers(pod) if each != job_pods.TRACKING]
    if len(rest) == len(meta.finalizers(pod)):
        return
    patch = {"metadata": {"finalizers": rest or None}}
    try:
        component.api.patch(PODS, meta.namespace(pod), meta.name(pod), patch)
    except StatusError as error:
        if error.code != 404:
            raise
