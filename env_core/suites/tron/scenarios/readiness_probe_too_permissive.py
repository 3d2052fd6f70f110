"""Readiness of the web server no longer asks the web server anything: nothing is wrong yet."""

from __future__ import annotations

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE, wait_healthy
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.suites.tron.scenarios.bad_rollout_wrong_redis_host import restart
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.probes import silent_pods_leave, silent_starts_stay_out
from env_core.verify.checks.services import answers
from env_core.verify.checks.workloads import deployment_serves
from env_core.world import Object

PROBES = ("true", "exit 0")
STATES = ("quiet", "restarted")
NOTICED_WITHIN_MS = 60_000
"""A probe that needs longer to see an outage is no protection."""

_SILENT = {"default.conf": "server {\n  listen 8089;\n}\n"}
"""A configuration with which the web server runs, but not where anybody asks."""


def _draw(stream: Stream) -> Params:
    return {"probe": stream.choice(PROBES), "state": stream.choice(STATES)}


def _command(params: Params) -> list[str]:
    return ["true"] if params["probe"] == "true" else ["sh", "-c", params["probe"]]


def _inject(cluster: Cluster, params: Params) -> None:
    probe: Object = {"httpGet": None, "exec": {"command": _command(params)}, "periodSeconds": 5}
    template = {"spec": {"containers": [{"name": "nginx", "readinessProbe": probe}]}}
    cluster.client(COLLEAGUE).patch(
        "deployments", NAMESPACE, "nginx", {"spec": {"template": template}}, STRATEGIC_PATCH
    )
    wait_healthy(cluster, NAMESPACE)
    cluster.advance(120_000)
    if params["state"] == "restarted":
        restart(cluster)
        wait_healthy(cluster, NAMESPACE)
        cluster.advance(60_000)


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        answers(HOST, "/data"),
        deployment_serves(NAMESPACE, "nginx"),
        silent_starts_stay_out(NAMESPACE, "nginx", "nginx-config", _SILENT),
        silent_pods_leave(NAMESPACE, "nginx", "nginx", NOTICED_WITHIN_MS),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance(changes=frozenset({("deployments.apps", "nginx", "container.nginx.readinessProbe")}))


def _probe(probe: str) -> str:
    value = f'{{"exec":null,"tcpSocket":null,"httpGet":null,{probe}}}'
    patch = (
        f'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"nginx","readinessProbe":{value}}}]}}}}}}}}'
    )
    return f"kubectl -n tron patch deployment nginx -p '{patch}'"


def _repairs(_params: Params) -> tuple[Script, ...]:
    return (
        (_probe('"httpGet":{"path":"/health","port":8080}'),),
        ("kubectl -n tron rollout undo deployment nginx --to-revision=2",),
        (_probe('"httpGet":{"path":"/data","port":"http"},"timeoutSeconds":3'),),
        (_probe('"tcpSocket":{"port":8080},"periodSeconds":10'),),
        (_probe('"exec":{"command":["wget","-q","-O","/dev/null","http://127.0.0.1:8080/health"]}'),),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    gone = '[{"op":"remove","path":"/spec/template/spec/containers/0/readinessProbe"}]'
    return (
        (f"kubectl -n tron patch deployment nginx --type=json -p '{gone}'",),
        ("kubectl -n tron rollout restart deployment nginx",),
        (_probe('"httpGet":{"path":"/health","port":9000}'),),
        (_probe('"httpGet":{"path":"/health","port":8080},"failureThreshold":1000'),),
        (_probe('"exec":{"command":["sh","-c","test -f /etc/nginx/nginx.conf || true"]}'),),
        ("kubectl -n tron scale deployment nginx --replicas=3",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    said = " ".join(_command(params))
    return (
        ("kubectl -n tron describe deployment nginx", f"exec [{said}]"),
        (
            "kubectl -n tron get deployment nginx -o jsonpath='{.spec.template.spec.containers[0].readinessProbe}'",
            '"exec"',
        ),
    )


SCENARIO = Scenario(
    type="probe",
    difficulty="medium",
    summary="Make readiness tell again whether the web server serves.",
    draw=_draw,
    inject=_inject,
    score_after=1.0,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on readiness probes",
)
