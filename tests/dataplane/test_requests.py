from __future__ import annotations

import pytest

from env_core.programs import DNS_TIMEOUT, EMPTY, NXDOMAIN, REFUSED, SERVFAIL, TIMEOUT, UNREACHABLE, Request
from tests.dataplane.world import World, tron_world

AGENT = {"User-Agent": "curl/7.88.1"}


@pytest.fixture
def world() -> World:
    return tron_world()


def ask(world: World, path: str, timeout_ms: int = 3_000, host: str = "tron.localhost"):
    return world.network.request_ingress(Request(path=path, host=host, headers=AGENT, timeout_ms=timeout_ms))


def configured(world: World, **changes: str) -> None:
    config = world.store.get("configmaps", "tron", "app-config")
    world.edit("configmaps", "tron", "app-config", data={**config["data"], **changes})
    world.restart("tron", "nginx", "redis-bridge")


def limited(world: World, **limits: str) -> None:
    pod = world.store.get("pods", "tron", "nginx")
    containers = [
        each
        if each["name"] != "redis-bridge"
        else {**each, "resources": {"limits": {**each["resources"]["limits"], **limits}}}
        for each in pod["spec"]["containers"]
    ]
    world.edit("pods", "tron", "nginx", spec={**pod["spec"], "containers": containers})
    world.restart("tron", "nginx", "redis-bridge")


def test_the_application_answers_through_the_ingress(world: World) -> None:
    assert (ask(world, "/health").status, ask(world, "/health").body) == (200, "ok\n")
    assert ask(world, "/data").body == '{"status": "ok", "value": "$-1\\r\\n"}'
    assert ask(world, "/write?value=smoke").status == 200
    assert ask(world, "/data").body == '{"status": "ok", "value": "$5\\r\\nsmoke\\r\\n"}'


def test_a_host_without_a_rule_gets_traefiks_404(world: World) -> None:
    found = ask(world, "/", host="other.localhost")
    assert (found.status, found.body) == (404, "404 page not found\n")


def test_a_wrong_redis_host_is_a_502_with_the_resolvers_text(world: World) -> None:
    configured(world, REDIS_HOST="redis-bad")
    found = ask(world, "/data")
    assert (found.status, found.body) == (
        502,
        '{"status": "error", "error": "[Errno -2] Name does not resolve"}',
    )
    assert world.log("tron", "nginx", "redis-bridge") == [
        "127.0.0.1 - - [05/Jan/2026 09:00:00] redis redis-bad:6379: [Errno -2] Name does not resolve",
        '127.0.0.1 - - [05/Jan/2026 09:00:00] "GET /data HTTP/1.0" 502 -',
    ]
    assert ask(world, "/health").status == 200


def test_a_service_without_endpoints_refuses_at_once(world: World) -> None:
    spec = world.store.get("services", "tron", "redis")["spec"]
    world.edit("services", "tron", "redis", spec={**spec, "selector": {"app": "redis-canary"}})
    world.slices("tron", "redis")
    found = ask(world, "/data")
    assert (found.status, found.latency_ms < 20) == (502, True)
    assert "[Errno 111] Connection refused" in found.body


def test_no_endpoints_behind_a_route_is_503_and_no_route_to_a_missing_service(world: World) -> None:
    pod = world.store.get("pods", "tron", "nginx")
    world.edit("pods", "tron", "nginx", metadata={**pod["metadata"], "labels": {}})
    world.slices("tron", "nginx")
    assert (ask(world, "/health").status, ask(world, "/health").body) == (503, "no available server\n")
    world.store.remove("services", "tron", "nginx")
    assert ask(world, "/health").status == 404


