"""Somebody trimmed the CPU of a container whose requests need a lot of it; they take minutes now."""

from __future__ import annotations

from env_core.apiserver.request import STRATEGIC_PATCH, Identity
from env_core.cluster import Cluster
from env_core.programs import Request
from env_core.scenarios.platform import COLLEAGUE, DELIVERY, wait_healthy
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.load import answers_within, work_is_kept
from env_core.verify.checks.resources import Budget, resources_within
from env_core.verify.checks.services import answers
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config
from env_core.world import Object

LIMITS = ("2m", "5m", "8m")
BURNS_MS = ("900", "1200", "1500")
PROFILES = ("colleague", "pipeline", "stepwise")
"""How the trimming came about: by hand, by a release, or by hand in two steps."""

BURN = "BRIDGE_CPU_BURN_MS"
BRIDGE = "redis-bridge"
WITHIN_MS = 2_500
"""The service's time-out of 3 s less a margin: a limit that just gets by is none."""

ROOM: Object = {"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}}
"""What the release that made requests costly gave the container."""

CPU_BUDGET = Budget(request_max="2", limit_max="2")
"""One request runs on one thread: more than two cores would be waste. No limit at all is fine."""

MEMORY_KEPT = Budget(request_min="48Mi", request_max="192Mi", limit_min="128Mi", limit_max="512Mi")
"""The memory of the manifests, up to four times."""

_BETWEEN_MS = 600_000


def _draw(stream: Stream) -> Params:
    return {
        "limit": stream.choice(LIMITS),
        "burn_ms": stream.choice(BURNS_MS),
        "profile": stream.choice(PROFILES),
    }


def _inject(cluster: Cluster, params: Params) -> None:
    release_costly_requests(cluster, {BURN: params["burn_ms"]}, ROOM)
    who = DELIVERY if params["profile"] == "pipeline" else COLLEAGUE
    if params["profile"] == "stepwise":
        set_resources(cluster, who, {"limits": {"cpu": "800m"}})
        wait_healthy(cluster, NAMESPACE)
        cluster.advance(120_000)
    set_resources(cluster, who, both({"cpu": params["limit"]}))
    wait_healthy(cluster, NAMESPACE)
    visit(cluster, times=4)
    cluster.advance(60_000)


def release_costly_requests(cluster: Cluster, config: dict[str, str], resources: Object) -> None:
    """Roll out, some time ago, a release whose requests cost more, with the resources that they need."""
    delivery = cluster.client(DELIVERY)
    delivery.patch("configmaps", NAMESPACE, "app-config", {"data": config})
    cluster.advance(2_000)
    template: Object = {
        "metadata": {"annotations": {"delivery.example.com/release": "2026.1.3"}},
        "spec": {"containers": [{"name": BRIDGE, "resources": resources}]},
    }
    delivery.patch("deployments", NAMESPACE, "nginx", {"spec": {"template": template}}, STRATEGIC_PATCH)
    wait_healthy(cluster, NAMESPACE)
    visit(cluster, times=2)
    cluster.advance(_BETWEEN_MS)


def both(amounts: dict[str, str]) -> Object:
    """Return resources whose requests equal their limits."""
    return {"requests": amounts, "limits": amounts}


def set_resources(cluster: Cluster, who: Identity, resources: Object) -> None:
    """Change resources of the bridge container, as `kubectl set resources` does."""
    spec = {"containers": [{"name": BRIDGE, "resources": resources}]}
    patch = {"spec": {"template": {"spec": spec}}}
    cluster.client(who).patch("deployments", NAMESPACE, "nginx", patch, STRATEGIC_PATCH)


def visit(cluster: Cluster, *, times: int, every_ms: int = 10_000) -> None:
    """Let users ask for data now and then."""
    for _ in range(times):
        cluster.network.request_ingress(Request(path="/data", host=HOST, timeout_ms=3_000))
        cluster.advance(every_ms)


def _goals(params: Params) -> tuple[Check, ...]:
    return (
        answers_within(HOST, "/data", within_ms=WITHIN_MS),
        answers(HOST, "/health"),
        deployment_serves(NAMESPACE, "nginx"),
        work_is_kept(NAMESPACE, "app-config", BURN, int(params["burn_ms"])),
        environment_follows_config(NAMESPACE, "nginx", BRIDGE, BURN, "app-config"),
        resources_within(NAMESPACE, "nginx", BRIDGE, "cpu", CPU_BUDGET),
        resources_within(NAMESPACE, "nginx", BRIDGE, "memory", MEMORY_KEPT),
    )


def _allowance(_params: Params) -> Allowance:
    # The release changed the first; the resources have checks of their own among the goals.
    changes = {
        ("configmaps", "app-config", f"data.{BURN}"),
        ("deployments.apps", "nginx", f"container.{BRIDGE}.resources"),
    }
    return Allowance(changes=frozenset(changes))


def without_limit(resource: str) -> str:
    """Return the command that removes one limit of the bridge and keeps its request."""
    limits = f'{{"limits":{{"{resource}":null}}}}'
    patch = (
        f'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"{BRIDGE}","resources":{limits}}}]}}}}}}}}'
    )
    return f"kubectl -n tron patch deployment nginx -p '{patch}'"


def _repairs(_params: Params) -> tuple[Script, ...]:
    return (
        (
            "kubectl -n tron set resources deployment nginx -c redis-bridge --limits=cpu=900m --requests=cpu=100m",
        ),
        (without_limit("cpu"),),
        ("kubectl -n tron rollout undo deployment nginx",),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    idle = '{"data":{"BRIDGE_CPU_BURN_MS":"0"}}'
    return (
        ("kubectl -n tron scale deployment nginx --replicas=3",),
        (
            f"kubectl -n tron patch configmap app-config -p '{idle}'",
            "kubectl -n tron rollout restart deployment nginx",
        ),
        ("kubectl -n tron set env deployment/nginx -c redis-bridge BRIDGE_CPU_BURN_MS=0",),
        ("kubectl -n tron rollout restart deployment nginx",),
        (
            "kubectl -n tron set resources deployment nginx -c redis-bridge --limits=cpu=100m --requests=cpu=50m",
        ),
        (
            "kubectl -n tron set resources deployment nginx -c redis-bridge --limits=cpu=10 --requests=cpu=50m",
        ),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    limit = params["limit"]
    return (
        ("kubectl -n tron get deployment nginx -o yaml", f"cpu: {limit}\n"),
        ("kubectl -n tron describe deployment nginx", f"cpu:     {limit}\n"),
        ("kubectl -n tron logs deploy/nginx -c nginx --tail=40", 'GET /data HTTP/1.1" 499'),
    )


SCENARIO = Scenario(
    type="resource",
    difficulty="medium",
    summary="Give a throttled container the processor time that its requests need.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on CPU limits and CFS quota",
)
