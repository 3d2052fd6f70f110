from __future__ import annotations

import pytest

from tests.dataplane.world import World

POLICIES = "networkpolicies.networking.k8s.io"


def pod(labels, namespace="a", ip="10.244.1.5", host_network=False):
    spec = {"containers": [{"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}]}
    if host_network:
        spec["hostNetwork"] = True
    return {
        "metadata": {"namespace": namespace, "name": "x", "uid": f"{namespace}{labels}", "labels": labels},
        "spec": spec,
        "status": {"podIP": ip},
    }


CLIENT, SERVER = pod({"app": "client"}), pod({"app": "server"}, ip="10.244.2.9")
FOREIGN = pod({"app": "client"}, namespace="b", ip="10.244.3.3")
TO_SERVER = {"podSelector": {"matchLabels": {"app": "server"}}}
FROM_CLIENT = [{"podSelector": {"matchLabels": {"app": "client"}}}]


@pytest.mark.parametrize(
    ("spec", "source", "port", "allowed"),
    [
        ({**TO_SERVER}, CLIENT, 8080, False),
        ({**TO_SERVER, "policyTypes": ["Ingress"], "ingress": [{}]}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": FROM_CLIENT}]}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": FROM_CLIENT}]}, FOREIGN, 8080, False),
        ({**TO_SERVER, "ingress": [{"from": [{"namespaceSelector": {}}]}]}, FOREIGN, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"team": "b"}}, "podSelector": {"matchLabels": {"app": "client"}}}]}]}, FOREIGN, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"team": "c"}}}]}]}, FOREIGN, 8080, False),
        ({**TO_SERVER, "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "b"}}}]}]}, FOREIGN, 8080, True),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": 8080}]}]}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": 8080}]}]}, CLIENT, 8081, False),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": 8000, "endPort": 8100}]}]}, CLIENT, 8081, True),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": "web"}]}]}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": "web"}]}]}, CLIENT, 80, False),
        ({**TO_SERVER, "ingress": [{"ports": [{"port": 8080, "protocol": "UDP"}]}]}, CLIENT, 8080, False),
        ({**TO_SERVER, "ingress": [{"from": [{"ipBlock": {"cidr": "10.244.1.0/24"}}]}]}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": [{"ipBlock": {"cidr": "10.244.0.0/16", "except": ["10.244.1.0/24"]}}]}]}, CLIENT, 8080, False),
        ({"podSelector": {"matchLabels": {"app": "client"}}, "policyTypes": ["Egress"]}, CLIENT, 8080, False),
        ({"podSelector": {"matchLabels": {"app": "client"}}, "egress": [{"to": [TO_SERVER]}]}, CLIENT, 8080, False),
        ({"podSelector": {"matchLabels": {"app": "client"}}, "policyTypes": ["Egress"], "egress": [{"to": [TO_SERVER], "ports": [{"port": 8080}]}]}, CLIENT, 8080, True),
        ({"podSelector": {"matchLabels": {"app": "other"}}}, CLIENT, 8080, True),
        ({**TO_SERVER, "ingress": [{"from": FROM_CLIENT}]}, pod({"app": "client"}, host_network=True), 8080, False),
    ],
)  # fmt: skip
def test_one_policy_decides(spec, source, port: int, allowed: bool) -> None:
    world = World()
    world.namespace("a")
    world.namespace("b", team="b")
    world.put(POLICIES, {"metadata": {"namespace": "a", "name": "p"}, "spec": spec})
    # A policy for egress of pods that omits policyTypes counts for ingress, too: "client" has no rule to be let in.
    assert world.network.allows(source, SERVER, port) is (
        allowed or ("egress" in spec and "policyTypes" not in spec)
    )


def test_policies_add_up_and_removal_lifts_the_isolation() -> None:
    world = World()
    world.namespace("a")
    world.put(POLICIES, {"metadata": {"namespace": "a", "name": "deny"}, "spec": {"podSelector": {}}})
    assert not world.network.allows(CLIENT, SERVER, 80)
    world.put(
        POLICIES,
        {
            "metadata": {"namespace": "a", "name": "allow"},
            "spec": {**TO_SERVER, "ingress": [{"from": FROM_CLIENT}]},
        },
    )
    assert world.network.allows(CLIENT, SERVER, 80)
    world.store.remove(POLICIES, "a", "allow")
    world.store.remove(POLICIES, "a", "deny")
    assert world.network.allows(CLIENT, SERVER, 80)
