"""A Service in front of the cache selects labels that no pod carries."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario, Script, drawn_wait, visited
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers, service_reaches
from env_core.verify.checks.workloads import deployment_serves

SELECTORS = ("redis-canary", "redis-shadow", "redis-v2")
WAITS_MS = (60000, 240000)


def _draw(stream: Stream) -> Params:
    return {"selector": stream.choice(SELECTORS), "wait_ms": drawn_wait(stream, WAITS_MS)}


def _inject(cluster: Cluster, params: Params) -> None:
    break_selector(cluster, params["selector"])
    cluster.advance(int(params["wait_ms"]))
    visited(cluster)


def break_selector(cluster: Cluster, value: str) -> None:
    """Point the Service of the cache at pods that do not exist."""
    cluster.client(COLLEAGUE).patch("services", NAMESPACE, "redis", {"spec": {"selector": {"app": value}}})


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        service_reaches(NAMESPACE, "redis", "redis"),
        deployment_serves(NAMESPACE, "nginx"),
        answers("tron.localhost", "/data"),
        answers("tron.localhost", "/health"),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance(changes=frozenset({("services", "redis", "selector")}))


def _repairs(_params: Params) -> tuple[Script, ...]:
    by_app = '{"spec":{"selector":{"app":"redis"}}}'
    by_tier = '[{"op":"replace","path":"/spec/selector","value":{"tier":"cache"}}]'
    return (
        (f"kubectl -n tron patch service redis -p '{by_app}'",),
        (f"kubectl -n tron patch service redis --type=json -p '{by_tier}'",),
        ("kubectl -n tron set selector service redis app=redis",),
    )


def _decoys(params: Params) -> tuple[Script, ...]:
    value = params["selector"]
    return (
        (f"kubectl -n tron label pod -l app=redis app={value} --overwrite",),
        (
            "kubectl -n tron rollout restart deployment redis",
            "kubectl -n tron rollout restart deployment nginx",
        ),
        ("kubectl -n tron expose deployment redis --name=redis-direct --port=6379",),
        ("kubectl -n tron delete service redis", "kubectl -n tron expose deployment redis --port=6379"),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get endpoints redis", "<none>"),
        ("kubectl -n tron describe service redis", f"app={params['selector']}"),
        ("kubectl -n tron get pods --show-labels", "app=redis"),
    )


SCENARIO = Scenario(
    type="networking",
    difficulty="easy",
    summary="Repair service-to-pod wiring so that the web tier reaches its cache again.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on Services and selectors",
)
