from __future__ import annotations

from env_core.observability.metrics import pod_and_node_metrics
from env_core.programs import Request
from tests.dataplane.world import World, tron_world


def metrics(world: World, resource: str, namespace: str = "", now_ms: int | None = None):
    return pod_and_node_metrics(
        resource,
        namespace,
        store=world.store,
        runtime=world.runtime,
        network=world.network,
        now_ms=now_ms or world.loop.now_ms,
    )


def cpu(item, container: str) -> int:
    return next(int(each["usage"]["cpu"][:-1]) for each in item["containers"] if each["name"] == container)


def test_pods_and_nodes_have_usage() -> None:
    world = tron_world()
    items = metrics(world, "pods", "tron")
    assert [item["metadata"]["name"] for item in items] == ["nginx", "redis"]
    assert [each["name"] for each in items[0]["containers"]] == ["nginx", "redis-bridge"]
    assert items[0]["kind"] == "PodMetrics"
    assert items[0]["containers"][0]["usage"]["memory"].endswith("Ki")
    assert [item["metadata"]["name"] for item in metrics(world, "nodes")] == ["node-a"]
    assert items == metrics(world, "pods", "tron")


def test_requests_cost_cpu_up_to_the_limit() -> None:
    world = tron_world()
    config = world.store.get("configmaps", "tron", "app-config")
    world.edit("configmaps", "tron", "app-config", data={**config["data"], "BRIDGE_CPU_BURN_MS": "2000"})
    world.restart("tron", "nginx", "redis-bridge")
    before = cpu(metrics(world, "pods", "tron")[0], "redis-bridge")
    for _ in range(2):
        world.network.request_ingress(Request(path="/data", host="tron.localhost"))
    after = cpu(metrics(world, "pods", "tron")[0], "redis-bridge")
    assert before < 20_000_000
    assert after == 250_000_000


def test_a_pod_that_just_started_has_none() -> None:
    world = tron_world()
    pod = world.store.get("pods", "tron", "redis")
    container = pod["spec"]["containers"][0]
    world.start(pod, container, world.loop.now_ms - 10_000)
    assert [item["metadata"]["name"] for item in metrics(world, "pods", "tron")] == ["nginx"]
    later = metrics(world, "pods", "tron", world.loop.now_ms + 6_000)
    assert [item["metadata"]["name"] for item in later] == ["nginx", "redis"]
