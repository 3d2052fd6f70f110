"""Every scenario template's proof: it takes, patience does not help, repairs repair, decoys do not, nothing is told."""

import os

import orjson
import pytest

from env_core.episode import Episode, StepResult, find_task
from env_core.sim.rng import Streams
from env_core.suites.tron import scenarios, world
from env_core.suites.tron._scenario import NAMESPACE
from env_core.verify.view import View

SEEDS = int(os.environ.get("KUBEDRILL_TEST_SEEDS", "3"))
"""Seeds per scenario; raise it for the long run."""

PROVEN_AS_TASKS = {
    "service-selector-mismatch",
    "bad-rollout-wrong-redis-host",
    "networkpolicy-plus-secondary-drift",
}
"""Test_tron.py proves these under the names of the official tasks."""

SCENARIOS = tuple(name for name in sorted(scenarios()) if name not in PROVEN_AS_TASKS)
CASES = [(name, seed) for name in SCENARIOS for seed in range(SEEDS)]
FLAPPING = {"memory-limits-too-low": {0.4, 0.7}}
"""Scenarios whose containers are killed and restarted: which service scores are seen while nobody acts."""

LOOKS = (
    "kubectl get all -A",
    "kubectl -n tron get all,cm,netpol,ingress,ep,endpointslice,events -o yaml --show-managed-fields",
    "kubectl -n tron describe all",
    "kubectl get events -A",
)


def params_of(scenario: str, seed: int) -> dict[str, str]:
    return dict(scenarios()[scenario].draw(Streams(seed).stream("fault", "params")))


def scripts(scenario: str, seed: int, which: str) -> tuple[tuple[str, ...], ...]:
    suite, found = find_task("tron", scenario)
    return getattr(suite, which)(found, seed)


def play(scenario: str, seed: int, script: tuple[str, ...], **options) -> tuple[Episode, StepResult]:
    """Run a script and then look on until the episode ends."""
    episode, result = Episode.reset(task=scenario, seed=seed, options=options)
    for line in script:
        if not result.is_done:
            result = episode.step(line)
            assert not result.info["rejected"], line
    while not result.is_done:
        result = episode.step("kubectl version --client")
    return episode, result


def test_the_catalogue_has_its_twelve_scenarios():
    assert len(scenarios()) == 12
    assert set(scenarios()) >= PROVEN_AS_TASKS


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_seed_takes_and_begins_with_the_declared_score(scenario):
    expected = scenarios()[scenario].score_after
    drawn = set()
    for seed in range(4 * SEEDS):
        _, result = Episode.reset(task=scenario, seed=seed)
        assert result.observation["service_probe"]["score"] == expected
        drawn.add(orjson.dumps(params_of(scenario, seed), option=orjson.OPT_SORT_KEYS))
    assert len(drawn) > 1


@pytest.mark.parametrize(("scenario", "seed"), CASES)
def test_patience_is_no_repair(scenario, seed):
    expected = FLAPPING.get(scenario, {scenarios()[scenario].score_after})
    episode, result = Episode.reset(task=scenario, seed=seed)
    total = 0.0
    while not result.is_done:
        result = episode.step("kubectl version --client")
        assert result.observation["service_probe"]["score"] in expected
        total += result.reward
    assert result.is_truncated
    assert total <= 1e-9
    assert episode.state()["oracle_verdict"] == "failure"
    assert episode.score() <= episode._incident.floor()


@pytest.mark.parametrize(("scenario", "seed"), CASES)
def test_every_honest_repair_is_accepted(scenario, seed):
    repairs = scripts(scenario, seed, "reference")
    assert len(repairs) >= 2
    for script in repairs:
        episode, result = play(scenario, seed, script)
        assert result.is_terminated, (script, episode.state())
        assert episode.state()["oracle_verdict"] == "success"
        assert episode.state()["oracle_score"] == 1.0


