"""Somebody trimmed the memory of a container whose requests need a lot of it; each one gets it killed now."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE, wait_healthy
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.suites.tron.scenarios.cpu_limits_too_low import (
    BRIDGE,
    both,
    release_costly_requests,
    set_resources,
    visit,
    without_limit,
)
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.load import answers_within, work_is_kept
from env_core.verify.checks.resources import Budget, memory_leaves_room, resources_within
from env_core.verify.checks.services import answers
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config

LIMITS = ("12Mi", "16Mi", "20Mi")
BURSTS_MB = ("128", "160", "192")
BURST = "BRIDGE_MEMORY_BURST_MB"
MARGIN_MB = 16
"""A limit is right when it holds the burst, what the program takes at rest (11 MiB), and a little."""

ROOM = {"requests": {"memory": "48Mi"}, "limits": {"memory": "320Mi"}}
MEMORY_BUDGET = Budget(request_max="512Mi", limit_max="512Mi")
CPU_KEPT = Budget(request_min="50m", request_max="200m", limit_min="250m", limit_max="1")


def _draw(stream: Stream) -> Params:
    return {"limit": stream.choice(LIMITS), "burst_mb": stream.choice(BURSTS_MB)}


def _inject(cluster: Cluster, params: Params) -> None:
    release_costly_requests(cluster, {BURST: params["burst_mb"]}, ROOM)
    set_resources(cluster, COLLEAGUE, both({"memory": params["limit"]}))
    wait_healthy(cluster, NAMESPACE)
    # Two users find it out; then nobody dares for a while, and the container is back.
    visit(cluster, times=2, every_ms=30_000)
    wait_healthy(cluster, NAMESPACE)
    cluster.advance(60_000)


def _goals(params: Params) -> tuple[Check, ...]:
    needed = f"{int(params['burst_mb']) + MARGIN_MB}Mi"
    return (
        answers_within(HOST, "/data", within_ms=2_500),
        answers(HOST, "/health"),
        deployment_serves(NAMESPACE, "nginx"),
        work_is_kept(NAMESPACE, "app-config", BURST, int(params["burst_mb"])),
        environment_follows_config(NAMESPACE, "nginx", BRIDGE, BURST, "app-config"),
        memory_leaves_room(NAMESPACE, "nginx", BRIDGE, needed),
        resources_within(NAMESPACE, "nginx", BRIDGE, "memory", MEMORY_BUDGET),
        resources_within(NAMESPACE, "nginx", BRIDGE, "cpu", CPU_KEPT),
    )


def _allowance(_params: Params) -> Allowance:
    # The release changed the first; the resources have checks of their own among the goals.
    changes = {
        ("configmaps", "app-config", f"data.{BURST}"),
        ("deployments.apps", "nginx", f"container.{BRIDGE}.resources"),
    }
    return Allowance(changes=frozenset(changes))


def _repairs(_params: Params) -> tuple[Script, ...]:
    return (
        (
            "kubectl -n tron set resources deployment nginx -c redis-bridge --limits=memory=256Mi --requests=memory=64Mi",
        ),
        (without_limit("memory"),),
        ("kubectl -n tron rollout undo deployment nginx",),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    idle = '{"data":{"BRIDGE_MEMORY_BURST_MB":"0"}}'
    return (
        (
            f"kubectl -n tron patch configmap app-config -p '{idle}'",
            "kubectl -n tron rollout restart deployment nginx",
        ),
        ("kubectl -n tron set resources deployment nginx -c redis-bridge --limits=memory=1280Mi",),
        ("kubectl -n tron rollout restart deployment nginx",),
        ("kubectl -n tron set resources deployment nginx -c redis-bridge --limits=memory=100Mi",),
        ("kubectl -n tron scale deployment nginx --replicas=3",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron describe pod -l app=nginx", "OOMKilled"),
        ("kubectl -n tron get deployment nginx -o yaml", f"memory: {params['limit']}\n"),
        (
            "kubectl -n tron get configmap app-config -o yaml",
            f'BRIDGE_MEMORY_BURST_MB: "{params["burst_mb"]}"\n',
        ),
    )


SCENARIO = Scenario(
    type="resource",
    difficulty="medium",
    summary="Give a container that its requests get killed the memory that they need, and no more.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on memory limits",
)
