"""Replicas on a Ray cluster, a real one of this machine; and what one is told who has no Ray."""

import sys

import pytest

from training.cluster import cluster_replicas
from training.replicas import ReplicaError


def test_without_ray_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ReplicaError, match=r"pip install 'ray\[default\]"):
        cluster_replicas(2, address="auto")


@pytest.mark.filterwarnings("default")
def test_a_lost_actor_changes_nothing_and_is_replaced(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is an optional extra: pip install 'ray[default]'")
    import time

    from tests.training.letters import Letters, Planned, requests_for
    from training.replicas import START_S_MAX
    from training.rollouts import Settings, run

    monkeypatch.setenv("HOME", str(tmp_path))
    plans = {("easy", seed): ["kubectl -n tron get pods -l seen=xSEEN"] * 4 for seed in range(3)}
    settings = Settings(completion_tokens_max=20_000)
    try:
        with cluster_replicas(2, address="local", cpus=0.5) as replicas:
            assert all(member.host.url.startswith("http://") for member in replicas.members)
            before = run(requests_for(plans, 2), Planned(plans), Letters(), replicas, settings)

            def kill(call):
                if call == 3:
                    ray.kill(replicas.members[0].host._actor)

            after = run(requests_for(plans, 2), Planned(plans, kill), Letters(), replicas, settings)
            assert [row.completion_ids for row in after] == [row.completion_ids for row in before]
            assert [row.reward for row in after] == [row.reward for row in before] == [0.0] * 6
            assert after.metrics["env/replays"] >= 1
            ends_at_s = time.monotonic() + START_S_MAX
            while not replicas.members[0].is_up and time.monotonic() < ends_at_s:
                time.sleep(0.2)
            assert replicas.members[0].is_healthy(replicas.token)
    finally:
        ray.shutdown()
