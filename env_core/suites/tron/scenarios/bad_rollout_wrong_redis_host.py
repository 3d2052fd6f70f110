"""A configuration change sends the bridge to a host that does not exist, and a rollout carried it out."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import DELIVERY, wait_healthy
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario, Script, drawn_wait, visited
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers, host_names_service
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config

HOSTS = ("redis-bad", "redis-shadow", "redis-primary-typo")
WAITS_MS = (45000, 120000, 300000)


def _draw(stream: Stream) -> Params:
    return {
        "host": stream.choice(HOSTS),
        "wait_ms": drawn_wait(stream, WAITS_MS),
        "is_rolled_out": stream.choice(("yes", "halfway")),
    }


def _inject(cluster: Cluster, params: Params) -> None:
    roll_out_host(cluster, params["host"])
    if params["is_rolled_out"] == "yes":
        wait_healthy(cluster, NAMESPACE)
    cluster.advance(int(params["wait_ms"]))
    visited(cluster)


def roll_out_host(cluster: Cluster, host: str) -> None:
    """Change the host in the ConfigMap and restart the web tier."""
    delivery = cluster.client(DELIVERY)
    delivery.patch("configmaps", NAMESPACE, "app-config", {"data": {"REDIS_HOST": host}})
    cluster.advance(3_000)
    restart(cluster)


def restart(cluster: Cluster) -> None:
    """Restart the web tier, as `kubectl rollout restart` does."""
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
    patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    cluster.client(DELIVERY).patch("deployments", NAMESPACE, "nginx", patch)


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        host_names_service(NAMESPACE, "nginx", "app-config", "REDIS_HOST", "redis"),
        environment_follows_config(NAMESPACE, "nginx", "redis-bridge", "REDIS_HOST", "app-config"),
        deployment_serves(NAMESPACE, "nginx"),
        answers("tron.localhost", "/data"),
        answers("tron.localhost", "/health"),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance(changes=frozenset({("configmaps", "app-config", "data.REDIS_HOST")}))


def _repairs(_params: Params) -> tuple[Script, ...]:
    short = '{"data":{"REDIS_HOST":"redis"}}'
    full = '{"data":{"REDIS_HOST":"redis.tron.svc.cluster.local"}}'
    return (
        (
            f"kubectl -n tron patch configmap app-config -p '{short}'",
            "kubectl -n tron rollout restart deployment nginx",
        ),
        (
            f"kubectl -n tron patch configmap app-config --type=merge -p '{full}'",
            "kubectl -n tron delete pod -l app=nginx",
        ),
    )


def _decoys(params: Params) -> tuple[Script, ...]:
    host = params["host"]
    return (
        ("kubectl -n tron rollout restart deployment nginx",),
        ("kubectl -n tron set env deployment/nginx -c redis-bridge REDIS_HOST=redis",),
        (f"kubectl -n tron expose deployment redis --name={host} --port=6379",),
        ("kubectl -n tron rollout undo deployment nginx",),
        ("kubectl -n tron delete deployment nginx",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get configmap app-config -o yaml", params["host"]),
        ("kubectl -n tron exec deploy/nginx -c redis-bridge -- printenv REDIS_HOST", params["host"]),
        ("kubectl -n tron logs deploy/nginx -c redis-bridge --tail=20", params["host"]),
    )


SCENARIO = Scenario(
    type="config",
    difficulty="easy",
    summary="Repair configuration drift and make sure that what serves picks up the durable fix.",
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
