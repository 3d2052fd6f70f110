"""A bad host was rolled out and the configuration put right again, but what runs still has the old one."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE, wait_healthy
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.suites.tron.scenarios.bad_rollout_wrong_redis_host import roll_out_host
from env_core.suites.tron.scenarios.cpu_limits_too_low import visit
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers, host_names_service
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config

HOSTS = ("redis-bad", "redis-shadow")
WAITS_MS = ("60000", "150000", "300000")


def _draw(stream: Stream) -> Params:
    return {"host": stream.choice(HOSTS), "wait_ms": stream.choice(WAITS_MS)}


def _inject(cluster: Cluster, params: Params) -> None:
    roll_out_host(cluster, params["host"])
    wait_healthy(cluster, NAMESPACE)
    visit(cluster, times=3)
    cluster.advance(60_000)
    good = {"data": {"REDIS_HOST": "redis"}}
    cluster.client(COLLEAGUE).patch("configmaps", NAMESPACE, "app-config", good)
    cluster.advance(int(params["wait_ms"]))


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        environment_follows_config(NAMESPACE, "nginx", "redis-bridge", "REDIS_HOST", "app-config"),
        host_names_service(NAMESPACE, "nginx", "app-config", "REDIS_HOST", "redis"),
        deployment_serves(NAMESPACE, "nginx"),
        answers(HOST, "/data"),
        answers(HOST, "/health"),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance(changes=frozenset({("configmaps", "app-config", "data.REDIS_HOST")}))


def _repairs(_params: Params) -> tuple[Script, ...]:
    note = '{"spec":{"template":{"metadata":{"annotations":{"ops.example.com/reload":"1"}}}}}'
    return (
        ("kubectl -n tron rollout restart deployment nginx",),
        ("kubectl -n tron delete pod -l app=nginx",),
        (f"kubectl -n tron patch deployment nginx -p '{note}'",),
    )


def _decoys(params: Params) -> tuple[Script, ...]:
    again = '{"data":{"REDIS_HOST":"redis"}}'
    full = '{"data":{"REDIS_HOST":"redis.tron.svc.cluster.local"}}'
    return (
        (
            f"kubectl -n tron patch configmap app-config -p '{again}'",
            f"kubectl -n tron patch configmap app-config -p '{full}'",
        ),
        ("kubectl -n tron rollout restart deployment redis",),
        ("kubectl -n tron set env deployment/nginx -c redis-bridge REDIS_HOST=redis",),
        (f"kubectl -n tron expose deployment redis --name={params['host']} --port=6379",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get configmap app-config -o yaml", "REDIS_HOST: redis\n"),
        ("kubectl -n tron exec deploy/nginx -c redis-bridge -- printenv REDIS_HOST", params["host"]),
        ("kubectl -n tron logs deploy/nginx -c redis-bridge --tail=20", params["host"]),
    )


SCENARIO = Scenario(
    type="config",
    difficulty="medium",
    summary="Bring what runs in line with a configuration that is right already.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on ConfigMaps used as environment variables",
)
