"""A cluster in which cert-manager runs, and what tests say to it."""

from __future__ import annotations

import base64
from typing import Any

from env_core.cluster import Cluster

GROUP = "cert-manager.io"
CERTIFICATES, REQUESTS = f"certificates.{GROUP}", f"certificaterequests.{GROUP}"
ISSUERS, CLUSTER_ISSUERS = f"issuers.{GROUP}", f"clusterissuers.{GROUP}"
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
KINDS = {
    "Certificate": ("certificates", "Namespaced"),
    "CertificateRequest": ("certificaterequests", "Namespaced"),
    "Issuer": ("issuers", "Namespaced"),
    "ClusterIssuer": ("clusterissuers", "Cluster"),
}


def definition(kind: str) -> dict[str, Any]:
    plural, scope = KINDS[kind]
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}
                    },
                }
            ],
        },
    }


def build(kinds: tuple[str, ...] = tuple(KINDS), *, may: bool = True) -> Cluster:
    cluster = Cluster(seed=3)
    cluster.boot()
    cluster.kubelets.join("node-1", cpu="4", memory="8Gi")
    api = cluster.client()
    for kind in kinds:
        api.create("customresourcedefinitions.apiextensions.k8s.io", "", definition(kind))
    api.create(
        "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cert-manager"}}
    )
    cluster.advance(3_000)
    api.create(
        "serviceaccounts",
        "cert-manager",
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "cert-manager"}},
    )
    if may:
        api.create(
            "clusterrolebindings.rbac.authorization.k8s.io",
            "",
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": "cert-manager"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "cluster-admin",
                },
                "subjects": [{"kind": "ServiceAccount", "name": "cert-manager", "namespace": "cert-manager"}],
            },
        )
    labels = {"app": "cert-manager"}
    api.create(
        "deployments.apps",
        "cert-manager",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "cert-manager"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "serviceAccountName": "cert-manager",
                        "containers": [{"name": "controller", "image": "registry.k8s.io/pause:3.10"}],
                    },
                },
            },
        },
    )
    cluster.advance(30_000)
    return cluster


def make(cluster: Cluster, kind: str, name: str, spec: dict[str, Any], namespace: str = "default") -> None:
    body = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    plural, scope = KINDS[kind]
    cluster.client().create(f"{plural}.{GROUP}", namespace if scope == "Namespaced" else "", body)
    cluster.advance(2_000)


def issuer(cluster: Cluster, name: str = "own") -> None:
    make(cluster, "Issuer", name, {"selfSigned": {}})


def wish(secret: str = "web-tls", issuer: str = "own", **spec: Any) -> dict[str, Any]:
    return {"secretName": secret, "issuerRef": {"name": issuer}, "dnsNames": ["web.example.com"], **spec}


def get(cluster: Cluster, resource: str, name: str, namespace: str = "default") -> dict[str, Any]:
    return cluster.client().get(resource, namespace, name)


def row(obj: dict[str, Any], kind: str) -> tuple[str, str, str] | None:
    found = [each for each in (obj.get("status") or {}).get("conditions") or () if each["type"] == kind]
    return (found[0]["status"], found[0]["reason"], found[0]["message"]) if found else None


def text(secret: dict[str, Any], key: str) -> str:
    return base64.b64decode(secret["data"][key]).decode()


def told(cluster: Cluster, name: str) -> list[tuple[str, str, str]]:
    return [
        (each["source"]["component"], each["reason"], each["message"])
        for each in cluster.store.list("events", "default")
        if each["involvedObject"]["name"] == name
    ]
