"""Rollouts against real servers: what is a token of the policy, what a dead replica changes (nothing), and what an episode may cost."""

import os
import signal
import time

import pytest

from env_core.episode import Episode
from kubedrill.client import EpisodeError
from kubedrill.models import KubeObservation
from kubedrill.policies.heuristic import HeuristicPolicy
from tests.server.children import free_port, running
from tests.training.letters import END, Letters, Planned, requests_for, text_of
from training.replicas import START_S_MAX, Replicas, server_python
from training.rollouts import EpisodeRequest, Settings, run

ROOMY = Settings(turns_max=12, completion_tokens_max=20_000, turn_tokens_max=2_000, output_chars_max=600)
LOOK = "kubectl -n tron get pods -l seen=xSEEN"


def repairs(task, seed):
    """Return what the rule-based baseline does."""
    episode, result = Episode.reset(suite="tron", task=task, seed=seed)
    policy, commands = HeuristicPolicy(), []
    while not result.is_done:
        command = policy.act(KubeObservation(**result.observation))
        assert command is not None
        commands.append(command)
        result = episode.step(command)
    return commands


@pytest.fixture(scope="module")
def plans():
    return {
        **{("hard", seed): [LOOK, *repairs("hard", seed)] for seed in (17, 18)},
        ("easy", 3): [LOOK, "kubectl -n tron scale deployment redis --replicas=0", "kubectl frobnicate"],
        ("medium", 5): [LOOK, "kubectl -n tron get events", LOOK],
    }


@pytest.fixture(scope="module")
def replicas():
    with Replicas.started(3) as started:
        yield started


@pytest.fixture(scope="module")
def toy():
    """The URL of a server whose every answer differs."""
    with running("tests.server.toy", python=server_python()) as url:
        yield url


def only(replicas, count):
    """Return the first of the servers that run already."""
    return Replicas.at(replicas.urls[:count])


def lived(batch):
    """Return what must not depend on where and how episodes were played."""
    return [
        (
            row.prompt_ids,
            row.completion_ids,
            row.env_mask,
            row.logprobs,
            row.reward,
            row.score,
            row.actions,
            row.rewards,
            row.turns,
            row.tool_errors,
            row.ended,
        )
        for row in batch
    ]


@pytest.fixture(scope="module")
def batch(plans, replicas):
    return run(requests_for(plans, 3), Planned(plans), Letters(), only(replicas, 1), ROOMY)


def test_the_mask_marks_what_the_policy_sampled_and_nothing_else(batch, plans):
    for row in batch:
        assert len(row.completion_ids) == len(row.env_mask) == len(row.logprobs)
        turns, reply = [[]], []
        for token, is_model, logprob in zip(row.completion_ids, row.env_mask, row.logprobs, strict=True):
            assert (logprob == 0.0) is not bool(is_model)
            (turns[-1] if is_model else reply).append(token)
            if is_model and token == END:
                turns.append([])
        said = [text_of(turn) for turn in turns[:-1]]
        assert turns[-1] == []
        assert len(said) == row.turns
        assert [line[4 : -len("<end>")] for line in said if line.startswith("run ")] == row.actions
        # A result is followed by a turn, so none stands at the end.
        assert text_of(reply).count("\n> ") == row.turns - 1
        assert row.env_mask[-1] == 1


def test_rewards_are_the_environments_own(batch, plans):
    for row, request in zip(batch, requests_for(plans, 3), strict=True):
        episode, _ = Episode.reset(suite="tron", task=request.task, seed=request.seed)
        rewards = [episode.step(command).reward for command in row.actions]
        assert row.rewards == rewards
        assert row.reward == pytest.approx(sum(rewards))
        assert row.score == (episode.state()["oracle_score"] if episode.is_done else None)
    assert [row.ended for row in batch] == ["done"] * 6 + ["text"] * 6
    assert [row.score for row in batch[:6]] == [1.0] * 6
    assert {row.tool_errors for row in batch[6:9]} == {1}


def test_equal_requests_meet_the_same_incident_and_other_seeds_another(batch):
    assert all(batch[index].prompt_ids == batch[index - index % 3].prompt_ids for index in range(12))
    assert batch[0].completion_ids == batch[1].completion_ids
    assert batch[0].completion_ids != batch[3].completion_ids


@pytest.mark.parametrize(("count", "halves"), [(1, 2), (3, 1), (3, 2), (2, 3)])
def test_neither_replicas_nor_halves_change_a_token(batch, plans, replicas, count, halves):
    settings = Settings(**{**vars(ROOMY), "halves": halves})
    again = run(requests_for(plans, 3), Planned(plans), Letters(), only(replicas, count), settings)
    assert lived(again) == lived(batch)


def test_a_replica_of_another_version_is_found_out_by_its_first_answer(plans, replicas, toy):
    mixed = Replicas.at([replicas.urls[0], toy])
    rows = run(requests_for([("medium", 5)], 4), Planned(plans), Letters(), mixed, ROOMY)
    # The halves are begun one after the other, each on both replicas; whoever answers for the first row is believed.
    assert [row.ended for row in rows] == ["text", "text", "unscorable", "unscorable"]
    assert rows.metrics["env/unscorable_frac"] == 0.5


def test_a_failure_of_the_servers_own_is_unscorable_and_harms_no_other_row(toy):
    plans = {("easy", 1): ["kubectl boom"], ("easy", 2): ["kubectl fix"]}
    rows = run(requests_for(plans, 2), Planned(plans), Letters(), Replicas.at([toy]), ROOMY)
    assert [(row.ended, row.reward, row.score) for row in rows] == [
        ("unscorable", None, None),
        ("unscorable", None, None),
        ("done", 0.3, 1.0),
        ("done", 0.3, 1.0),
    ]


