"""A cluster in which an admission webhook runs behind a Service, as administrators set it up."""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from env_core.cluster import Cluster
from env_core.objects.x509 import Certificate, certificates

CERTIFICATES = Path(__file__).parent / "certificates"
NAMESPACE = "hooks"
HOST = "guard.hooks.svc"


def pem(name: str) -> str:
    """Return one of the stored certificates, made by OpenSSL for these tests."""
    return (CERTIFICATES / f"{name}.crt").read_text()


def read(name: str) -> tuple[Certificate, ...]:
    """Return a stored certificate as clients read it."""
    return certificates(pem(name))


@lru_cache(maxsize=1)
def _booted() -> Cluster:
    cluster = Cluster(seed=1)
    cluster.boot()
    cluster.kubelets.join("node-1", cpu="4", memory="16Gi")
    for name in (NAMESPACE, "shop"):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        cluster.client().create("namespaces", "", namespace)
    cluster.advance(5_000)
    return cluster


def booted() -> Cluster:
    """Return a fork of a cluster with one node and two namespaces."""
    return _booted().fork()


def with_server(
    cluster: Cluster, *args: str, name: str = "guard", certificate: str = "good", **container: Any
) -> Cluster:
    """Let a webhook server run behind the Service `name`, port 443; returns the cluster when it is ready."""
    api = cluster.client()
    encoded = base64.b64encode(pem(certificate).encode()).decode()
    key = base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n").decode()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{name}-tls"},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": encoded, "tls.key": key},
    }
    api.create("secrets", NAMESPACE, secret)
    labels = {"app": name}
    served = {
        "name": name,
        "image": "kubedrill/admission-webhook:1.0",
        "args": list(args),
        "ports": [{"containerPort": 8443}],
        "volumeMounts": [{"name": "tls", "mountPath": "/etc/webhook/certs"}],
        **container,
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "containers": [served],
            "volumes": [{"name": "tls", "secret": {"secretName": f"{name}-tls"}}],
        },
    }
    api.create("pods", NAMESPACE, pod)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
    }
    api.create("services", NAMESPACE, service)
    cluster.advance(20_000)
    return cluster


def webhook(
    name: str = "guard.example.com", path: str = "/validate", service: str = "guard", **fields: Any
) -> dict[str, Any]:
    """Return a webhook that the server above answers, asked when configmaps of the namespace `shop` are written."""
    target = {"namespace": NAMESPACE, "name": service, "path": path}
    bundle = base64.b64encode(pem("ca").encode()).decode()
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["configmaps"],
    }
    return {
        "name": name,
        "clientConfig": {"service": target, "caBundle": bundle},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 2,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}},
        **fields,
    }


def configure(cluster: Cluster, kind: str, *webhooks: dict[str, Any], name: str = "guard") -> None:
    """Create a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration."""
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(webhooks),
    }
    cluster.client().create(f"{kind.lower()}webhookconfigurations", "", configuration)


def configmap(name: str = "settings", **data: str) -> dict[str, Any]:
    """Return a ConfigMap of the namespace `shop`."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop"},
        "data": data,
    }


def patch(*operations: tuple[str, str, Any]) -> str:
    """Return the `--patch` argument of a JSON patch."""
    rows = [{"op": op, "path": path, "value": value} for op, path, value in operations]
    return f"--patch={json.dumps(rows)}"
