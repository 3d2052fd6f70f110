"""Every suite keeps the contract: unique tasks, deterministic resets, solvable by its reference, ordered outcomes, short pages."""

import math
import os

import orjson
import pytest

from env_core.catalogue.proving import LOOK_ON, play, prove
from env_core.episode import Episode, InvalidInput, UnknownName, find_task, suites, tasks

SEEDS = range(int(os.environ.get("KUBEDRILL_TEST_SEEDS", "2")))
"""Seeds per task; raise it for the long run."""

CHARS_PER_TOKEN = 4
INITIAL_TOKENS_MAX = 2_500
STEP_TOKENS_MAX = 6_000
"""Beside the observation's fixed part, one command's output of at most 16,000 characters."""

SUITES = suites()
TASKS = [(suite, task) for suite in SUITES for task in suite.tasks]
LISTED = [(suite, task, seed) for suite, task in TASKS if task.is_listed for seed in SEEDS]

every_suite = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
every_task = pytest.mark.parametrize(
    ("suite", "task"), TASKS, ids=[f"{suite.id}-{task.id}" for suite, task in TASKS]
)
every_case = pytest.mark.parametrize(
    ("suite", "task", "seed"), LISTED, ids=[f"{suite.id}-{task.id}-{seed}" for suite, task, seed in LISTED]
)


def tokens(observation):
    return len(orjson.dumps(observation)) / CHARS_PER_TOKEN


@every_suite
def test_declarations_are_complete(suite):
    assert suite.name.replace("-", "").isalnum()
    assert suite.id == f"{suite.name}-v{suite.version}"
    assert suite.summary.strip()
    assert suite.tasks
    assert any(task.is_listed for task in suite.tasks)
    low, high = suite.reward_range
    assert low < 0 < high
    assert math.isfinite(low)
    assert math.isfinite(high)
    for task in suite.tasks:
        assert task.id
        assert task.name.strip()
        assert task.description.strip()
        assert task.difficulty in ("easy", "medium", "hard")
        assert task.steps_max > 0
        assert task.default_seed >= 0


def test_task_ids_are_unique_over_all_suites():
    ids = [task.id for _, task in TASKS]
    assert sorted(set(ids)) == sorted(ids)
    names = [name for suite in SUITES for name in (suite.id, suite.name)]
    assert sorted(set(names)) == sorted(names)
    assert {task.id for _, task in tasks()} == {task.id for _, task in TASKS if task.is_listed}
    for suite, task in TASKS:
        assert find_task("", task.id) == (suite, task)
        assert find_task(suite.id, task.id) == (suite, task)
        assert find_task(suite.name, task.id) == (suite, task)


def test_what_does_not_exist_is_refused_with_what_does():
    with pytest.raises(UnknownName) as refused:
        find_task("no-such-suite", "")
    assert refused.value.valid == tuple(suite.id for suite in SUITES)
    with pytest.raises(UnknownName) as refused:
        find_task("", "no-such-task")
    assert refused.value.valid == tuple(task.id for _, task in TASKS if task.is_listed)
    for seed in (-1, 2**63, True, "1", 1.5):
        with pytest.raises(InvalidInput):
            Episode.reset(seed=seed)


@every_task
def test_a_reset_is_deterministic_and_seeds_differ(suite, task):
    first, page = Episode.reset(suite=suite.id, task=task.id, seed=5)
    second, again = Episode.reset(suite=suite.id, task=task.id, seed=5)
    assert page == again
    assert first.digest() == second.digest()
    others = {Episode.reset(suite=suite.id, task=task.id, seed=seed)[0].digest() for seed in range(8)}
    assert len(others) == 8
    default, _ = Episode.reset(suite=suite.id, task=task.id)
    assert default.seed == task.default_seed


@pytest.mark.parametrize("seed", [0, 2**31, 2**63 - 1])
@every_task
def test_any_seed_begins(suite, task, seed):
    episode, result = Episode.reset(suite=suite.id, task=task.id, seed=seed)
    assert result.reward is None
    assert not result.is_done
    assert episode.state()["seed"] == seed


