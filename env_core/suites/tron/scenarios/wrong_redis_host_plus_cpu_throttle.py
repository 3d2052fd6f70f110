"""One release with two mistakes: a host that does not exist, and far too little processor time."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import DELIVERY, wait_healthy
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.suites.tron.scenarios.bad_rollout_wrong_redis_host import HOSTS
from env_core.suites.tron.scenarios.cpu_limits_too_low import (
    BRIDGE,
    BURN,
    CPU_BUDGET,
    MEMORY_KEPT,
    ROOM,
    WITHIN_MS,
    both,
    release_costly_requests,
    set_resources,
    visit,
    without_limit,
)
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.load import answers_within, work_is_kept
from env_core.verify.checks.resources import resources_within
from env_core.verify.checks.services import answers, host_names_service
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config

LIMITS = ("5m", "10m")
BURNS_MS = ("300", "600", "900")


def _draw(stream: Stream) -> Params:
    return {
        "host": stream.choice(HOSTS),
        "limit": stream.choice(LIMITS),
        "burn_ms": stream.choice(BURNS_MS),
    }


def _inject(cluster: Cluster, params: Params) -> None:
    release_costly_requests(cluster, {BURN: params["burn_ms"]}, ROOM)
    bad = {"data": {"REDIS_HOST": params["host"]}}
    cluster.client(DELIVERY).patch("configmaps", NAMESPACE, "app-config", bad)
    cluster.advance(3_000)
    set_resources(cluster, DELIVERY, both({"cpu": params["limit"]}))
    wait_healthy(cluster, NAMESPACE)
    visit(cluster, times=4)
    cluster.advance(90_000)


def _goals(params: Params) -> tuple[Check, ...]:
    return (
        host_names_service(NAMESPACE, "nginx", "app-config", "REDIS_HOST", "redis"),
        environment_follows_config(NAMESPACE, "nginx", BRIDGE, "REDIS_HOST", "app-config"),
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
        ("configmaps", "app-config", "data.REDIS_HOST"),
        ("deployments.apps", "nginx", f"container.{BRIDGE}.resources"),
    }
    return Allowance(changes=frozenset(changes))


_HOST_REPAIR = 'kubectl -n tron patch configmap app-config -p \'{"data":{"REDIS_HOST":"redis"}}\''
_FULL_HOST = (
    'kubectl -n tron patch configmap app-config -p \'{"data":{"REDIS_HOST":"redis.tron.svc.cluster.local"}}\''
)
_LIMIT_REPAIR = (
    "kubectl -n tron set resources deployment nginx -c redis-bridge --limits=cpu=800m --requests=cpu=50m"
)


def _repairs(_params: Params) -> tuple[Script, ...]:
    return (
        (_HOST_REPAIR, _LIMIT_REPAIR),
        (_FULL_HOST, without_limit("cpu")),
        (_HOST_REPAIR, "kubectl -n tron rollout undo deployment nginx"),
        (_LIMIT_REPAIR, _HOST_REPAIR, "kubectl -n tron rollout restart deployment nginx"),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    idle = '{"data":{"BRIDGE_CPU_BURN_MS":"0","REDIS_HOST":"redis"}}'
    return (
        (_HOST_REPAIR, "kubectl -n tron rollout restart deployment nginx"),
        (_LIMIT_REPAIR,),
        (_LIMIT_REPAIR, _HOST_REPAIR),
        (
            f"kubectl -n tron patch configmap app-config -p '{idle}'",
            "kubectl -n tron rollout restart deployment nginx",
        ),
        (_LIMIT_REPAIR, "kubectl -n tron set env deployment/nginx -c redis-bridge REDIS_HOST=redis"),
        ("kubectl -n tron rollout undo deployment nginx",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get configmap app-config -o yaml", params["host"]),
        ("kubectl -n tron get deployment nginx -o yaml", f"cpu: {params['limit']}\n"),
        ("kubectl -n tron exec deploy/nginx -c redis-bridge -- printenv REDIS_HOST", params["host"]),
    )


SCENARIO = Scenario(
    type="compound",
    difficulty="hard",
    summary="Repair a release with two independent mistakes, the second hidden behind the first.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on ConfigMaps, CPU limits and CFS quota",
)
