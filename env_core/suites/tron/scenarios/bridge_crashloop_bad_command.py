"""A container's command names a script that is not there, and no pod of the release before is left."""

from __future__ import annotations

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers, service_reaches
from env_core.verify.checks.workloads import deployment_serves

PATHS = ("/app/missing.py", "/app/bridge-moved.py")
_BRIDGE = "redis-bridge"
_RESTARTS = 6
_LOOP_MAX_MS = 1_200_000
_FROM_APPLICATION = '"status": "ok"'


def _draw(stream: Stream) -> Params:
    return {"path": stream.choice(PATHS)}


def _inject(cluster: Cluster, params: Params) -> None:
    delivery = cluster.client(DELIVERY)
    # A release with an announced downtime: everything down, the new template, everything up again.
    delivery.patch("deployments", NAMESPACE, "nginx", {"spec": {"replicas": 0}})
    cluster.advance(60_000)
    containers = [{"name": _BRIDGE, "command": ["python", params["path"]]}]
    template = {
        "metadata": {"annotations": {"delivery.example.com/release": "2026.1.3"}},
        "spec": {"containers": containers},
    }
    delivery.patch("deployments", NAMESPACE, "nginx", {"spec": {"template": template}}, STRATEGIC_PATCH)
    cluster.advance(5_000)
    delivery.patch("deployments", NAMESPACE, "nginx", {"spec": {"replicas": 1}})
    # By now each restart is five minutes after the last one, so that no probe meets the moment in which the
    # container runs before it fails.
    if not cluster.advance_until(lambda: _restarts(cluster) >= _RESTARTS, _LOOP_MAX_MS):
        raise RuntimeError("the container does not crash")
    cluster.advance(15_000)


def _restarts(cluster: Cluster) -> int:
    statuses = [
        entry
        for pod in cluster.store.list("pods", NAMESPACE)
        for entry in (pod.get("status") or {}).get("containerStatuses") or ()
    ]
    return max((entry["restartCount"] for entry in statuses if entry["name"] == _BRIDGE), default=0)


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        deployment_serves(NAMESPACE, "nginx"),
        service_reaches(NAMESPACE, "nginx", "nginx"),
        answers(HOST, "/data", contains=_FROM_APPLICATION),
        answers(HOST, "/health"),
    )


def _allowance(_params: Params) -> Allowance:
    parts = ("command", "args")
    return Allowance(
        changes=frozenset(("deployments.apps", "nginx", f"container.{_BRIDGE}.{part}") for part in parts)
    )


def _with_container(fields: str) -> str:
    patch = f'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"{_BRIDGE}",{fields}}}]}}}}}}}}'
    return f"kubectl -n tron patch deployment nginx -p '{patch}'"


def _repairs(_params: Params) -> tuple[Script, ...]:
    return (
        (_with_container('"command":["python","/app/bridge.py"]'),),
        ("kubectl -n tron rollout undo deployment nginx",),
        (_with_container('"command":["python"],"args":["-u","/app/bridge.py"]'),),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    drop = '[{"op":"remove","path":"/spec/template/spec/containers/1"}]'
    return (
        (f"kubectl -n tron patch deployment nginx --type=json -p '{drop}'",),
        (_with_container('"command":["sleep","infinity"]'),),
        (_with_container('"command":["python","-m","http.server","9000"]'),),
        ("kubectl -n tron rollout restart deployment nginx",),
        ("kubectl -n tron delete pod -l app=nginx",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get pods", "1/2 "),
        (
            "kubectl -n tron logs deploy/nginx -c redis-bridge --tail=20",
            f"can't open file '{params['path']}'",
        ),
        ("kubectl -n tron describe deployment nginx", params["path"]),
    )


SCENARIO = Scenario(
    type="crashloop",
    difficulty="easy",
    summary="Let a container start the program that its image and volumes hold.",
    draw=_draw,
    inject=_inject,
    score_after=0.4,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on commands and arguments of containers",
)