def test_denied_egress_blocks_names_too_and_times_out(world: World) -> None:
    policy = {
        "metadata": {"namespace": "tron", "name": "deny"},
        "spec": {"podSelector": {"matchLabels": {"app": "nginx"}}, "policyTypes": ["Egress"]},
    }
    world.put("networkpolicies.networking.k8s.io", policy)
    assert ask(world, "/health").status == 200
    found = ask(world, "/data")
    assert (found.failure, found.latency_ms) == (TIMEOUT, 3_000)
    slow = ask(world, "/data", timeout_ms=60_000)
    assert slow.status == 504
    assert (
        "upstream timed out (110: Operation timed out) while reading response header"
        in world.log("tron", "nginx", "nginx")[-2]
    )
    source = world.network.source_of_pod("tron", "nginx")
    assert world.network.resolve(source, "redis").failure == DNS_TIMEOUT


def test_a_crashed_bridge_is_nginxs_502(world: World) -> None:
    run = world.runtime.run("uid-tron-nginx", "redis-bridge")
    world.runtime.end(run, world.loop.now_ms, 2, "Error")
    found = ask(world, "/data")
    assert found.status == 502
    assert "<center>nginx/1.27.5</center>" in found.body
    assert (
        "connect() failed (111: Connection refused) while connecting to upstream"
        in world.log("tron", "nginx", "nginx")[-2]
    )


def test_an_exact_ingress_path_leaves_the_rest_to_the_controller(world: World) -> None:
    ingress = world.store.get("ingresses.networking.k8s.io", "tron", "tron-ingress")
    path = ingress["spec"]["rules"][0]["http"]["paths"][0]
    rules = [{"host": "tron.localhost", "http": {"paths": [{**path, "path": "/internal-only"}]}}]
    world.edit(
        "ingresses.networking.k8s.io", "tron", "tron-ingress", spec={**ingress["spec"], "rules": rules}
    )
    assert ask(world, "/health").status == 404
    assert ask(world, "/internal-only/x").status == 200
    assert ask(world, "/internal-onlyx").status == 404


def test_a_cpu_limit_makes_burning_requests_late(world: World) -> None:
    configured(world, BRIDGE_CPU_BURN_MS="300")
    assert ask(world, "/data").latency_ms > 1_000
    limited(world, cpu="10m")
    assert ask(world, "/data").failure == TIMEOUT
    assert ask(world, "/health").status == 200


def test_a_memory_burst_over_the_limit_kills_the_container(world: World) -> None:
    configured(world, BRIDGE_MEMORY_BURST_MB="128")
    found = ask(world, "/data")
    assert found.status == 502
    run = world.runtime.run("uid-tron-nginx", "redis-bridge")
    assert (run.exit_code, run.exit_reason, run.is_running(world.loop.now_ms)) == (137, "OOMKilled", False)
    assert "upstream prematurely closed connection" in world.log("tron", "nginx", "nginx")[-2]
    world.loop.run_until(world.loop.now_ms + 10)
    assert world.woken == [("run", "uid-tron-nginx", "redis-bridge")]


def test_changed_files_do_not_reach_a_running_process_before_it_reloads(world: World) -> None:
    assert ask(world, "/health").body == "ok\n"
    run = world.runtime.run("uid-tron-nginx", "nginx")
    from dataclasses import replace

    text = run.container.files["/etc/nginx/conf.d/default.conf"].replace('"ok\\n"', '"new\\n"')
    world.runtime.put(
        replace(run, container=replace(run.container, files={"/etc/nginx/conf.d/default.conf": text}))
    )
    assert ask(world, "/health").body == "ok\n"
    world.network.reload(world.runtime.run("uid-tron-nginx", "nginx"))
    assert ask(world, "/health").body == "new\n"


def test_a_fork_does_not_see_later_requests(world: World) -> None:
    twin = world.fork()
    ask(world, "/write?value=x")
    assert ask(twin, "/data").body == '{"status": "ok", "value": "$-1\\r\\n"}'


