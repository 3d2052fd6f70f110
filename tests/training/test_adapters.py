"""The simple class for TRL: what TRL finds on it, what it raises, and that a lost incident earns nothing rather than 0."""

import inspect

import pytest

from tests.server.children import free_port, running
from tests.training.letters import END, Letters, Planned
from training.adapters import KubeTools, environment_factory
from training.replicas import Replicas, server_python
from training.rollouts import Settings
from training.trl_rollouts import episode_reward, request_in, rollout_func


@pytest.fixture(scope="module")
def server():
    with running("tests.server.toy", python=server_python()) as url:
        yield url


@pytest.fixture
def tools(server):
    made = environment_factory(Replicas.at([server]), Settings(output_chars_max=50))()
    yield made
    made._leave()


def row(seed, task="easy"):
    return {"suite": "tron", "task": task, "seed": seed}


def test_trl_finds_one_tool_and_its_argument_is_described():
    found = [
        name for name, _ in inspect.getmembers(KubeTools, inspect.isfunction) if not name.startswith("_")
    ]
    assert sorted(found) == ["get_reward", "reset", "run_command"]
    assert "Args:\n    command: " in inspect.getdoc(KubeTools.run_command)
    assert inspect.signature(KubeTools.run_command, eval_str=True).parameters["command"].annotation is str


def test_making_one_connects_to_nothing():
    made = environment_factory(Replicas.at([f"http://127.0.0.1:{free_port()}"]))()
    assert made.request is None
    assert made.get_reward() is None
    with pytest.raises(ValueError, match="cannot be reached"):
        made.run_command("kubectl get pods")


def test_an_episode_from_the_page_to_the_reward(tools):
    page = tools.reset(**row(7), prompt=[{"role": "user", "content": "help"}], environment="kube")
    assert page == "Something is broken (7).\nNobody has announced a change today.\nYou have 12 steps."
    assert len(tools.run_command("kubectl get pods")) == 50
    assert tools.get_reward() == 0.0
    tools.run_command("kubectl delete pod a")
    tools.run_command("kubectl fix")
    assert tools.get_reward() == pytest.approx(0.25)
    for _ in range(2):
        with pytest.raises(ValueError, match="the incident is closed"):
            tools.run_command("kubectl get pods")
    assert tools.late_calls == 2
    assert tools.get_reward() == pytest.approx(0.25)


def test_an_instance_is_used_again_and_equal_rows_meet_the_same_incident(tools):
    pages = [tools.reset(**row(seed)) for seed in (3, 3, 4)]
    assert pages[0] == pages[1] != pages[2]
    assert tools.late_calls == 0
    task = {"suite": "tron", "task": "hard", "seed": 3, "options": {"terminal_reward": None}}
    tools.reset(prompt=[{"role": "user", "content": "", "task": task}])
    assert (tools.request.task, tools.request.seed, tools.request.options) == ("hard", 3, {})


def test_a_row_without_an_incident_is_refused(tools):
    with pytest.raises(ValueError, match="suite, task and seed"):
        tools.reset(prompt=[{"role": "user", "content": "help"}])


def test_a_failure_of_the_servers_own_earns_nothing_rather_than_0(tools):
    tools.reset(**row(7))
    with pytest.raises(ValueError, match="cannot be reached"):
        tools.run_command("kubectl boom")
    assert tools.get_reward() is None
    tools.reset(**row(7))
    assert tools.get_reward() == 0.0


def test_trls_rollout_func_carries_everything_by_row(server):
    plans = {("easy", 1): ["kubectl boom"], ("easy", 2): ["kubectl get x", "kubectl fix"]}
    rollout = rollout_func(Letters(), Replicas.at([server]), Settings(), policy=Planned(plans))
    prompts = [[{"role": "user", "content": "", "task": row(seed)}] for seed in (1, 2, 2)]
    output = rollout(prompts, None)
    assert {len(values) for values in output.values()} == {3}
    for ids, scores, mask in zip(
        output["completion_ids"], output["logprobs"], output["env_mask"], strict=True
    ):
        assert len(ids) == len(scores) == len(mask) > 0
    assert output["completion_ids"][1] == output["completion_ids"][2]
    assert output["completion_ids"][1][-1] == END
    assert output["episode_reward"] == [None, 0.3, 0.3]
    assert output["episode_rewards"][1] == [0.0, 0.3]
    assert output["episode_score"] == [None, 1.0, 1.0]
    assert output["episode_ended"] == ["unscorable", "done", "done"]
    logged = {}
    extra = {key: output[key] for key in ("episode_reward", "episode_metrics", "episode_ended")}
    assert episode_reward(**extra, log_metric=logged.__setitem__, prompts=prompts) == [None, 0.3, 0.3]
    assert logged["env/unscorable_frac"] == pytest.approx(1 / 3)
    assert logged["episode/stop_done"] == pytest.approx(2 / 3)


def test_a_row_that_never_began_still_has_a_token_of_its_own():
    nobody = Replicas.at([f"http://127.0.0.1:{free_port()}"])
    rollout = rollout_func(Letters(), nobody, Settings(timeout_s=0.2), policy=Planned({}))
    output = rollout([[{"role": "user", "content": "", "task": row(1)}]], None)
    nobody.close()
    assert (output["prompt_ids"], output["completion_ids"]) == ([[END]], [[END]])
    assert (output["env_mask"], output["logprobs"], output["episode_reward"]) == ([[0]], [[0.0]], [None])


@pytest.mark.parametrize(
    "prompt", ["text", [], [{"role": "user"}], [{"role": "user", "task": {"task": "easy"}}]]
)
def test_a_prompt_without_a_task_is_refused(prompt):
    with pytest.raises(ValueError, match="suite, task and seed"):
        request_in(prompt)