def test_without_any_replica_every_row_is_unscorable(plans):
    nobody = Replicas.at([f"http://127.0.0.1:{free_port()}"])
    try:
        rows = run(requests_for(plans, 1), Planned(plans), Letters(), nobody, Settings(timeout_s=0.5))
    finally:
        nobody.close()
    assert {(row.ended, row.reward) for row in rows} == {("unscorable", None)}


def test_a_request_for_what_does_not_exist_is_the_callers_mistake(replicas, plans):
    with pytest.raises(EpisodeError, match="no-such-task"):
        run([EpisodeRequest("tron", "no-such-task", 1)], Planned(plans), Letters(), replicas, ROOMY)
    assert [member.load for member in replicas.members] == [0, 0, 0]


@pytest.mark.parametrize("budget", [50, 60, 200, 500, 900])
def test_no_episode_is_longer_than_its_budget(batch, plans, replicas, budget):
    settings = Settings(**{**vars(ROOMY), "completion_tokens_max": budget})
    policy = Planned(plans)
    rows = run(requests_for(plans, 1), policy, Letters(), replicas, settings)
    prompts = max(len(row.prompt_ids) for row in rows)
    assert policy.longest < prompts + budget
    for row, whole in zip(rows, batch[::3], strict=True):
        assert len(row.completion_ids) <= budget
        # What there is of it is what there would have been, and it ends with a turn, not with half a result.
        assert row.completion_ids == whole.completion_ids[: len(row.completion_ids)]
        assert row.env_mask == whole.env_mask[: len(row.env_mask)]
        assert row.env_mask[-1] == 1
        assert row.ended == (whole.ended if row.completion_ids == whole.completion_ids else "budget")
    assert "budget" in {row.ended for row in rows}


def test_a_long_result_loses_its_middle_and_an_episode_its_last_turns(plans, replicas):
    settings = Settings(**{**vars(ROOMY), "output_chars_max": 40, "turns_max": 2})
    (row,) = run(
        [EpisodeRequest("tron", "medium", 5)],
        Planned({("medium", 5): ["kubectl get pods -A"] * 3}),
        Letters(),
        replicas,
        settings,
    )
    reply = "".join(
        text_of([token]) for token, mask in zip(row.completion_ids, row.env_mask, strict=True) if not mask
    )
    assert len(reply) == len("\n\n> ") + 40
    assert "[cut]" in reply
    assert (row.ended, row.turns) == ("steps", 2)


def test_an_episode_that_the_policy_leaves_can_be_closed_for_its_verdict(replicas):
    plans = {("repair-1", 3): ["kubectl get pods -A"]}
    request = EpisodeRequest("repair", "repair-1", 3)
    open_, closed = (
        run(
            [request],
            Planned(plans),
            Letters(),
            replicas,
            Settings(closing=closing, completion_tokens_max=9_000),
        )[0]
        for closing in ("", "submit")
    )
    assert (open_.score, open_.reward, open_.ended) == (None, 0.0, "text")
    assert (closed.score, closed.ended) == (0.2, "text")
    assert closed.completion_ids == open_.completion_ids
    assert closed.actions == ["kubectl get pods -A", "submit"]


def test_the_policy_is_asked_in_the_same_order_whatever_the_latency(plans, replicas):
    def order(latency_s):
        asked = []

        class Noting(Planned):
            def generate(self, contexts, max_new_tokens):
                asked.append([list(context) for context in contexts])
                return super().generate(contexts, max_new_tokens)

        run(
            requests_for(plans, 2),
            Noting(plans),
            Letters(),
            Replicas.at(replicas.urls, latency_s=latency_s),
            ROOMY,
        )
        return asked

    assert order(0.0) == order(0.03)


def test_killing_a_replica_in_the_middle_changes_no_token_and_no_reward(batch, plans, replicas):
    victim = replicas.members[0]

    def kill(call):
        if call == 4:
            os.kill(victim.host.pid, signal.SIGKILL)

    again = run(requests_for(plans, 3), Planned(plans, kill), Letters(), replicas, ROOMY)
    assert lived(again) == lived(batch)
    assert again.metrics["env/replays"] >= 3
    assert again.metrics["env/failures"] == 1
    assert again.metrics["env/unscorable_frac"] == 0
    assert [member.load for member in replicas.members] == [0, 0, 0]
    # The server that was ours to start is started again, at its old place.
    ends_at_s = time.monotonic() + START_S_MAX
    while not victim.is_up and time.monotonic() < ends_at_s:
        time.sleep(0.1)
    assert victim.is_healthy()
    assert lived(run(requests_for(plans, 3), Planned(plans), Letters(), only(replicas, 1), ROOMY)) == lived(
        batch
    )


def test_an_episode_that_comes_out_differently_elsewhere_is_unscorable(plans, replicas, toy):
    """Kills a server behind the back of those who started it, so it stands last."""

    def kill(call):
        if call == 3:
            os.kill(replicas.members[2].host.pid, signal.SIGKILL)

    mixed = Replicas.at([replicas.urls[2], toy])
    # One row for each seed, so that the first observations give nothing away.
    rows = run(requests_for(list(plans)[2:], 1), Planned(plans, kill), Letters(), mixed, ROOMY)
    mixed.close()
    assert [(row.ended, row.reward is None) for row in rows] == [("unscorable", True), ("text", False)]
