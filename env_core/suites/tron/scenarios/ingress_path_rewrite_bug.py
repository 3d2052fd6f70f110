"""The entry routes a path that nobody asks for, and nothing else."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.verify.checks import Check
from env_core.verify.checks.ingress import closed_to_other_hosts, hosts_routed, unknown_paths_as_before
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.services import answers
from env_core.verify.checks.workloads import deployment_serves

PATHS = ("/broken", "/v1", "/internal-only")
WAITS_MS = ("60000", "240000")
_RESOURCE = "ingresses.networking.k8s.io"
_FROM_APPLICATION = '"status": "ok"'


def _draw(stream: Stream) -> Params:
    return {"path": stream.choice(PATHS), "wait_ms": stream.choice(WAITS_MS)}


def _rule(*paths: tuple[str, str]) -> dict[str, object]:
    backend = {"service": {"name": "nginx", "port": {"number": 80}}}
    entries = [{"path": path, "pathType": kind, "backend": backend} for path, kind in paths]
    return {"host": HOST, "http": {"paths": entries}}


def _inject(cluster: Cluster, params: Params) -> None:
    patch = {"spec": {"rules": [_rule((params["path"], "Prefix"))]}}
    cluster.client(COLLEAGUE).patch("ingresses", NAMESPACE, "tron-ingress", patch)
    cluster.advance(int(params["wait_ms"]))


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        answers(HOST, "/health", contains="ok"),
        answers(HOST, "/data", contains=_FROM_APPLICATION),
        unknown_paths_as_before(HOST, ("/zz-nobody-asks", "/datax"), _FROM_APPLICATION),
        closed_to_other_hosts(("other.localhost", "10.0.0.11"), ("/health", "/data", "/")),
        hosts_routed(NAMESPACE, "tron-ingress", (HOST,), "nginx"),
        deployment_serves(NAMESPACE, "nginx"),
    )


def _allowance(_params: Params) -> Allowance:
    return Allowance(changes=frozenset({(_RESOURCE, "tron-ingress", "spec")}))


def _patched(value: str) -> str:
    patch = f'[{{"op":"replace","path":"/spec/rules/0/http/paths","value":[{value}]}}]'
    return f"kubectl -n tron patch ingress tron-ingress --type=json -p '{patch}'"


def _path(path: str, kind: str) -> str:
    backend = '{"service":{"name":"nginx","port":{"number":80}}}'
    return f'{{"path":"{path}","pathType":"{kind}","backend":{backend}}}'


def _repairs(_params: Params) -> tuple[Script, ...]:
    root = '[{"op":"replace","path":"/spec/rules/0/http/paths/0/path","value":"/"}]'
    return (
        (f"kubectl -n tron patch ingress tron-ingress --type=json -p '{root}'",),
        (_patched(f"{_path('/health', 'Exact')},{_path('/data', 'Prefix')}"),),
        (
            "kubectl -n tron get ingress tron-ingress -o json | jq '.spec.rules[0].http.paths[0].path = \"/\"'"
            " | kubectl -n tron apply -f -",
        ),
    )


def _decoys(_params: Params) -> tuple[Script, ...]:
    catch_all = '{"spec":{"defaultBackend":{"service":{"name":"nginx","port":{"number":80}}}}}'
    nameless = '[{"op":"remove","path":"/spec/rules/0/host"},{"op":"replace","path":"/spec/rules/0/http/paths/0/path","value":"/"}]'
    return (
        ('kubectl -n tron patch service nginx -p \'{"spec":{"type":"NodePort"}}\'',),
        ('kubectl -n tron patch service nginx -p \'{"spec":{"type":"LoadBalancer"}}\'',),
        (f"kubectl -n tron patch ingress tron-ingress --type=merge -p '{catch_all}'",),
        (f"kubectl -n tron patch ingress tron-ingress --type=json -p '{nameless}'",),
        ("kubectl -n tron create ingress tron-extra --class=traefik --rule='tron.localhost/*=nginx:80'",),
        (_patched(_path("/health", "Prefix")),),
        ("kubectl -n tron rollout restart deployment nginx",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron describe ingress tron-ingress", f"{params['path']} "),
        ("kubectl -n tron get ingress tron-ingress -o yaml", f"path: {params['path']}\n"),
        ("curl -s http://tron.localhost/health", "404 page not found"),
    )


SCENARIO = Scenario(
    type="networking",
    difficulty="medium",
    summary="Route the requests that users make to the application again, and no others.",
    draw=_draw,
    inject=_inject,
    score_after=0.4,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on Ingress path types",
)
