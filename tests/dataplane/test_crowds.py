"""Many users at once: what a CPU limit costs them, and what they leave behind in a container's figures."""

from __future__ import annotations

import pytest

from env_core.cluster import Cluster
from env_core.dataplane.crowds import Visit
from env_core.programs import Request
from env_core.programs._cpu import Backlog, queued, stretched_ms
from env_core.scenarios.apps import base
from env_core.world import Object


@pytest.mark.parametrize(
    ("cpu_ms", "limit"), [(1, 500), (14, 60), (50, 500), (51, 500), (900, 2), (40, 1000)]
)
def test_alone_in_the_queue_work_takes_what_its_limit_says(cpu_ms: int, limit: int) -> None:
    assert queued(None, 5_000, cpu_ms, limit)[1] == stretched_ms(cpu_ms, limit)


def test_work_waits_for_the_work_before_it() -> None:
    backlog: Backlog | None = None
    took = []
    for _ in range(4):
        backlog, took_ms = queued(backlog, 1_000, 30, 300)
        took.append(took_ms)
    assert took == [30, 130, 230, 330]  # 30 ms of every 100


def test_quota_that_a_period_did_not_use_is_lost() -> None:
    backlog, _ = queued(None, 1_000, 40, 300)
    # 40 ms asked for: 30 in the first period, 10 in the second, of which 20 are left at 1,150.
    assert queued(backlog, 1_150, 20, 300)[1] == 20
    assert queued(backlog, 1_150, 30, 300)[1] == 60
    assert queued(backlog, 1_250, 30, 300)[1] == 30


def test_several_cores_work_side_by_side() -> None:
    assert queued(None, 0, 300, 2_000)[1] == 300  # a single piece of work runs on one of them
    backlog, _ = queued(None, 0, 60, 2_000)
    assert queued(backlog, 0, 60, 2_000)[1] == 60


def _limited(limit: str) -> Cluster:
    cluster = base("shop", 0).cluster.fork()
    container: Object = {
        "name": "gateway",
        "resources": {"limits": {"cpu": limit}, "requests": {"cpu": "10m"}},
    }
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    cluster.client().patch("deployments", "shop", "gateway", patch, "application/strategic-merge-patch+json")
    cluster.advance(120_000)
    return cluster


CART = Request(path="/api/cart", host="shop.example.com", timeout_ms=60_000)


def test_a_crowd_waits_where_one_user_does_not() -> None:
    roomy, tight = _limited("500m"), _limited("60m")
    alone_ms = tight.network.request_ingress(CART).latency_ms
    crowd_ms = tight.network.request_ingress(CART, users=20).latency_ms
    assert alone_ms < 200
    assert crowd_ms > 1_500
    assert roomy.network.request_ingress(CART, users=20).latency_ms < 400


def test_who_comes_while_a_crowd_is_served_waits_as_well_and_not_afterwards() -> None:
    cluster = _limited("60m")
    for _ in range(3):  # each pod once
        cluster.network.request_ingress(CART, users=20)
    assert cluster.network.request_ingress(CART).latency_ms > 1_500
    cluster.advance(10_000)
    assert cluster.network.request_ingress(CART).latency_ms < 200


def test_visits_go_on_until_they_are_ended_and_forks_have_their_own() -> None:
    cluster = base("shop", 0).cluster.fork()

    def answered(world: Cluster) -> int:
        pods = [
            pod
            for pod in world.store.list("pods", "shop")
            if pod["metadata"]["labels"].get("app") == "gateway"
        ]
        runs = [world.runtime.run(pod["metadata"]["uid"], "gateway") for pod in pods]
        return sum(world.network.usage(run).count(200) for run in runs if run is not None)

    before = answered(cluster)
    cluster.network.crowds.come("lunch", Visit(CART, users=5, every_ms=10_000))
    cluster.advance(30_000)
    assert answered(cluster) == before + 15
    fork = cluster.fork()
    cluster.network.crowds.stay_away("lunch")
    cluster.advance(30_000)
    fork.advance(30_000)
    assert answered(cluster) == before + 15
    assert answered(fork) == before + 30
