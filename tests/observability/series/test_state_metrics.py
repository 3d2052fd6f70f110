"""Every kind of object that has series, and their values."""

import json
from functools import lru_cache
from urllib.parse import urlencode

import pytest

from env_core.apiserver.request import ADMIN
from env_core.cluster import Cluster
from env_core.observability.series._resources import ROWS
from env_core.tools.terminal import Terminal

POD = "{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: 'nginx:1.27', resources: {requests: {cpu: 100m, memory: 64Mi}}}]}}"
SELECTOR = "{matchLabels: {app: x}}"
MANIFESTS = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec: {{replicas: 2, selector: {SELECTOR}, template: {POD}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec: {{serviceName: db, selector: {SELECTOR}, template: {POD}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent}}
spec: {{selector: {SELECTOR}, template: {POD}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: once}}
spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: "busybox:1.36", command: [sh, -c, exit 0]}}]}}}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: often}}
spec: {{schedule: "*/5 * * * *", suspend: true, jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: "busybox:1.36"}}]}}}}}}}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web}}
spec: {{minReplicas: 2, maxReplicas: 7, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec: {{minAvailable: 1, selector: {SELECTOR}}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{type: NodePort, selector: {{app: x}}, ports: [{{port: 80}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web}}
spec: {{rules: [{{host: a.b, http: {{paths: [{{path: /x, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: slow, resources: {{requests: {{storage: 2Gi}}}}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: disk}}
spec: {{accessModes: [ReadWriteOnce], capacity: {{storage: 1Gi}}, hostPath: {{path: /x}}, storageClassName: other}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: quota}}
spec: {{hard: {{pods: "20"}}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: secret}}
"""


@lru_cache(maxsize=1)
def _world() -> Cluster:
    cluster = Cluster(seed=1)
    cluster.boot()
    for name in ("node-1", "node-2"):
        cluster.kubelets.join(name, cpu="4", memory="16Gi")
    cluster.advance(5_000)
    terminal = Terminal(cluster, ADMIN, namespace="default")
    output = terminal.run(f"kubectl apply -f - <<'STOP'\n{MANIFESTS}\nSTOP", lambda _argv: None, 60_000)
    assert output.exit_code == 0, output
    cluster.advance(90_000)
    return cluster


def values(expression):
    body = _world().network.telemetry("/api/v1/query", urlencode({"query": expression})).body
    return [float(row["value"][1]) for row in json.loads(body)["data"]["result"]]


@pytest.mark.parametrize("prefix", sorted(prefix for prefix, _ in ROWS.values()))
def test_every_kind_has_series(prefix):
    assert values(f'{{__name__=~"{prefix}.*"}}')


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('kube_deployment_status_replicas_available{deployment="web"}', [2]),
        ('kube_deployment_spec_strategy_rollingupdate_max_surge{deployment="web"}', [1]),
        ('kube_deployment_status_condition{condition="Available", status="true"}', [1]),
        ('count(kube_replicaset_owner{owner_kind="Deployment", owner_name="web"})', [1]),
        ("kube_statefulset_status_replicas_ready", [1]),
        ("kube_daemonset_status_number_ready", [2]),
        ('kube_job_status_succeeded{job_name="once"}', [1]),
        ('kube_job_complete{job_name="once", condition="true"}', [1]),
        ("kube_cronjob_spec_suspend", [1]),
        ("kube_horizontalpodautoscaler_spec_max_replicas", [7]),
        ("kube_horizontalpodautoscaler_status_current_replicas", [2]),
        ("kube_poddisruptionbudget_status_desired_healthy", [1]),
        ('kube_service_spec_type{service="web", type="NodePort"}', [1]),
        ('kube_ingress_path{host="a.b", path="/x", service_name="web", service_port="80"}', [1]),
        ('kube_persistentvolumeclaim_status_phase{phase="Pending"}', [1]),
        ("kube_persistentvolumeclaim_resource_requests_storage_bytes", [2 << 30]),
        ("kube_persistentvolume_capacity_bytes", [1 << 30]),
        ('kube_resourcequota{resource="pods", type="hard"}', [20]),
        ('kube_namespace_status_phase{namespace="default", phase="Active"}', [1]),
        ('sum(kube_node_status_capacity{resource="cpu", unit="core"})', [8]),
        ('sum(kube_node_status_condition{condition="Ready", status="true"})', [2]),
        ('sum(kube_pod_container_resource_requests{resource="cpu"})', [0.5]),
        ('sum(kube_pod_status_phase{phase="Running"})', [5]),
        ('kube_pod_container_status_terminated_reason{reason="Completed"}', [1]),
        ('count(container_memory_working_set_bytes{container="c", image="nginx:1.27"})', [5]),
        ('sum(node_memory_MemTotal_bytes)', [32 << 30]),
    ],
)  # fmt: skip
def test_what_they_say(expression, expected):
    assert values(expression) == expected
