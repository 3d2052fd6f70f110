"""Jobs run what is to be run, not more often than they may, and end as their policies say."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.controllers.town import Town

RESOURCE = "jobs.batch"
FINALIZER = "batch.kubernetes.io/job-tracking"
LONG = {"sim/run": "forever"}
FAILING = {"sim/exit": "1"}


@pytest.fixture
def town():
    return Town()


def conditions(town, name="j"):
    rows = town.get(RESOURCE, name)["status"].get("conditions", ())
    return [(row["type"], row.get("reason", "")) for row in rows if row["status"] == "True"]


def made_ms(town):
    """Return when pods were made, as a list that goes on."""
    found = []

    def look(event):
        if event.ref.resource == "pods" and event.type == "ADDED":
            found.append(town.world.now_ms)

    town.world.listeners.append(look)
    return found


def test_pods_are_counted_before_they_may_go(town):
    town.job("j", completions=3, parallelism=2)
    town.world.advance(1_000)
    assert {tuple(pod["metadata"]["finalizers"]) for pod in town.pods()} == {(FINALIZER,)}
    town.world.advance(60_000)
    assert town.get(RESOURCE, "j")["status"]["succeeded"] == 3
    assert conditions(town) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert [pod["metadata"].get("finalizers") for pod in town.pods()] == [None] * 3
    assert town.get(RESOURCE, "j")["status"]["uncountedTerminatedPods"] == {}


def test_failed_pods_are_followed_ever_later_until_the_limit(town):
    times = made_ms(town)
    town.job("j", annotations=FAILING, backoffLimit=3)
    town.world.advance(300_000)
    assert [round((after - before) / 10_000) for before, after in pairwise(times)] == [1, 2, 4]
    assert town.get(RESOURCE, "j")["status"]["failed"] == 4
    assert conditions(town) == [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]


def test_a_deadline_ends_a_job_and_its_pods(town):
    town.job("j", annotations=LONG, activeDeadlineSeconds=20)
    town.world.advance(19_000)
    assert conditions(town) == []
    town.world.advance(120_000)
    assert conditions(town) == [("FailureTarget", "DeadlineExceeded"), ("Failed", "DeadlineExceeded")]
    assert town.pods() == []


def test_a_suspended_job_has_no_pods_and_starts_anew(town):
    town.job("j", annotations=LONG, parallelism=2, completions=2, suspend=True)
    town.world.advance(30_000)
    assert town.pods() == []
    assert conditions(town) == [("Suspended", "JobSuspended")]
    assert "startTime" not in town.get(RESOURCE, "j")["status"]
    town.world.api.patch(RESOURCE, "default", "j", {"spec": {"suspend": False}})
    town.world.advance(10_000)
    assert len(town.pods()) == 2
    town.world.api.patch(RESOURCE, "default", "j", {"spec": {"suspend": True}})
    town.world.advance(60_000)
    assert town.pods() == []
    assert town.get(RESOURCE, "j")["status"].get("failed", 0) == 0


def test_each_index_may_fail_by_itself(town):
    town.job(
        "j",
        annotations={"sim/exit-index-1": "1"},
        completionMode="Indexed",
        completions=3,
        parallelism=3,
        backoffLimitPerIndex=1,
    )
    town.world.advance(300_000)
    status = town.get(RESOURCE, "j")["status"]
    assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1")
    assert status["failed"] == 2
    assert conditions(town) == [("FailureTarget", "FailedIndexes"), ("Failed", "FailedIndexes")]


def test_some_indexes_are_enough_by_the_success_policy(town):
    town.job(
        "j",
        annotations={"sim/exit-index-1": "1"},
        completionMode="Indexed",
        completions=3,
        parallelism=3,
        successPolicy={"rules": [{"succeededIndexes": "0,2"}]},
    )
    town.world.advance(60_000)
    assert conditions(town) == [("SuccessCriteriaMet", "SuccessPolicy"), ("Complete", "SuccessPolicy")]


@pytest.mark.parametrize(
    ("action", "failed", "end"),
    [("FailJob", 1, "PodFailurePolicy"), ("Count", 3, "BackoffLimitExceeded"), ("Ignore", 0, "")],
)
def test_what_a_failure_means_is_the_failure_policys_to_say(town, action, failed, end):
    codes = {"operator": "In", "values": [42]}
    rules = [{"action": action, "onExitCodes": codes}]
    town.job("j", annotations={"sim/exit": "42"}, backoffLimit=2, podFailurePolicy={"rules": rules})
    town.world.advance(120_000)
    assert town.get(RESOURCE, "j")["status"].get("failed", 0) == failed
    assert [reason for type_, reason in conditions(town) if type_ == "Failed"] == ([end] if end else [])


def test_finished_jobs_go_after_their_time(town):
    town.job("j", ttlSecondsAfterFinished=30)
    town.world.advance(20_000)
    assert conditions(town)[-1][0] == "Complete"
    town.world.advance(40_000)
    assert town.get(RESOURCE, "j") is None
    town.world.advance(10_000)
    assert town.pods() == []


def test_a_job_that_is_deleted_with_its_pods_leaves_no_finalizer_behind(town):
    town.job("j", annotations=LONG, parallelism=3)
    town.world.advance(10_000)
    town.world.api.delete(RESOURCE, "default", "j")
    town.world.advance(60_000)
    assert town.pods() == []


def test_a_pod_that_a_user_deletes_is_made_again(town):
    town.job("j", annotations=LONG)
    town.world.advance(10_000)
    (pod,) = town.pods()
    town.world.api.delete("pods", "default", pod["metadata"]["name"])
    town.world.advance(100_000)
    (other,) = town.pods()
    assert other["metadata"]["uid"] != pod["metadata"]["uid"]


@settings(max_examples=20, deadline=None)
@given(
    completions=st.integers(1, 8),
    parallelism=st.integers(1, 5),
    mode=st.sampled_from(["NonIndexed", "Indexed"]),
    changes=st.lists(st.tuples(st.integers(50, 3_000), st.integers(0, 5)), max_size=3),
)
def test_a_job_never_runs_more_pods_than_it_may_and_succeeds_exactly_often_enough(
    completions, parallelism, mode, changes
):
    town = Town()
    town.job("j", completions=completions, parallelism=parallelism, completionMode=mode)
    allowed = [parallelism]
    crowds = []

    def look(event):
        if event.ref.resource == "pods" and event.type == "ADDED":
            # A pod on its way out counts no more: its place may be taken at once (podReplacementPolicy TerminatingOrFailed).
            active = [
                pod
                for pod in town.pods()
                if pod["status"].get("phase") not in ("Succeeded", "Failed")
                and "deletionTimestamp" not in pod["metadata"]
            ]
            crowds.append((len(active), allowed[-1]))

    town.world.listeners.append(look)
    for wait_ms, number in changes:
        town.world.advance(wait_ms)
        done = conditions(town)
        if not done:
            town.world.api.patch(RESOURCE, "default", "j", {"spec": {"parallelism": number}})
            allowed.append(max(number, allowed[-1]))
    if not conditions(town):
        town.world.api.patch(RESOURCE, "default", "j", {"spec": {"parallelism": 2}})
        allowed.append(max(2, allowed[-1]))
    town.world.advance(200_000)
    status = town.get(RESOURCE, "j")["status"]
    assert status["succeeded"] == completions
    assert conditions(town)[-1] == ("Complete", "CompletionsReached")
    assert all(count <= limit for count, limit in crowds)
    if mode == "Indexed":
        assert status["completedIndexes"] in (f"0-{completions - 1}", "0,1", "0")
    assert town.world.failures() == {}
