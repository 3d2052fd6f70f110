"""CronJobs make their jobs on time and as often as they may."""

import pytest

from tests.controllers.town import Town

RESOURCE = "cronjobs.batch"
JOBS = "jobs.batch"
LONG = {"sim/run": "forever"}
MINUTE_MS = 60_000


@pytest.fixture
def town():
    return Town()


def jobs(town):
    return [each["metadata"]["name"] for each in town.world.store.list(JOBS, "default")]


def test_a_job_is_made_each_minute_and_called_by_it(town):
    town.cron("tick", "* * * * *", successfulJobsHistoryLimit=10)
    begun_ms = town.world.now_ms
    town.world.advance(3 * MINUTE_MS)
    first = begun_ms // MINUTE_MS + 1
    assert jobs(town) == [f"tick-{minute}" for minute in range(first, first + 3)]
    assert town.get(RESOURCE, "tick")["status"]["lastScheduleTime"].endswith(":03:00Z")


def test_only_as_many_finished_jobs_stay_as_the_limits_say(town):
    town.cron("tick", "* * * * *", successfulJobsHistoryLimit=2)
    town.cron("tock", "* * * * *", failedJobsHistoryLimit=0, annotations={"sim/exit": "1"})
    town.world.api.patch(
        RESOURCE, "default", "tock", {"spec": {"jobTemplate": {"spec": {"backoffLimit": 0}}}}
    )
    town.world.advance(6 * MINUTE_MS + 30_000)
    assert [name[:4] for name in jobs(town)] == ["tick", "tick"]


@pytest.mark.parametrize(("policy", "count"), [("Allow", 3), ("Forbid", 1), ("Replace", 1)])
def test_jobs_that_overlap_follow_the_concurrency_policy(town, policy, count):
    town.cron("tick", "* * * * *", annotations=LONG, concurrencyPolicy=policy)
    town.world.advance(3 * MINUTE_MS + 30_000)
    assert len(jobs(town)) == count
    first = (town.world.now_ms // MINUTE_MS) - 2
    assert (f"tick-{first}" in jobs(town)) == (policy != "Replace")
    if policy == "Forbid":
        assert ("Normal", "JobAlreadyActive") in [row[:2] for row in town.events("tick")]


def test_a_suspended_one_catches_up_with_its_newest_time_only(town):
    town.cron("tick", "* * * * *", suspend=True, annotations=LONG)
    town.world.advance(5 * MINUTE_MS + 10_000)
    assert jobs(town) == []
    town.world.api.patch(RESOURCE, "default", "tick", {"spec": {"suspend": False}})
    town.world.advance(1_000)
    assert jobs(town) == [f"tick-{town.world.now_ms // MINUTE_MS}"]


def test_a_time_is_missed_after_its_deadline(town):
    town.cron("tick", "*/10 * * * *", suspend=True, startingDeadlineSeconds=60, annotations=LONG)
    town.world.advance(13 * MINUTE_MS)
    town.world.api.patch(RESOURCE, "default", "tick", {"spec": {"suspend": False}})
    town.world.advance(1_000)
    assert jobs(town) == []
    town.world.advance(8 * MINUTE_MS)
    assert len(jobs(town)) == 1


def test_the_schedule_is_read_in_its_time_zone(town):
    # The world begins at 09:00 UTC in January: 10:00 in Berlin.
    town.cron("here", "5 10 * * *", timeZone="Europe/Berlin", annotations=LONG)
    town.cron("there", "5 10 * * *", timeZone="Asia/Tokyo", annotations=LONG)
    town.cron("utc", "5 10 * * *", annotations=LONG)
    town.world.advance(10 * MINUTE_MS)
    assert [name.split("-")[0] for name in jobs(town)] == ["here"]
    town.world.advance(60 * MINUTE_MS)
    assert [name.split("-")[0] for name in jobs(town)] == ["here", "utc"]


def test_a_schedule_that_is_never_due_makes_nothing_and_asks_for_nothing(town):
    town.cron("never", "0 0 31 2 *")
    town.world.advance(60 * MINUTE_MS)
    assert jobs(town) == []


def test_the_jobs_go_with_their_cron_job(town):
    town.cron("tick", "* * * * *", annotations=LONG)
    town.world.advance(3 * MINUTE_MS)
    town.world.api.delete(RESOURCE, "default", "tick")
    town.world.advance(2 * MINUTE_MS)
    assert jobs(town) == []
    assert town.pods() == []
