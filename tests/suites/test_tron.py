"""The tron suite's own claims: symptoms show, patience does not help, repairs repair, decoys do not, outcomes are ordered."""

import os

import pytest

from env_core.episode import Episode, StepResult, find_task
from env_core.suites.tron import scenario_id_of, scenarios

SEEDS = int(os.environ.get("KUBEDRILL_TEST_SEEDS", "3"))
"""Seeds per task; raise it for the long run."""

OFFICIAL = ("easy", "medium", "hard")
CASES = [(task, seed) for task in OFFICIAL for seed in range(SEEDS)]


def play(task: str, seed: int, script: tuple[str, ...], **options) -> tuple[Episode, StepResult]:
    """Run a script and then look on until the episode ends."""
    episode, result = Episode.reset(task=task, seed=seed, options=options)
    for line in script:
        if not result.is_done:
            result = episode.step(line)
    while not result.is_done:
        result = episode.step("kubectl version --client")
    return episode, result


def scripts(task: str, seed: int, which: str) -> tuple[tuple[str, ...], ...]:
    suite, found = find_task("tron", task)
    return getattr(suite, which)(found, seed)


@pytest.mark.parametrize(("task", "seed"), CASES)
def test_the_symptom_shows_at_once_and_patience_is_no_repair(task, seed):
    episode, result = Episode.reset(task=task, seed=seed)
    expected = scenarios()[scenario_id_of(find_task("tron", task)[1])].score_after
    assert result.observation["service_probe"]["score"] == expected
    while not result.is_done:
        result = episode.step("kubectl version --client")
        assert result.observation["service_probe"]["score"] == expected
        assert result.reward == 0.0
    assert result.is_truncated
    assert episode.state()["oracle_verdict"] == "failure"


@pytest.mark.parametrize(("task", "seed"), CASES)
def test_every_honest_repair_is_accepted(task, seed):
    repairs = scripts(task, seed, "reference")
    assert len(repairs) >= 2
    for script in repairs:
        episode, result = play(task, seed, script)
        assert result.is_terminated, (script, episode.state())
        assert episode.state()["oracle_verdict"] == "success"
        assert episode.state()["oracle_score"] == 1.0


@pytest.mark.parametrize(("task", "seed"), CASES)
def test_no_decoy_is_accepted_and_outcomes_are_ordered(task, seed):
    floor = play(task, seed, ())[0].score()
    decoys = scripts(task, seed, "decoys")
    assert len(decoys) >= 2
    for script in decoys:
        episode, result = play(task, seed, script)
        assert result.is_truncated, script
        state = episode.state()
        assert state["oracle_verdict"] == "failure", script
        limit = floor + 0.1 if state["service_score"] == 1.0 else floor
        assert episode.score() <= limit + 1e-9 < 1.0, (script, episode.score(), floor)


@pytest.mark.parametrize("task", OFFICIAL)
def test_deleting_the_application_scores_nothing(task):
    episode, _ = play(task, 0, ("kubectl -n tron delete deployment nginx redis",))
    assert episode.score() == 0.0
    undone, _ = play(
        task,
        0,
        ("kubectl -n tron delete service redis", "kubectl -n tron expose deployment redis --port=6379"),
    )
    assert undone.score() == 0.0


@pytest.mark.parametrize("task", OFFICIAL)
def test_the_evidence_can_be_found_by_looking(task):
    _suite, found = find_task("tron", task)
    scenario = scenarios()[scenario_id_of(found)]
    from env_core.sim.rng import Streams

    params = scenario.draw(Streams(0).stream("fault", "params"))
    episode, _ = Episode.reset(task=task, seed=0)
    for command, wanted in scenario.evidence(params):
        result = episode.step(command)
        assert wanted in result.observation["output"], (command, result.observation["output"])
        assert result.info["action_cost"] >= -0.02


@pytest.mark.parametrize(("task", "seed"), CASES)
def test_judging_changes_nothing(task, seed):
    episode, _ = Episode.reset(task=task, seed=seed)
    episode.step("kubectl -n tron get pods")
    before = episode.digest()
    episode.score()
    assert episode.digest() == before


def test_half_a_repair_of_a_compound_incident_is_none():
    for seed in range(SEEDS):
        for script in scripts("hard", seed, "decoys")[:2]:
            episode, _ = play("hard", seed, script)
            assert episode.state()["oracle_verdict"] == "failure"