@pytest.mark.parametrize(
    ("host", "addresses", "failure"),
    [
        ("redis", 1, ""), ("redis.tron", 1, ""), ("redis.tron.svc.cluster.local", 1, ""), ("kube-dns.kube-system", 1, ""),
        ("localhost", 1, ""), ("10-244-1-5.tron.pod.cluster.local", 1, ""), ("redis-bad", 0, NXDOMAIN), ("redis.other", 0, NXDOMAIN),
        ("example.com", 0, NXDOMAIN), ("10.1.2.3", 1, ""),
    ],
)  # fmt: skip
def test_names_resolve_from_a_pod(world: World, host: str, addresses: int, failure: str) -> None:
    found = world.network.resolve(world.network.source_of_pod("tron", "nginx"), host)
    assert (len(found.addresses), found.failure) == (addresses, failure)


def test_headless_services_external_names_and_dead_name_servers(world: World) -> None:
    source = world.network.source_of_pod("tron", "nginx")
    world.service(
        "tron", "headless", {"clusterIP": "None", "selector": {"app": "redis"}, "ports": [{"port": 6379}]}
    )
    world.slices("tron", "headless")
    assert world.network.resolve(source, "headless").addresses == (
        world.store.get("pods", "tron", "redis")["status"]["podIP"],
    )
    world.service("tron", "alias", {"type": "ExternalName", "externalName": "redis.tron.svc.cluster.local"})
    assert (
        world.network.resolve(source, "alias").addresses == world.network.resolve(source, "redis").addresses
    )
    for name in ("coredns", "coredns-1"):
        world.runtime.end(
            world.runtime.run(f"uid-kube-system-{name}", "coredns"), world.loop.now_ms, 1, "Error"
        )
    assert world.network.resolve(source, "redis").failure == SERVFAIL


def test_places_outside_reach_services_and_the_ingress(world: World) -> None:
    outside = world.network.outside()
    request = Request(
        path="/health", host="tron.localhost", headers={"Host": "tron.localhost"}, timeout_ms=2_000
    )
    for host, port in (
        ("localhost", 80),
        ("tron.localhost", 80),
        ("127.0.0.1", 8080),
        ("10.0.0.11", 80),
        ("nginx.tron", 80),
    ):
        assert world.network.request(outside, host, port, request).status == 200, host
    assert world.network.request(outside, "localhost", 9000, request).failure == REFUSED
    assert world.network.request(outside, "10.244.9.9", 80, request).failure in (UNREACHABLE, TIMEOUT)
    # The policy of redis lets only nginx's pods in.
    assert world.network.request(outside, "redis.tron", 6379, request).failure == TIMEOUT


def test_another_protocol_gets_what_the_server_makes_of_it(world: World) -> None:
    source = world.network.source_of_pod("tron", "nginx")
    assert world.network.request(source, "redis", 6379, Request(host="redis")).failure == EMPTY


def test_connections_take_turns_and_affinity_keeps_clients(world: World) -> None:
    template = world.store.get("pods", "tron", "redis")["spec"]
    world.pod("tron", "redis-2", template, {"app": "redis", "tier": "cache"})
    world.slices("tron", "redis")
    source = world.network.source_of_pod("tron", "nginx")
    address = world.network.resolve(source, "redis").addresses[0]
    found = [world.network.connect(source, address, 6379).address for _ in range(4)]
    assert len(set(found[:2])) == 2
    assert found[:2] == found[2:]
    spec = world.store.get("services", "tron", "redis")["spec"]
    world.edit("services", "tron", "redis", spec={**spec, "sessionAffinity": "ClientIP"})
    assert len({world.network.connect(source, address, 6379).address for _ in range(4)}) == 1


def test_kubelets_probe_past_policies(world: World) -> None:
    policy = {
        "metadata": {"namespace": "tron", "name": "deny"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    world.put("networkpolicies.networking.k8s.io", policy)
    address = world.store.get("pods", "tron", "redis")["status"]["podIP"]
    assert world.network.request_pod(address, 6379, Request(protocol="tcp"), "10.0.0.11").is_ok
    assert world.network.request_pod(address, 6380, Request(protocol="tcp"), "10.0.0.11").failure == REFUSED