@every_case
def test_outcomes_are_ordered(suite, task, seed):
    proof = prove(suite, task, seed)
    assert proof.problems == ()
    assert proof.repairs >= 2
    assert proof.decoys >= 2


@every_case
def test_rewards_stay_in_range_and_scores_between_0_and_1(suite, task, seed):
    low, high = suite.reward_range
    for options in ({}, {"terminal_reward": True}, {"reward_mode": "seed"}):
        for script in (*suite.reference(task, seed), *suite.decoys(task, seed)):
            episode, result = Episode.reset(suite=suite.id, task=task.id, seed=seed, options=options)
            for line in (*script, *([LOOK_ON] * task.steps_max)):
                if result.is_done:
                    break
                result = episode.step(line)
                assert isinstance(result.reward, float)
                assert low <= result.reward <= high
                assert result.reward == pytest.approx(sum(result.reward_terms.values()), abs=2e-3)
            assert result.is_done
            assert result.is_terminated != result.is_truncated
            assert 0.0 <= episode.score() <= 1.0


@every_case
def test_every_episode_ends_within_its_steps(suite, task, seed):
    episode, _ = play(suite, task, seed, ())
    assert episode.step_count == task.steps_max


@every_case
def test_pages_fit_the_token_budget(suite, task, seed):
    episode, result = Episode.reset(suite=suite.id, task=task.id, seed=seed)
    assert tokens(result.observation) <= INITIAL_TOKENS_MAX
    for line in ("kubectl get pods -A -o yaml", "kubectl api-resources", "kubectl describe nodes"):
        if not episode.is_done:
            assert tokens(episode.step(line).observation) <= STEP_TOKENS_MAX


LONG_LINES = (
    "kubectl get pods; sleep 9999999999",
    "kubectl get pods -A --watch",
    "kubectl get pods; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 3600; done",
    "kubectl wait pod --all -A --for=condition=Foo --timeout=-1s",
    "kubectl wait deployment --all -A --for=condition=Foo --timeout=99999h",
    "kubectl get pods; timeout 99999999 sleep 99999999",
    "kubectl get pods; while true; do true; done",
    "curl -m 99999999 http://10.96.0.99/",
    "curl --retry 999999 --retry-delay 9999 http://10.96.0.99/",
)
STEP_MS_MAX = 900_000
ENTRIES_MAX = 20_000


@every_case
def test_no_line_takes_the_world_far(suite, task, seed):
    for line in LONG_LINES:
        episode, _ = Episode.reset(suite=suite.id, task=task.id, seed=seed)
        cluster = episode._incident.cluster
        began_ms, before = cluster.now_ms, cluster.loop.handled
        result = episode.step(line)
        assert isinstance(result.observation["exit_code"], int)
        assert cluster.now_ms - began_ms <= STEP_MS_MAX, line
        assert cluster.loop.handled - before <= ENTRIES_MAX, line


@every_case
def test_a_fork_goes_its_own_way(suite, task, seed):
    episode, _ = Episode.reset(suite=suite.id, task=task.id, seed=seed)
    fork = episode.fork()
    assert fork.digest() == episode.digest()
    script = suite.reference(task, seed)[0]
    before = episode.digest()
    for line in script:
        if not fork.is_done:
            fork.step(line)
    assert episode.digest() == before
    assert fork.digest() != before
    twin = episode.fork()
    for line in script:
        if not twin.is_done:
            twin.step(line)
    assert twin.digest() == fork.digest()


@every_case
def test_nothing_tells_the_verdict_while_an_episode_runs(suite, task, seed):
    episode, result = Episode.reset(suite=suite.id, task=task.id, seed=seed)
    for name in ("scenario_id", "oracle_score", "oracle_verdict", "oracle_summary"):
        assert episode.state().get(name) is None
    for text in (
        orjson.dumps(result.observation).decode(),
        orjson.dumps(result.info).decode(),
        orjson.dumps(episode.state()).decode(),
    ):
        for _, other in TASKS:
            assert other.is_listed or other.id not in text
