"""One look at a Job: how its pods stand, whether it ends, which pods it makes and deletes, what it counts.

Source: k8s.io/kubernetes pkg/controller/job job_controller.go; tests/golden/l2/flows (ids job-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _job_conditions as ends
from env_core.controllers import _job_pods as job_pods
from env_core.controllers._job_backoff import (
    BackOff,
    after,
    finished_ms,
    index_remaining_ms,
    remaining_ms,
)
from env_core.controllers._job_indexes import (
    NO_INDEXES,
    Indexes,
    absolute_failure_count,
    failure_count,
    first_free,
    parse_indexes,
)
from env_core.controllers._job_policies import FAIL_INDEX, judge_failure, success_message
from env_core.controllers._job_tracking import Tracking, release
from env_core.controllers._pods import create_pod, delete_pod, in_batches, is_active, is_terminating
from env_core.objects import conditions, meta
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

BURST_MAX = 500
DELAY_MIN_MS = 1_000
COUNT_MS = 15
"""From noting that pods have ended to counting them: two writes, as long as they take upstream."""


class Sync:
    """Lives for one reconcile. `status` is the job's status as it is going to be written."""

    __slots__ = (
        "_active",
        "_completions",
        "_failed_indexes",
        "_job",
        "_known_back_off",
        "_last_failed",
        "_pods",
        "_policy",
        "_ready",
        "_succeeded",
        "_succeeded_indexes",
        "_terminating",
        "back_off",
        "component",
        "failure",
        "status",
        "wait_ms",
    )

    def __init__(self, component: Component, job: Object, pods: Sequence[Object], back_off: BackOff) -> None:
        self.component = component
        self.wait_ms: int | None = None
        self.failure: StatusError | None = None
        self._job = job
        self._pods = list(pods)
        self._policy = job["spec"].get("podFailurePolicy")
        self._completions: int | None = job["spec"].get("completions")
        self._active = [pod for pod in pods if is_active(pod)]
        self._ready = sum(map(conditions.is_pod_ready, self._active))
        self._terminating = sum(map(is_terminating, pods))
        self.status: Object = {"uncountedTerminatedPods": {}, **(job.get("status") or {})}
        self._known_back_off = self.back_off = back_off
        self._succeeded = 0
        self._succeeded_indexes = NO_INDEXES
        self._failed_indexes: Indexes | None = None
        self._last_failed: dict[int, Object] = {}

    def act(self) -> None:
        """Do what is due and write the status. A refusal that does not stop the rest is left in `failure`.

        Raises:
            StatusError: if the status or a finalizer cannot be written.
        """
        job, status = self._job, self.status
        if not status.get("startTime") and not job_pods.is_suspended(job):
            status["startTime"] = rfc3339(self.component.now_ms)
        failed = self._count()
        ending = self._ending(failed)
        if job_pods.is_indexed(job):
            ending = self._look_at_indexes(ending)
        active = len(self._active)
        if ending is not None:
            active -= self._remove(self._active, keeps_finalizer=True)
            if active:
                ending = None
        else:
            is_managed = "deletionTimestamp" not in job["metadata"]
            if is_managed:
                active = self._manage()
            if self._is_complete(active):
                ending = ends.condition(ends.SUCCESS_CRITERIA_MET, *ends.REACHED, self.component.now_ms)
            elif is_managed:
                self._note_suspension()
        self._set_count("active", active)
        status["ready"], status["terminating"] = self._ready, self._terminating
        tracking = Tracking(self.component, job, self._pods, status, self._succeeded_indexes)
        if self._failed_indexes is not None:
            tracking.keep_failed_indexes(self._failed_indexes, list(self._last_failed.values()))
        if tracking.settle(ending, is_stopping=self._terminating > 0):
            self._wait(COUNT_MS)

    def _set_count(self, key: str, count: int) -> None:
        if count:
            self.status[key] = count
        else:
            self.status.pop(key, None)

    # Counting

    def _new(self, pods: Sequence[Object], uncounted: str) -> list[Object]:
        known = self.status["uncountedTerminatedPods"].get(uncounted) or ()
        is_indexed = job_pods.is_indexed(self._job)
        return [
            pod
            for pod in pods
            if job_pods.is_tracked(pod)
            and meta.uid(pod) not in known
            and (not is_indexed or job_pods.valid_index(self._job, pod) is not None)
        ]

    def _count(self) -> int:
        """Count what has succeeded; return how many pods have failed in all."""
        succeeded = self._new([pod for pod in self._pods if job_pods.has_succeeded(pod)], "succeeded")
        failed = self._new([pod for pod in self._pods if job_pods.has_failed(self._job, pod)], "failed")
        uncounted = self.status["uncountedTerminatedPods"]
        self._succeeded = (
            self.status.get("succeeded", 0) + len(succeeded) + len(uncounted.get("succeeded") or ())
        )
        self.back_off = after(self._known_back_off, succeeded, failed)
        counted = sum(judge_failure(self._policy, pod).is_counted for pod in failed)
        return int(self.status.get("failed", 0)) + counted + len(uncounted.get("failed") or ())

    # Ending

    def _ending(self, failed: int) -> Object | None:
        """Return the condition that says why the job is about to end, None if it goes on."""
        known = self.status.get("conditions") or []
        met = ends.find_true(known, ends.SUCCESS_CRITERIA_MET)
        if met is not None:
            return met
        target = ends.find_true(known, ends.FAILURE_TARGET)
        now_ms = self.component.now_ms
        if target is not None:
            return ends.condition(ends.FAILED, target["reason"], target["message"], now_ms)
        message = self._policy_message()
        if message:
            return ends.condition(ends.FAILURE_TARGET, "PodFailurePolicy", message, now_ms)
        spec = self._job["spec"]
        if failed > spec["backoffLimit"] or self._has_restarted_too_often():
            return ends.condition(ends.FAILURE_TARGET, *ends.BACK_OFF, now_ms)
        deadline_s = spec.get("activeDeadlineSeconds")
        if deadline_s is not None and not job_pods.is_suspended(self._job) and self.status.get("startTime"):
            left_ms = parse_ms(self.status["startTime"]) + deadline_s * 1000 - now_ms
            if left_ms <= 0:
                return ends.condition(ends.FAILURE_TARGET, *ends.DEADLINE, now_ms)
            self._wait(left_ms)
        return None

    def _policy_message(self) -> str:
        if self._policy is None:
            return ""
        failed = [pod for pod in self._pods if job_pods.has_failed(self._job, pod)]
        messages = [judge_failure(self._policy, pod).message for pod in failed]
        return next((message for message in messages if message), "")

    def _has_restarted_too_often(self) -> bool:
        spec = self._job["spec"]
        if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        restarts = sum(
            row.get("restartCount", 0)
            for pod in self._pods
            if conditions.pod_phase(pod) in ("Running", "Pending")
            for key in ("initContainerStatuses", "containerStatuses")
            for row in (pod.get("status") or {}).get(key) or ()
        )
        return bool(restarts >= max(spec["backoffLimit"], 1))

    def _look_at_indexes(self, ending: Object | None) -> Object | None:
        """Count by index, which may end the job in other ways."""
        spec, now_ms = self._job["spec"], self.component.now_ms
        total: int = spec["completions"]
        before = parse_indexes(self.status.get("completedIndexes", ""), total)
        fresh = [pod for pod in self._pods if job_pods.has_succeeded(pod) and job_pods.is_tracked(pod)]
        self._succeeded_indexes = before.with_numbers(self._valid_indexes(fresh))
        self._succeeded = self._succeeded_indexes.total()
        if job_pods.is_limited_per_index(self._job):
            failed = self._failed_indexes = self._all_failed_indexes(total)
            most = spec.get("maxFailedIndexes")
            if ending is None and most is not None and failed.total() > most:
                ending = ends.condition(ends.FAILURE_TARGET, *ends.MAX_FAILED_INDEXES, now_ms)
            elif ending is None and failed and failed.total() + self._succeeded >= total:
                ending = ends.condition(ends.FAILURE_TARGET, *ends.FAILED_INDEXES, now_ms)
            self._last_failed = self._failed_last(failed)
        message = success_message(spec.get("successPolicy"), total, self._succeeded_indexes)
        if ending is None and message:
            ending = ends.condition(ends.SUCCESS_CRITERIA_MET, "SuccessPolicy", message, now_ms)
        return ending

    def _valid_indexes(self, pods: Sequence[Object]) -> list[int]:
        found = [job_pods.valid_index(self._job, pod) for pod in pods]
        return [index for index in found if index is not None]

    def _all_failed_indexes(self, total: int) -> Indexes:
        before = parse_indexes(self.status.get("failedIndexes") or "", total)
        fresh = [pod for pod in self._pods if job_pods.is_tracked(pod) and self._fails_index(pod)]
        return before.with_numbers(self._valid_indexes(fresh))

    def _fails_index(self, pod: Object) -> bool:
        if not job_pods.has_failed(self._job, pod):
            return False
        verdict = judge_failure(self._policy, pod)
        if verdict.action == FAIL_INDEX:
            return True
        limit: int = self._job["spec"]["backoffLimitPerIndex"]
        return verdict.is_counted and failure_count(meta.annotations(pod)) >= limit

    def _failed_last(self, failed: Indexes) -> dict[int, Object]:
        """Return, for each index that waits for a new pod, the pod that failed last: it is kept until then."""
        active = job_pods.indexes_of(self._active)
        found: dict[int, Object] = {}
        for pod in self._pods:
            index = job_pods.valid_index(self._job, pod)
            if index is None or not job_pods.is_tracked(pod) or not job_pods.has_failed(self._job, pod):
                continue
            if index in active or self._succeeded_indexes.has(index) or failed.has(index):
                continue
            other = found.get(index)
            if other is None or (
                absolute_failure_count(meta.annotations(other))
                <= absolute_failure_count(meta.annotations(pod))
                and finished_ms(pod) >= finished_ms(other)
            ):
                found[index] = pod
        return found

    def _is_complete(self, active: int) -> bool:
        if active:
            return False
        return self._succeeded >= (1 if self._completions is None else self._completions)

    def _note_suspension(self) -> None:
        known = self.status.get("conditions") or []
        is_suspended = job_pods.is_suspended(self._job)
        words = ("Suspended", "Job suspended") if is_suspended else ("Resumed", "Job resumed")
        holds = conditions.TRUE if is_suspended else conditions.FALSE
        now_ms = self.component.now_ms
        wanted = ends.condition(ends.SUSPENDED, f"Job{words[0]}", words[1], now_ms, holds)
        changed = ends.ensured(known, wanted)
        if changed == known:
            return
        self.status["conditions"] = changed
        self.component.recorder.event(self._job, "Normal", *words)
        if not is_suspended:
            self.status["startTime"] = rfc3339(now_ms)

    # Making and deleting pods

    def _manage(self) -> int:
        """Bring the number of active pods to what it should be, and return it."""
        active = len(self._active)
        wanted = 0 if job_pods.is_suspended(self._job) else self._wanted(active)
        doomed = job_pods.to_remove(self._job, self._active, max(active - wanted, 0))
        if doomed or job_pods.is_suspended(self._job):
            return active - self._remove(doomed[:BURST_MAX], keeps_finalizer=False)
        stopping = self._terminating if job_pods.replaces_only_failed(self._job) else 0
        missing = wanted - stopping - active
        return active if missing <= 0 else self._create(active, min(missing, BURST_MAX))

    def _wanted(self, active: int) -> int:
        parallelism: int = self._job["spec"]["parallelism"]
        if self._completions is None:
            return active if self._succeeded else parallelism
        return max(min(self._completions - self._succeeded, parallelism), 0)

    def _create(self, active: int, count: int) -> int:
        now_ms = self.component.now_ms
        left_ms = 0
        if not job_pods.is_limited_per_index(self._job):
            left_ms = remaining_ms(self.back_off, now_ms)
        indexes: list[int | None] = [None] * count
        if not left_ms and job_pods.is_indexed(self._job):
            free = self._free_indexes(count)
            waits = {index: index_remaining_ms(self._last_failed.get(index), now_ms) for index in free}
            indexes = [index for index in free if not waits[index]]
            if free and not indexes:
                left_ms = min(waits.values())
        if left_ms:
            self._wait(max(left_ms, DELAY_MIN_MS))
            return active
        made = 0

        def create(number: int) -> None:
            nonlocal made
            index = indexes[number]
            replaced = None if index is None else self._last_failed.get(index)
            create_pod(self.component, self._job, job_pods.new_pod(self._job, index, replaced))
            made += 1

        self.failure = self.failure or in_batches(len(indexes), create)
        return active + made

    def _free_indexes(self, count: int) -> list[int]:
        taken = self._succeeded_indexes.with_numbers(job_pods.indexes_of(self._active))
        if job_pods.replaces_only_failed(self._job):
            stopping = [pod for pod in self._pods if is_terminating(pod)]
            taken = taken.with_numbers(job_pods.indexes_of(stopping))
        taken = taken.merged(self._failed_indexes or ())
        return first_free(taken, count, self._job["spec"]["completions"])

    def _remove(self, pods: Sequence[Object], *, keeps_finalizer: bool) -> int:
        """Delete pods and return how many went; those that the job gives up need not be counted."""
        removed = 0
        for pod in pods:
            try:
                if not keeps_finalizer:
                    release(self.component, pod)
                delete_pod(self.component, self._job, pod)
            except StatusError as error:
                self.failure = self.failure or error
                continue
            removed += 1
            self._ready -= conditions.is_pod_ready(pod)
        self._terminating += removed
        return removed

    def _wait(self, wait_ms: int) -> None:
        self.wait_ms = wait_ms if self.wait_ms is None else min(self.wait_ms, wait_ms)
