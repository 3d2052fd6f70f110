"""What a hundred hours without any change cost: a row of growth, as nothing that stays the same may be stepped through."""

from __future__ import annotations

from time import process_time

from env_core.cluster import Cluster
from tests.bench import crowds
from tests.bench.measuring import Profile, collected, rounded
from tests.bench.report import Row

HOURS = 100
_NODES = 50
_HOUR_MS = 3_600_000
_PROBED = 40
"""Pods whose kubelets probe them for readiness and liveness."""


def rows(profile: Profile, *, is_quick: bool) -> list[Row]:
    """Let a settled cluster of 50 nodes and 1,000 pods be, for a hundred virtual hours."""
    cluster = settled(100 if is_quick else 1_000)
    handled = cluster.loop.handled
    with collected(), profile.of("8d"):
        begun = process_time()
        cluster.advance(HOURS * _HOUR_MS)
        took_s = process_time() - begun
    return [
        Row(
            id="8d",
            what=f"{HOURS} idle virtual hours of {_NODES} nodes and 1,000 pods",
            unit="ms of CPU",
            budget=1_000.0,
            measured=rounded(max(took_s * 1_000, 0.001)),
            details={"events handled": cluster.loop.handled - handled},
        )
    ]


def settled(pods: int) -> Cluster:
    """Return a cluster of 50 nodes in which `pods` pods run, some of them probed, and nothing is on its way."""
    cluster = crowds.crowd(pods - _PROBED).fork()
    for number in range(_NODES - len(cluster.store.list("nodes"))):
        cluster.kubelets.join(f"idle-{number:03}", cpu="8", memory="32Gi")
    container = {
        "name": "web",
        "image": "hashicorp/http-echo:1.0",
        "args": ["-text=ok"],
        "readinessProbe": {"httpGet": {"path": "/", "port": 5678}, "periodSeconds": 5},
        "livenessProbe": {"tcpSocket": {"port": 5678}, "periodSeconds": 5},
    }
    labels = {"app": "probed"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "probed", "namespace": crowds.NAMESPACE},
        "spec": {
            "replicas": _PROBED,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    cluster.client().create("deployments.apps", crowds.NAMESPACE, deployment)
    cluster.settle(10_000, 600_000)
    cluster.advance(600_000)
    return cluster
