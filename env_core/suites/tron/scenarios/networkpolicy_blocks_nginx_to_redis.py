"""An egress policy lets the web tier open no connection at all, not even to its cache."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.sim.rng import Stream
from env_core.suites.tron._scenario import HOST, NAMESPACE, Params, Scenario, Script
from env_core.suites.tron.scenarios.networkpolicy_plus_secondary_drift import POLICIES, deny_egress
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance
from env_core.verify.checks.network import closed_to_strangers, reachable
from env_core.verify.checks.services import answers, host_names_service
from env_core.verify.checks.workloads import deployment_serves

WAITS_MS = ("60000", "180000", "300000")
_RESOURCE = "networkpolicies.networking.k8s.io"
_TO_CACHE = (
    '{"to":[{"podSelector":{"matchLabels":{"app":"redis"}}}],"ports":[{"protocol":"TCP","port":6379}]}'
)
_TO_NAMES = (
    '{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}],'
    '"ports":[{"protocol":"UDP","port":53},{"protocol":"TCP","port":53}]}'
)


def _draw(stream: Stream) -> Params:
    return {"policy": stream.choice(POLICIES), "wait_ms": stream.choice(WAITS_MS)}


def _inject(cluster: Cluster, params: Params) -> None:
    deny_egress(cluster, params["policy"])
    cluster.advance(int(params["wait_ms"]))


def _goals(_params: Params) -> tuple[Check, ...]:
    return (
        reachable(NAMESPACE, "nginx", "redis", 6379),
        closed_to_strangers(NAMESPACE, "redis", 6379, "nginx"),
        host_names_service(NAMESPACE, "nginx", "app-config", "REDIS_HOST", "redis"),
        deployment_serves(NAMESPACE, "nginx"),
        answers(HOST, "/data"),
        answers(HOST, "/health"),
    )


def _allowance(params: Params) -> Allowance:
    return Allowance(
        changes=frozenset({(_RESOURCE, params["policy"], "spec")}), additions=frozenset({_RESOURCE})
    )


def _added_policy() -> str:
    return (
        '{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"nginx-to-redis"},'
        '"spec":{"podSelector":{"matchLabels":{"app":"nginx"}},"policyTypes":["Egress"],'
        f'"egress":[{_TO_CACHE},{_TO_NAMES}]}}}}'
    )


def _repairs(params: Params) -> tuple[Script, ...]:
    name = params["policy"]
    opened = f'{{"spec":{{"egress":[{_TO_CACHE},{_TO_NAMES}]}}}}'
    return (
        (f"kubectl -n tron delete networkpolicy {name}",),
        (f"kubectl -n tron patch networkpolicy {name} --type=merge -p '{opened}'",),
        (f"kubectl -n tron apply -f - <<'EOF'\n{_added_policy()}\nEOF",),
    )


def _decoys(params: Params) -> tuple[Script, ...]:
    name = params["policy"]
    everyone = '{"podSelector":{},"policyTypes":["Ingress","Egress"],"ingress":[{}],"egress":[{}]}'
    wide = f'[{{"op":"replace","path":"/spec","value":{everyone}}}]'
    nameless = f'{{"spec":{{"egress":[{_TO_CACHE}]}}}}'
    return (
        ("kubectl -n tron delete networkpolicy allow-nginx-to-redis",),
        (f"kubectl -n tron patch networkpolicy {name} --type=json -p '{wide}'",),
        (
            "kubectl -n tron rollout restart deployment nginx",
            "kubectl -n tron rollout restart deployment redis",
        ),
        (f"kubectl -n tron patch networkpolicy {name} --type=merge -p '{nameless}'",),
        ("kubectl -n tron delete networkpolicy --all",),
    )


def _evidence(params: Params) -> tuple[tuple[str, str], ...]:
    return (
        ("kubectl -n tron get networkpolicy", params["policy"]),
        (f"kubectl -n tron describe networkpolicy {params['policy']}", "egress traffic"),
    )


SCENARIO = Scenario(
    type="networking",
    difficulty="medium",
    summary="Let the web tier reach its cache again without opening anything else.",
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
