"""The wire models, and both clients against a live server."""

import asyncio
import importlib
import inspect

import pytest
from openenv.core.generic_client import GenericEnvClient
from pydantic import ValidationError

from kubedrill import EpisodeError, KubeAction, KubeEnv, KubeHttpClient, KubeObservation, KubeState, Reward
from kubedrill.client import reward_of
from kubedrill.http import HttpError
from tests.server.children import running


@pytest.fixture(scope="module")
def url():
    with running() as address:
        yield address


@pytest.mark.parametrize(
    "form",
    [
        {"command": "kubectl get pods"},
        {"action": {"command": "kubectl get pods"}},
        {"tool": "run_command", "arguments": {"command": "kubectl get pods"}},
        {"action": {"tool": "run_command", "arguments": {"command": "kubectl get pods"}}},
        {"command": "kubectl get pods", "tool": None, "arguments": None, "metadata": {}},
    ],
)
def test_every_form_is_the_same_action(form):
    assert KubeAction.model_validate(form) == KubeAction(command="kubectl get pods")


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"command": 5},
        {"command": "a", "extra": 1},
        {"tool": "submit", "arguments": {}},
        {"tool": "run_command"},
        {"tool": "run_command", "arguments": {"command": "a", "x": 1}},
        {"tool": "run_command", "arguments": {"command": "a"}, "command": "b"},
        {"action": {"command": "a"}, "extra": 1},
        {"command": "a" * 65_537},
        "kubectl get pods",
    ],
)
def test_what_is_no_action_is_refused(form):
    with pytest.raises(ValidationError):
        KubeAction.model_validate(form)


@pytest.mark.parametrize("model", [KubeObservation, KubeState, Reward])
def test_unknown_fields_are_refused(model):
    with pytest.raises(ValidationError, match="unknown"):
        model(unknown=1, **({"value": 1.0} if model is Reward else {}))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_reward_is_finite(value):
    with pytest.raises(ValidationError):
        Reward(value=value)


def test_schemas_refer_to_nothing_outside_themselves():
    for model in (KubeAction, KubeObservation, KubeState):
        assert all(ref.startswith("#/") for ref in _references(model.model_json_schema()))


def test_the_asynchronous_client_plays_an_episode(url):
    async def played():
        async with KubeEnv(base_url=url) as env:
            first = await env.reset(task="hard", seed=5)
            second = await env.step("kubectl get pods")
            third = await env.step(KubeAction(command="kubectl fix"))
            return first, second, third, await env.state()

    first, second, third, state = asyncio.run(played())
    assert isinstance(first.observation, KubeObservation)
    assert first.observation.episode_id
    assert "episode_token" not in first.observation.metadata
    assert second.observation.step_count == 1
    assert reward_of(second) == Reward(value=0.0, terms={"service": 0.0, "cost": 0.0})
    assert third.done is True
    assert (state.oracle_score, state.oracle_verdict) == (1.0, "success")
    with pytest.raises(ValueError, match="reset"):
        reward_of(first)


def test_the_synchronous_client_plays_an_episode(url):
    with KubeEnv(base_url=url).sync() as env:
        env.reset()
        assert env.step("kubectl fix").done is True
        assert env.state().done is True


def test_an_error_frame_is_a_typed_error(url):
    with KubeEnv(base_url=url).sync() as env:
        with pytest.raises(EpisodeError) as refused:
            env.reset(task="nope")
        assert (refused.value.code, refused.value.is_unscorable) == ("UNKNOWN_TASK", False)
        assert refused.value.error["valid"] == ["easy", "medium", "hard"]
        env.reset()
        with pytest.raises(EpisodeError) as failed:
            env.step("kubectl boom")
        assert failed.value.is_unscorable


def test_a_lost_connection_is_resumed(url):
    async def lost():
        env = KubeEnv(base_url=url)
        await env.reset(seed=3)
        last = await env.step("a")
        env._ws.transport.abort()
        again = KubeEnv(base_url=url)
        resumed = await again.resume(env.episode_id, env.episode_token)
        following = await again.step("b")
        await again.close()
        await env.close()
        return last, resumed, following

    last, resumed, following = asyncio.run(lost())
    assert resumed.observation == last.observation
    assert following.observation.step_count == 2


def test_the_plain_http_client_plays_an_episode(url):
    with KubeHttpClient(url) as client:
        assert client.is_healthy()
        assert [task.id for task in client.tasks()] == ["easy", "medium", "hard"]
        with pytest.raises(HttpError, match="409"):
            client.step("a")
        result = client.reset("medium", 7, hard_reset=True)
        assert (result.task.id, result.reward) == ("medium", None)
        assert client.step("a").info.return_code == 0
        assert client.grade() == 0.35
        assert client.step("kubectl fix").reward.value == 0.3
        assert client.state().oracle_score == 1.0
        with pytest.raises(HttpError) as over:
            client.step("a")
        assert (over.value.status, over.value.code) == (410, "EPISODE_ENDED")
        with pytest.raises(HttpError) as unknown:
            client.reset("nope")
        assert unknown.value.code == "UNKNOWN_TASK"


def test_the_generic_client_of_openenv_plays_an_episode(url):
    with GenericEnvClient(base_url=url).sync() as env:
        assert env.reset(seed=3).observation["task_id"] == "easy"
        result = env.step({"command": "kubectl get pods"})
        assert (result.reward, result.done) == (0.0, False)
        assert env.step(KubeAction(command="kubectl fix")).done is True
        assert env.state()["oracle_score"] == 1.0


def test_autoenv_finds_the_three_names_it_derives():
    module = importlib.import_module("kubedrill.client")
    assert (module.KubedrillEnv, module.KubedrillAction, module.KubedrillObservation) == (
        KubeEnv,
        KubeAction,
        KubeObservation,
    )


def test_the_root_module_is_the_client():
    import client

    assert client.KubeEnv is KubeEnv
    assert inspect.getdoc(client)


def _references(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
