"""CronJobs: Jobs by the clock.

Source: k8s.io/kubernetes pkg/controller/cronjob; tests/golden/l2/flows (ids cron-), tests/golden/l0/cronjob_math.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _cron_jobs as jobs
from env_core.controllers import _cron_times as times
from env_core.controllers import _job_conditions as ends
from env_core.controllers._model import Controller, Key, Requeue, controller_key, own_key
from env_core.controllers._pods import controller_of
from env_core.controllers._retry import TryAgain, is_namespace_terminating, retrying
from env_core.objects import conditions, meta
from env_core.objects.cron_schedule import Schedule, ScheduleError, has_time_zone, parse_schedule
from env_core.objects.problems import quoted
from env_core.objects.time_zones import is_time_zone
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

RESOURCE = "cronjobs.batch"
_SCHEDULES = "schedules"
_NEVER_STARTED_MS = 2**63


def _reconcile(component: Component, key: Key) -> Requeue | None:
    cronjob = component.cache.get(RESOURCE, *key)
    if cronjob is None:
        component.table(_SCHEDULES).pop(key)
        return None
    if _has_new_schedule(component, key, cronjob):
        schedule = _schedule(component, cronjob)
        return None if schedule is None else _until(times.wait_ms(cronjob, schedule, component.now_ms))
    return _Sync(component, cronjob).run()


def _has_new_schedule(component: Component, key: Key, cronjob: Object) -> bool:
    """Note the schedule; say whether it was another: then what has gone by since is not made up for."""
    table = component.table(_SCHEDULES)
    spec = cronjob["spec"]
    before = table.get(key)
    table[key] = (meta.uid(cronjob), spec["schedule"], spec.get("timeZone"))
    return before is not None and before != table[key] and before[0] == meta.uid(cronjob)


def _until(wait_ms: int | None) -> Requeue | None:
    return None if wait_ms is None else Requeue(wait_ms)


def _schedule(component: Component, cronjob: Object) -> Schedule | None:
    """Return the schedule in its time zone; None, with an event, if it cannot be read."""
    spec = cronjob["spec"]
    text, zone = spec["schedule"], spec.get("timeZone")
    if has_time_zone(text):
        warning = (
            f"CRON_TZ or TZ used in schedule {quoted(text)} is not officially supported, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
        component.recorder.event(cronjob, "Warning", "UnsupportedSchedule", warning)
    elif zone:
        text = f"TZ={zone} {text}"
    try:
        return parse_schedule(text)
    except ScheduleError as error:
        reason = f"unparseable schedule: {quoted(spec['schedule'])} : {error}"
        component.recorder.event(cronjob, "Warning", "UnparseableSchedule", reason)
        return None


class _Sync:
    """One look at a cron job: what its jobs have come to, and whether another is due."""

    __slots__ = ("_cronjob", "_jobs", "_status", "component")

    def __init__(self, component: Component, cronjob: Object) -> None:
        self.component = component
        self._cronjob = cronjob
        self._status: Object = dict(cronjob.get("status") or {})
        self._jobs = [
            job
            for job in component.cache.list(jobs.JOBS, meta.namespace(cronjob))
            if (controller_of(job["metadata"]) or {}).get("name") == meta.name(cronjob)
        ]

    def run(self) -> Requeue | None:
        """Do what is due.

        Raises:
            StatusError: if the API refuses.
            TryAgain: if a job that is to be replaced cannot be deleted.
        """
        try:
            self._clean_up()
            self._look_at_jobs()
            return self._start()
        finally:
            if self._status != (self._cronjob.get("status") or {}):
                body = {**self._cronjob, "status": self._status}
                self.component.api.update_status(RESOURCE, meta.namespace(self._cronjob), body)

    def _event(self, kind: str, reason: str, message: str) -> None:
        self.component.recorder.event(self._cronjob, kind, reason, message)

    @property
    def _active(self) -> list[Object]:
        return self._status.get("active") or []

    def _is_active(self, uid: str) -> bool:
        return any(reference["uid"] == uid for reference in self._active)

    def _set_active(self, references: Sequence[Object]) -> None:
        if references:
            self._status["active"] = list(references)
        else:
            self._status.pop("active", None)

    def _forget(self, uid: str) -> None:
        self._set_active([reference for reference in self._active if reference["uid"] != uid])

    # Jobs that are over

    def _clean_up(self) -> None:
        """Delete the oldest finished jobs beyond the limits of the history."""
        spec = self._cronjob["spec"]
        for type_, key in (
            (ends.COMPLETE, "successfulJobsHistoryLimit"),
            (ends.FAILED, "failedJobsHistoryLimit"),
        ):
            limit = spec.get(key)
            finished = [job for job in self._jobs if _finish(job) == type_]
            if limit is None or len(finished) <= limit:
                continue
            finished.sort(key=lambda job: (_started_ms(job), meta.name(job)))
            for job in finished[: len(finished) - limit]:
                self._delete_finished(job)

    def _delete_finished(self, job: Object) -> None:
        uid = meta.uid(job)
        was_active = self._is_active(uid)
        if not jobs.delete(self.component, self._cronjob, job):
            return
        self._forget(uid)
        if was_active:
            # The deletion brings upstream's controller back before it sees its own status: tests/golden cron-history.
            self._event("Normal", "MissingJob", f"Active job went missing: {meta.name(job)}")

    def _look_at_jobs(self) -> None:
        """Bring the list of running jobs, and the time of the last success, up to date."""
        for job in self._jobs:
            uid, name, finish = meta.uid(job), meta.name(job), _finish(job)
            is_active = self._is_active(uid)
            if not is_active and not finish:
                text = f"Saw a job that the controller did not create or forgot: {name}"
                self._event("Warning", "UnexpectedJob", text)
            elif is_active and finish:
                self._forget(uid)
                self._event("Normal", "SawCompletedJob", f"Saw completed job: {name}, status: {finish}")
            elif finish == ends.COMPLETE:
                self._note_success((job.get("status") or {}).get("completionTime"))
        known = {meta.uid(job) for job in self._jobs}
        for reference in self._active:
            if reference["uid"] not in known:
                self._event("Normal", "MissingJob", f"Active job went missing: {reference['name']}")
                self._forget(reference["uid"])

    def _note_success(self, completed: str | None) -> None:
        last = self._status.get("lastSuccessfulTime")
        if completed and (last is None or parse_ms(completed) > parse_ms(last)):
            self._status["lastSuccessfulTime"] = completed

    # The next one

    def _start(self) -> Requeue | None:
        """Start a job if one is due; return when to look again."""
        spec = self._cronjob["spec"]
        if meta.is_terminating(self._cronjob):
            return None
        zone = spec.get("timeZone")
        if zone is not None and not is_time_zone(zone):
            text = f"invalid timeZone: {quoted(zone)}: unknown time zone {zone}"
            self._event("Warning", "UnknownTimeZone", text)
            return None
        if spec.get("suspend"):
            return None
        schedule = _schedule(self.component, self._cronjob)
        if schedule is None:
            return None
        now_ms = self.component.now_ms
        try:
            due = times.most_recent(self._shown(), schedule, now_ms, has_deadline=True)
        except times.NeverDue as error:
            self._event("Warning", "InvalidSchedule", f"invalid schedule: {spec['schedule']} : {error}")
            return None
        if due.recent_s is not None:
            if due.missed == times.MANY_MISSED:
                text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
                self._event("Warning", "TooManyMissedTimes", text)
            self._start_at(due.recent_s)
        return _until(times.wait_ms(self._shown(), schedule, now_ms))

    def _shown(self) -> Object:
        return {**self._cronjob, "status": self._status}

    def _start_at(self, due_s: int) -> None:
        spec, name = self._cronjob["spec"], jobs.job_name(self._cronjob, due_s)
        deadline_s = spec.get("startingDeadlineSeconds")
        if deadline_s is not None and (due_s + deadline_s) * 1000 < self.component.now_ms:
            text = f"Missed scheduled time to start a job: {_rfc1123(due_s)}"
            self._event("Warning", "MissSchedule", text)
            return
        stamp = rfc3339(due_s * 1000)
        is_known = any(reference["name"] == name for reference in self._active)
        if is_known or self._status.get("lastScheduleTime") == stamp:
            return
        policy = spec.get("concurrencyPolicy")
        if policy == "Forbid" and self._active:
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._event("Normal", "JobAlreadyActive", text)
            return
        if policy == "Replace":
            self._delete_active()
        job = self._create(due_s)
        if job is not None:
            self._set_active([*self._active, jobs.reference_to(job)])
            self._status["lastScheduleTime"] = stamp

    def _delete_active(self) -> None:
        for reference in self._active:
            job = self.component.cache.get(jobs.JOBS, reference["namespace"], reference["name"])
            if job is None or not jobs.delete(self.component, self._cronjob, job):
                raise TryAgain(f"could not replace job {reference['namespace']}/{reference['name']}")
            self._forget(reference["uid"])

    def _create(self, due_s: int) -> Object | None:
        """Create the job and say so; return it, also if it was there already and not yet in the list."""
        wished = jobs.new_job(self._cronjob, due_s)
        namespace, name = meta.namespace(self._cronjob), meta.name(wished)
        try:
            created = self.component.api.create(jobs.JOBS, namespace, wished)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                if not is_namespace_terminating(error):
                    self._event("Warning", "FailedCreate", f"Error creating job: {error.message}")
                raise
            found = self.component.cache.get(jobs.JOBS, namespace, name)
            is_ours = found is not None and meta.controller_uid(found) == meta.uid(self._cronjob)
            return found if found is not None and is_ours and not self._is_active(meta.uid(found)) else None
        self._event("Normal", "SuccessfulCreate", f"Created job {name}")
        return created


def _finish(job: Object) -> str:
    """Return how the job ended, "" if it has not."""
    for each in conditions.conditions_of(job):
        if each["type"] in (ends.COMPLETE, ends.FAILED) and each["status"] == conditions.TRUE:
            return str(each["type"])
    return ""


def _started_ms(job: Object) -> int:
    started = (job.get("status") or {}).get("startTime")
    return parse_ms(started) if started else _NEVER_STARTED_MS


def _rfc1123(second: int) -> str:
    """Return a time as Go's RFC1123Z prints it: "Thu, 01 Jan 2026 00:00:00 +0000"."""
    return datetime.fromtimestamp(second, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")


CONTROLLER = Controller(
    name="cronjob",
    watches=((RESOURCE, own_key), (jobs.JOBS, controller_key("CronJob"))),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/cronjob; tests/golden/l2/flows (ids cron-)",
)
