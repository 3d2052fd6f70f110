"""Traefik tells Ingresses their address if it is told one itself, and may."""

import json

import pytest

from env_core.scenarios.apps import base

INGRESSES = "ingresses.networking.k8s.io"
PREFIX = "--providers.kubernetesingress.ingressendpoint."
RULES = [{"apiGroups": ["networking.k8s.io"], "resources": ["ingresses/status"], "verbs": ["update"]}]


def _cluster(*arguments, may=True):
    cluster = base("shop", 0).cluster.fork()
    api = cluster.client()
    if may:
        api.create(
            "clusterroles.rbac.authorization.k8s.io", "", {"metadata": {"name": "edge"}, "rules": RULES}
        )
        subject = {"kind": "ServiceAccount", "namespace": "kube-system", "name": "default"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edge"}
        binding = {"metadata": {"name": "edge"}, "subjects": [subject], "roleRef": role}
        api.create("clusterrolebindings.rbac.authorization.k8s.io", "", binding)
    found = api.get("deployments.apps", "kube-system", "traefik")
    found = json.loads(json.dumps(found))
    found["spec"]["template"]["spec"]["containers"][0]["args"] += arguments
    api.update("deployments.apps", "kube-system", found)
    cluster.advance(120_000)
    return cluster


def _address(cluster):
    (ingress,) = cluster.store.list(INGRESSES)
    return ingress["status"]["loadBalancer"].get("ingress")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), None),
        ((f"{PREFIX}ip=192.0.2.7",), [{"ip": "192.0.2.7"}]),
        ((f"{PREFIX}ip=192.0.2.7", f"{PREFIX}hostname=edge.example.com"), [{"ip": "192.0.2.7", "hostname": "edge.example.com"}]),
        ((f"{PREFIX}publishedservice=kube-system/traefik",), None),
        ((f"{PREFIX}publishedservice=kube-system/none",), None),
        ((f"{PREFIX}publishedservice=",), None),
    ],
)  # fmt: skip
def test_ingresses_have_the_address_that_traefik_is_told(arguments, wanted):
    assert _address(_cluster(*arguments)) == wanted


def test_a_published_service_passes_its_addresses_on():
    cluster = _cluster(f"{PREFIX}publishedService=kube-system/traefik")
    service = cluster.client().get("services", "kube-system", "traefik")
    service = {**service, "status": {"loadBalancer": {"ingress": [{"ip": "198.51.100.4", "ipMode": "VIP"}]}}}
    cluster.client().update_status("services", "kube-system", service)
    cluster.advance(1_000)
    assert _address(cluster) == [{"ip": "198.51.100.4"}]


def test_without_the_right_to_write_it_ingresses_keep_no_address():
    assert _address(_cluster(f"{PREFIX}ip=192.0.2.7", may=False)) is None