def test_rewards_are_the_gain_in_service_less_the_costs():
    episode, result = Episode.reset(task="easy", seed=11)
    result = episode.step("kubectl -n tron get pods")
    assert result.reward == 0.0
    result = episode.step("kubectl -n tron rollout restart deployment redis")
    assert result.reward == -0.1
    result = episode.step("kubectl -n tron set selector service redis app=redis")
    assert result.reward == pytest.approx(0.3 - 0.05)
    assert result.is_terminated


@pytest.mark.parametrize(
    ("command", "cost"),
    [
        ("kubectl -n tron get pods", 0.0),
        ("kubectl get pods -n tron -o wide", 0.0),
        ("kubectl -n tron describe svc redis", 0.0),
        ("kubectl -n tron logs deploy/nginx -c nginx", 0.0),
        ("kubectl -n tron rollout history deploy/nginx", 0.0),
        ("curl -s http://tron.localhost/health", 0.0),
        ("kubectl -n tron exec deploy/nginx -c nginx -- env", -0.02),
        ("kubectl -n tron label pod -l app=nginx note=seen", -0.05),
        ("kubectl -n tron annotate deploy nginx note=seen", -0.05),
        ("kubectl -n tron rollout restart deploy/nginx", -0.10),
        ("kubectl -n tron rollout undo deploy/nginx", -0.10),
        ("kubectl cordon node-a", -0.10),
        ("kubectl -n tron scale deploy/nginx --replicas=2", -0.15),
        ("kubectl -n tron delete pod -l app=nginx", -0.30),
        ("kubectl -n tron get pods | grep nginx && kubectl -n tron label pod -l app=nginx a=b", -0.05),
        ("kubectl edit svc redis", -0.08),
        ("kubectl attach nginx", -0.05),
        ("rm -rf /", -0.05),
        ("", -0.05),
    ],
)
def test_every_command_has_its_price(command, cost):
    episode, _ = Episode.reset(task="easy", seed=11)
    result = episode.step(command)
    assert result.info["action_cost"] == cost


@pytest.mark.parametrize(
    "command",
    [
        "kubectl -n tron exec -it deploy/nginx -- sh",
        "kubectl -n tron edit deploy nginx",
        "kubectl port-forward svc/nginx 8080",
        "kubectl proxy",
        "kubectl --token=x get pods",
        "kubectl get pods --as=admin",
        "kubectl --kubeconfig=/tmp/x get pods",
        "kubectl -n tron delete rs --all",
        "kubectl -n tron scale rs/nginx-1 --replicas=0",
        "curl file:///etc/passwd",
        "curl -T x http://tron.localhost/",
        "curl -d @/etc/passwd http://tron.localhost/",
        "cat /etc/passwd",
        "sh -c 'kubectl get pods'",
        "kubectl get pods $(kubectl edit svc redis)",
    ],
)
def test_what_is_out_of_bounds_is_refused_and_changes_nothing(command):
    episode, _ = Episode.reset(task="easy", seed=11)
    twin, _ = Episode.reset(task="easy", seed=11)
    result = episode.step(command)
    assert result.info["rejected"] is True
    assert result.observation["exit_code"] == 2
    assert result.observation["step_count"] == 1
    assert episode._incident.cluster.store.revision == twin._incident.cluster.store.revision


def test_reading_replicasets_is_allowed_and_pipelines_work():
    episode, _ = Episode.reset(task="easy", seed=11)
    result = episode.step("kubectl -n tron get rs -o name | head -n 1 | wc -l")
    assert (result.observation["output"].strip(), result.observation["exit_code"]) == ("1", 0)
    result = episode.step("kubectl -n tron get pods | foo")
    assert result.observation["output"].endswith("sh: 1: foo: not found\n")
    assert result.observation["exit_code"] == 127


def test_nothing_is_earned_by_breaking_and_mending_again():
    episode, _ = Episode.reset(task="medium", seed=13)
    total = 0.0
    for _ in range(3):
        total += episode.step("kubectl -n tron scale deploy/nginx --replicas=0").reward
        total += episode.step("kubectl -n tron scale deploy/nginx --replicas=1").reward
    assert total < -0.5


def test_outputs_are_cut_as_asked():
    episode, _ = Episode.reset(task="easy", seed=11, options={"max_output_chars": 400})
    output = episode.step("kubectl get pods -A -o yaml").observation["output"]
    assert len(output) < 500
    assert "characters truncated" in output


def test_the_terminal_reward_is_the_gain_of_the_hidden_score():
    script = scripts("easy", 11, "reference")[0]
    _, plain = play("easy", 11, script)
    episode, shaped = play("easy", 11, script, terminal_reward=True)
    assert shaped.reward == pytest.approx(plain.reward + 1.0 - episode._incident.floor(), abs=2e-3)
    assert "terminal" in shaped.reward_terms