@pytest.mark.parametrize(("scenario", "seed"), CASES)
def test_no_decoy_is_accepted_and_outcomes_are_ordered(scenario, seed):
    decoys = scripts(scenario, seed, "decoys")
    assert len(decoys) >= 2
    for script in decoys:
        episode, result = play(scenario, seed, script)
        assert result.is_truncated, script
        state = episode.state()
        assert state["oracle_verdict"] == "failure", script
        floor = episode._incident.floor()
        limit = floor + 0.1 if state["service_score"] == 1.0 else floor
        assert episode.score() <= limit + 1e-9 < 1.0, (script, episode.score(), floor)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_deleting_the_application_scores_nothing(scenario):
    for script in (
        ("kubectl -n tron delete deployment nginx redis",),
        ("kubectl -n tron delete service redis", "kubectl -n tron expose deployment redis --port=6379"),
        ("kubectl -n tron delete configmap app-config",),
    ):
        episode, _ = play(scenario, 0, script)
        assert episode.score() == 0.0, script


@pytest.mark.parametrize(("scenario", "seed"), CASES)
def test_the_evidence_can_be_found_by_looking(scenario, seed):
    episode, _ = Episode.reset(task=scenario, seed=seed)
    for command, wanted in scenarios()[scenario].evidence(params_of(scenario, seed)):
        result = episode.step(command)
        assert wanted in result.observation["output"], (command, result.observation["output"])
        assert result.info["action_cost"] >= -0.02


@pytest.mark.parametrize(("scenario", "seed"), CASES)
def test_judging_changes_nothing(scenario, seed):
    episode, _ = Episode.reset(task=scenario, seed=seed)
    episode.step("kubectl -n tron get pods")
    before = episode.digest()
    first = episode.score()
    assert episode.score() == first
    assert episode.digest() == before
    view = View(episode._incident.cluster)
    for check in scenarios()[scenario].goals(params_of(scenario, seed)):
        assert check.name
        assert isinstance(check.fails(View(episode._incident.cluster.fork())), str)
    assert view.now_ms == episode._incident.cluster.now_ms
    assert episode.digest() == before


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_same_seed_breaks_the_same_world(scenario):
    template = scenarios()[scenario]
    digests = set()
    for _ in range(2):
        cluster = world.healthy(1).fork(1)
        template.inject(cluster, params_of(scenario, 1))
        digests.add(cluster.digest())
    assert len(digests) == 1


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_that_the_agent_sees_names_the_scenario_or_its_goals(scenario):
    params = params_of(scenario, 2)
    goals = {check.name for check in scenarios()[scenario].goals(params)}
    hidden = {
        scenario,
        scenario.replace("-", "_"),
        "scenario",
        "decoy",
        "oracle",
        "verdict",
        "kubedrill",
        *goals,
    }
    episode, result = Episode.reset(task=scenario, seed=2)
    assert result.observation.pop("task_id") == "scenario"
    surfaces = [orjson.dumps(result.observation).decode().lower()]
    for line in LOOKS:
        result = episode.step(line)
        result.observation.pop("task_id")
        surfaces.append(orjson.dumps([result.observation, result.info]).decode().lower())
    state = {key: value for key, value in episode.state().items() if value is not None}
    assert scenario not in orjson.dumps(state).decode()
    for word in sorted(hidden):
        assert not [text for text in surfaces if word.lower() in text], word


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_scenario_that_starts_healthy_is_worth_repairing_with_the_terminal_reward(seed):
    """Source: SEEDS TR-33. Without the option every step is a pure cost there; with it, repair beats doing nothing."""
    scenario = "readiness-probe-too-permissive"

    def total(script: tuple[str, ...]) -> float:
        return play(scenario, seed, script, terminal_reward=True)[0].cumulative_reward

    nothing = total(())
    assert nothing == 0.0
    assert all(total(script) > nothing + 0.1 for script in scripts(scenario, seed, "reference"))
    for script in scripts(scenario, seed, "decoys"):
        assert total(script) <= 0.1, script
    assert play(scenario, seed, scripts(scenario, seed, "reference")[0])[0].cumulative_reward < 0


