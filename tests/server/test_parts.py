"""Settings, graders, the environment in process, its rubric, the deadline."""

import asyncio
import itertools
import json
import math
import re
import time

import pytest

from env_core.episode import Episode, EpisodeOver
from kubedrill.models import KubeAction, KubeState
from server import graders
from server.deadline import DeadlineExceeded, deadline
from server.environment import KubeEnvironment
from server.refusals import Refusal
from server.settings import SettingError, Settings


@pytest.mark.parametrize(
    ("variables", "ports"),
    [
        ({}, (8000,)),
        ({"HOST": "0.0.0.0"}, (8000, 7860)),
        ({"HOST": "0.0.0.0", "PORT": "9000"}, (9000,)),
        ({"PORT": "7860"}, (7860,)),
    ],
)
def test_the_image_listens_on_both_ports_unless_one_is_named(variables, ports):
    assert Settings.from_environment(variables).ports == ports


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "x"),
        ("PORT", "0"),
        ("MAX_CONCURRENT_ENVS", "-1"),
        ("KUBEDRILL_BACKEND", "cloud"),
        ("KUBEDRILL_IDLE_S", "soon"),
        ("KUBEDRILL_IDLE_S", "inf"),
        ("OPENENV_MODE", "x"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named_at_start(name, value):
    with pytest.raises(SettingError, match=name):
        Settings.from_environment({name: value})


def test_settings_come_from_the_environment():
    settings = Settings.from_environment(
        {
            "MAX_CONCURRENT_ENVS": "64",
            "KUBEDRILL_TOKEN": "t",
            "KUBEDRILL_JOURNAL": "/j",
            "KUBEDRILL_BACKEND": "SIM",
        }
    )
    assert (settings.episodes_max, settings.token, settings.journal, settings.backend) == (
        64,
        "t",
        "/j",
        "sim",
    )
    assert Settings.from_environment({}).episodes_max >= 256


def test_graders_lie_strictly_between_0_and_1_and_follow_what_was_played():
    for task, grade in (
        ("easy", graders.grade_easy),
        ("medium", graders.grade_medium),
        ("hard", graders.grade_hard),
    ):
        untouched, repaired = grade(), grade(commands=["kubectl fix"])
        assert 0.01 <= untouched < repaired <= 0.99
        episode, _ = Episode.reset(task=task)
        assert grade(episode) == untouched
        episode.step("kubectl fix")
        assert grade(episode) == 0.99


def test_a_grader_believes_no_number_that_is_passed_in():
    for given in ((1.0,), ({"score": 1.0},), ({"oracle_score": 0.9},), ("kubectl fix",)):
        assert (
            graders.EasyGrader().grade(*given, score=0.97, reward=1.0, state={"oracle_score": 1.0})
            == graders.grade_easy()
        )
    assert graders.HardGrader()(1.0) == graders.grade_hard()


def test_the_graders_of_the_server_grade_the_callers_own_episode(http):
    assert http.post("/grader/easy", json={}).json()["graded"] == "untouched"
    http.post("/reset", json={"task": "medium"})
    assert http.post("/grade", json={"score": 0.9}).json()["score"] == 0.35
    http.post("/step", json={"command": "kubectl fix"})
    for path in ("/grader", "/grade", "/grader/medium", "/grade/medium"):
        answer = http.post(path, json={}).json()
        assert (answer["score"], answer["task_id"], answer["graded"]) == (0.99, "medium", "episode")
    assert http.post("/grader/easy", json={}).status_code == 409
    assert http.post("/grader/nope", json={}).status_code == 404


def test_grading_a_running_episode_changes_nothing_in_it(http):
    http.post("/reset", json={})
    http.post("/step", json={"command": "a"})
    episode = next(iter(http.app.state.play.table)).environment.episode
    before = episode.digest()
    http.post("/grader", json={})
    assert episode.digest() == before


def test_the_environment_plays_in_process_as_openenv_has_it():
    environment = KubeEnvironment()
    assert environment.state == KubeState()
    with pytest.raises(Refusal):
        environment.step(KubeAction(command="a"))
    first = environment.reset(seed=3, episode_id="ep", task_id="hard", unknown=1)
    assert (first.episode_id, first.task_id, first.reward) == ("ep", "hard", None)
    observation = asyncio.run(environment.step_async(KubeAction(command="kubectl delete x")))
    assert math.isclose(observation.reward, -0.05)
    assert observation.metadata["reward_terms"] == {"service": 0.0, "cost": -0.05}
    assert environment.state.step_count == 1
    environment.step(KubeAction(command="kubectl fix"))
    with pytest.raises(EpisodeOver):
        environment.step(KubeAction(command="a"))


def test_the_rubric_shows_every_public_term_of_the_reward():
    environment = KubeEnvironment()
    environment.reset()
    observation = environment.step(KubeAction(command="kubectl delete x"))
    scores = {name: rubric.last_score for name, rubric in environment.rubric.named_rubrics()}
    assert scores == {"service": 0.0, "cost": -0.05}
    assert environment.rubric.last_score == observation.reward
    environment.reset()
    assert environment.rubric.last_score is None


def test_state_is_public_safe_by_type():
    environment = KubeEnvironment()
    environment.reset(task="telltale-fault")
    assert "answer" in environment.episode.state()
    assert "answer" not in environment.public_state()
    with pytest.raises(ValueError, match="answer"):
        KubeState(answer="x")


def test_a_computation_past_its_deadline_is_given_up():
    started = time.perf_counter()
    with pytest.raises(DeadlineExceeded), deadline(0.05):
        sum(1 for _ in itertools.count())
    assert time.perf_counter() - started < 5
    with deadline(0.0):
        pass


def test_a_c_function_that_keeps_the_interpreter_to_itself_is_given_up_too():
    started = time.perf_counter()
    with pytest.raises(DeadlineExceeded), deadline(0.05):
        re.match("(a+)+$", "a" * 60 + "!")
    assert time.perf_counter() - started < 5


def test_a_step_past_its_deadline_ends_the_episode_unscorable():
    from server.environment import KubeResetRequest
    from server.play import Play

    async def played():
        play = Play(Settings(step_s_max=0.05))
        session = play.table.open("ws", "")
        await play.reset(session, KubeResetRequest())
        with pytest.raises(Refusal) as refused:
            await play.step(session, "kubectl spin")
        return refused.value

    assert asyncio.run(played()).code == "EXECUTION_ERROR"


def test_the_log_has_a_line_for_every_step_with_its_digest_when_asked(serve, caplog):
    client = serve(log="steps")
    with caplog.at_level("INFO", "kubedrill.server"):
        token = client.post("/reset", json={"seed": 4}).json()["metadata"]["episode_token"]
        client.post("/step", json={"command": "a"})
    lines = [
        json.loads(record.getMessage()) for record in caplog.records if record.name == "kubedrill.server"
    ]
    assert [(line["event"], line["seed"], line["step"]) for line in lines] == [
        ("reset", 4, 0),
        ("step", 4, 1),
    ]
    assert all(len(line["digest"]) == 64 for line in lines)
    assert token not in caplog.text


def test_a_failure_is_logged_with_what_is_needed_to_repeat_it(http, caplog):
    http.post("/reset", json={"seed": 4})
    answer = http.post("/step", json={"command": "kubectl boom"}).json()
    record = json.loads(
        next(entry.getMessage() for entry in caplog.records if entry.name == "kubedrill.server")
    )
    assert record["error_id"] == answer["error_id"]
    assert (record["suite"], record["task"], record["seed"], record["step"]) == ("tron-v1", "easy", 4, 0)
    assert len(record["digest"]) == 64
