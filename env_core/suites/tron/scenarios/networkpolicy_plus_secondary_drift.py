"""Two independent causes at once: an egress policy cuts the web tier off, and something behind it drifted too."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario, Script, drawn_wait, visited
from env_core.suites.tron.scenarios.bad_rollout_wrong_redis_host import roll_out_host
from env_core.suites.tron.scenarios.service_selector_mismatch import break_selector
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.network import closed_to_strangers, reachable
from env_core.verify.checks.services import answers, host_names_service, service_reaches
from env_core.verify.checks.workloads import deployment_serves, environment_follows_config

POLICIES = ("block-redis-egress", "deny-nginx-egress")
ANNOTATIONS = ("review-window-a", "review-window-b", "audit-followup")
DRIFTS = ("host", "selector")
WAITS_MS = (60000, 180000, 300000)
_SHADOW = "redis-shadow"
_NOTE = "ops.example.com/change"


def _draw(stream: Stream) -> Params:
    return {
        "policy": stream.choice(POLICIES),
        "drift": stream.choice(DRIFTS),
        "annotation": stream.choice(ANNOTATIONS),
        "wait_ms": drawn_wait(stream, WAITS_MS),
    }


def _inject(cluster: Cluster, params: Params) -> None:
    colleague = cluster.client(COLLEAGUE)
    note = {"metadata": {"annotations": {_NOTE: params["annotation"]}}}
    colleague.patch("ingresses", NAMESPACE, "tron-ingress", note)
    cluster.advance(20_000)
    if params["drift"] == "host":
        roll_out_host(cluster, _SHADOW)
        cluster.advance(40_000)
    else:
        break_selector(cluster, _SHADOW)
        cluster.advance(30_000)
    deny_egress(cluster, params["policy"])
    cluster.advance(int(params["wait_ms"]))
    visited(cluster)


def deny_egress(cluster: Cluster, name: str) -> None:
    """Add a policy that lets the web tier open no connection at all."""
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"podSelector": {"matchLabels": {"app": "nginx"}}, "policyTypes": ["Egress"]},
    }
    cluster.client(DELIVERY).create("networkpolicies", NAMESPACE, policy)


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        reachable(NAMESPACE, "nginx", "redis", 6379),
        closed_to_strangers(NAMESPACE, "redis", 6379, "nginx"),
        service_reaches(NAMESPACE, "redis", "redis"),
        host_names_service(NAMESPACE, "nginx", "app-config", "REDIS_HOST", "redis"),
        environment_follows_config(NAMESPACE, "nginx", "redis-bridge", "REDIS_HOST", "app-config"),
        deployment_serves(NAMESPACE, "nginx"),
        answers("tron.localhost", "/data"),
        answers("tron.localhost", "/health"),
    )


def _allowance(params: Params) -> Allowance:
    changes = {("services", "redis", "selector"), ("configmaps", "app-config", "data.REDIS_HOST")}
    policies = "networkpolicies.networking.k8s.io"
    changes.add((policies, params["policy"], "spec"))
    note = ("ingresses.networking.k8s.io", "tron-ingress", _NOTE, params["annotation"])
    return Allowance(changes=frozenset(changes), additions=frozenset({policies}), notes=frozenset({note}))


def _drift_repair(params: Params) -> Script:
    if params["drift"] == "selector":
        return ("kubectl -n tron set selector service redis app=redis",)
    good = '{"data":{"REDIS_HOST":"redis"}}'
    return (
        f"kubectl -n tron patch configmap app-config -p '{good}'",
        "kubectl -n tron rollout restart deployment nginx",
    )


def _repairs(params: Params) -> tuple[Script, ...]:
    name = params["policy"]
    to_redis = (
        '{"to":[{"podSelector":{"matchLabels":{"app":"redis"}}}],"ports":[{"protocol":"TCP","port":6379}]}'
    )
    to_dns = '{"to":[{"namespaceSelector":{}}],"ports":[{"protocol":"UDP","port":53},{"protocol":"TCP","port":53}]}'
    opened = f'{{"spec":{{"egress":[{to_redis},{to_dns}]}}}}'
    return (
        (f"kubectl -n tron delete networkpolicy {name}", *_drift_repair(params)),
        (f"kubectl -n tron patch networkpolicy {name} --type=merge -p '{opened}'", *_drift_repair(params)),
        (*_drift_repair(params), f"kubectl -n tron delete networkpolicy {name}"),
    )


def _decoys(params: Params) -> tuple[Script, ...]:
    name = params["policy"]
    everyone = '{"podSelector":{},"policyTypes":["Ingress","Egress"],"ingress":[{}],"egress":[{}]}'
    wide = f'[{{"op":"replace","path":"/spec","value":{everyone}}}]'
    return (
        (f"kubectl -n tron delete networkpolicy {name}",),
        _drift_repair(params),
        (
            "kubectl -n tron rollout restart deployment nginx",
            "kubectl -n tron rollout restart deployment redis",
        ),
        (
            f"kubectl -n tron delete networkpolicy {name} allow-nginx-to-redis",
            *_drift_repair(params),
        ),
        (f"kubectl -n tron patch networkpolicy {name} --type=json -p '{wide}'", *_drift_repair(params)),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    drift = (
        ("kubectl -n tron get configmap app-config -o yaml", _SHADOW)
        if params["drift"] == "host"
        else ("kubectl -n tron get service redis -o wide", f"app={_SHADOW}")
    )
    return (
        ("kubectl -n tron get networkpolicy", params["policy"]),
        (f"kubectl -n tron describe networkpolicy {params['policy']}", "egress traffic"),
        drift,
    )


SCENARIO = Scenario(
    type="compound",
    difficulty="hard",
    summary="Repair an outage that has two independent causes, one in policy and one in routing or configuration.",
    draw=_draw,
    inject=_inject,
    score_after=0.7,
    goals=_goals,
    allowance=_allowance,
    repairs=_repairs,
    decoys=_decoys,
    evidence=_evidence,
    source="seed document 001, scenario catalogue; docs on network policies",
)