ACCEPTED = [
    ("deployment-scaled-to-zero", ("kubectl -n tron scale deployment nginx --replicas=3",)),
    (
        "deployment-scaled-to-zero",
        ("kubectl -n tron rollout restart deployment nginx", "kubectl -n tron scale deploy/nginx --replicas=1"),
    ),
    (
        "configmap-fixed-but-pods-stale",
        ("kubectl -n tron scale deploy/nginx --replicas=0", "kubectl -n tron scale deploy/nginx --replicas=1"),
    ),
    ("configmap-fixed-but-pods-stale", ("kubectl -n tron rollout undo deploy/nginx",)),
    (
        "cpu-limits-too-low",
        ("kubectl -n tron set resources deploy/nginx -c redis-bridge --limits=cpu=2 --requests=cpu=500m",),
    ),
    (
        "cpu-limits-too-low",
        ("kubectl -n tron set resources deploy/nginx -c redis-bridge --limits=cpu=1,memory=256Mi",),
    ),
    (
        "memory-limits-too-low",
        ("kubectl -n tron set resources deploy/nginx -c redis-bridge --limits=memory=512Mi --requests=memory=256Mi",),
    ),
    (
        "networkpolicy-blocks-nginx-to-redis",
        ("kubectl -n tron patch netpol -p '{\"spec\":{\"egress\":[{}]}}' --type=merge $(kubectl -n tron get netpol -o name | grep egress | cut -d/ -f2)",),
    ),
    (
        "bridge-crashloop-bad-command",
        (
            "kubectl -n tron patch deploy nginx --type=json -p '[{\"op\":\"replace\",\"path\":\"/spec/template/spec/containers/1/command/1\",\"value\":\"/app/bridge.py\"}]'",
        ),
    ),
    ("ingress-path-rewrite-bug", (
        "kubectl -n tron patch ingress tron-ingress --type=json -p '[{\"op\":\"add\",\"path\":\"/spec/rules/0/http/paths/-\",\"value\":"
        "{\"path\":\"/\",\"pathType\":\"Prefix\",\"backend\":{\"service\":{\"name\":\"nginx\",\"port\":{\"name\":\"http\"}}}}}]'",
    )),
]  # fmt: skip
REFUSED = [
    ("memory-limits-too-low", ("kubectl -n tron set resources deploy/nginx -c redis-bridge --limits=memory=0 --requests=memory=0",)),
    ("deployment-scaled-to-zero", ("kubectl -n tron scale deployment nginx --replicas=30",)),
    (
        "readiness-probe-too-permissive",
        (
            "kubectl -n tron patch deploy nginx -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"nginx\",\"readinessProbe\":{\"exec\":null,\"httpGet\":{\"path\":\"/health\",\"port\":8080}},\"livenessProbe\":null}]}}}}'",
        ),
    ),
    ("bridge-crashloop-bad-command", ("kubectl -n tron set image deploy/nginx redis-bridge=hashicorp/http-echo:1.0",)),
]  # fmt: skip


@pytest.mark.parametrize(("scenario", "script"), ACCEPTED)
def test_other_honest_repairs_are_accepted_too(scenario, script):
    for seed in range(SEEDS):
        episode, result = play(scenario, seed, script)
        assert result.is_terminated, (script, episode.state())


@pytest.mark.parametrize(("scenario", "script"), REFUSED)
def test_other_shortcuts_are_not(scenario, script):
    episode, result = play(scenario, 0, script)
    assert result.is_truncated, (script, episode.state())
    assert episode.score() <= episode._incident.floor() + 0.1


def test_a_compound_incident_is_repaired_in_either_order():
    limit, host = scripts("wrong-redis-host-plus-cpu-throttle", 0, "reference")[0][::-1]
    episode, result = play(
        "wrong-redis-host-plus-cpu-throttle", 0, (limit, host, "kubectl -n tron rollout restart deploy/nginx")
    )
    assert result.is_terminated, episode.state()


def test_the_incidents_stay_in_their_namespace():
    for scenario in SCENARIOS:
        cluster = world.healthy(0).fork(0)
        revision = cluster.store.revision
        scenarios()[scenario].inject(cluster, params_of(scenario, 0))
        touched = {
            obj["metadata"]["namespace"]
            for resource in (
                "configmaps",
                "deployments.apps",
                "services",
                "networkpolicies.networking.k8s.io",
            )
            for obj in cluster.store.list(resource)
            if int(obj["metadata"]["resourceVersion"]) > revision
        }
        assert touched <= {NAMESPACE}, scenario
