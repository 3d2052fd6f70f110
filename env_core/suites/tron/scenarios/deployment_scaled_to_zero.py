"""Nobody is left behind the entry: the web tier was scaled down and never up again."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers, service_reaches
from env_core.verify.checks.workloads import deployment_serves

WINDOWS_MS = ("90000", "300000")


def _draw(stream: Stream) -> Params:
    return {"window_ms": stream.choice(WINDOWS_MS)}


def _inject(cluster: Cluster, params: Params) -> None:
    cluster.client(COLLEAGUE).patch("deployments", NAMESPACE, "nginx", {"spec": {"replicas": 0}})
    cluster.advance(int(params["window_ms"]))


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        deployment_serves(NAMESPACE, "nginx"),
        service_reaches(NAMESPACE, "nginx", "nginx"),
        answers(HOST, "/data", contains='"status": "ok"'),
        answers(HOST, "/health"),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance()


def _repairs(_params: Params) -> tuple[Script, ...]:
    two = '{"spec":{"replicas":2}}'
    return (
        ("kubectl -n tron scale deployment nginx --replicas=1",),
        (f"kubectl -n tron patch deployment nginx -p '{two}'",),
        (
            "kubectl -n tron get deployment nginx -o json | jq '.spec.replicas = 1' | kubectl -n tron replace -f -",
        ),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    copied = '.metadata = {name: "nginx-copy", labels: {app: "nginx"}} | .spec.replicas = 1 | del(.status)'
    return (
        (f"kubectl -n tron get deployment nginx -o json | jq '{copied}' | kubectl -n tron create -f -",),
        ("kubectl -n tron rollout restart deployment nginx",),
        ("kubectl -n tron run nginx-pod --image=nginx:1.27-alpine --labels=app=nginx --port=8080",),
        ("kubectl -n tron set selector service nginx app=redis",),
    )


def _evidence(_params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get deployment nginx", "0/0"),
        ("kubectl -n tron get endpoints nginx", "<none>"),
        ("kubectl -n tron get events", "Scaled down replica set"),
    )


SCENARIO = Scenario(
    type="deployment",
    difficulty="easy",
    summary="Bring back the web tier that somebody took down.",
    draw=_draw,
    inject=_inject,
    score_after=0.4,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on scaling Deployments",
)
