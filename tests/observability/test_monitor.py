"""What a cluster's monitoring answers: series of objects, runs and requests, alerts, and Prometheus's API."""

import json
from functools import lru_cache
from urllib.parse import urlencode

from env_core.apiserver.request import ADMIN
from env_core.cluster import Cluster
from env_core.suites.tron import world as tron_world
from env_core.tools.terminal import Terminal

MANIFESTS = """
apiVersion: v1
kind: Namespace
metadata: {name: monitoring}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: prometheus, namespace: monitoring}
spec:
  selector: {matchLabels: {app: prometheus}}
  template:
    metadata: {labels: {app: prometheus}}
    spec:
      containers: [{name: prometheus, image: "prom/prometheus:v3.16.0", ports: [{containerPort: 9090}]}]
---
apiVersion: v1
kind: Service
metadata: {name: prometheus, namespace: monitoring}
spec: {selector: {app: prometheus}, ports: [{port: 9090}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad, namespace: default}
spec:
  selector: {matchLabels: {app: bad}}
  template:
    metadata: {labels: {app: bad}}
    spec:
      containers: [{name: bad, image: "busybox:1.36", command: [sh, -c, "exit 1"]}]
"""


def run(cluster, line):
    output = Terminal(cluster, ADMIN, namespace="tron").run(line, lambda _argv: None, 120_000)
    assert output.exit_code == 0, output
    return output.stdout


@lru_cache(maxsize=1)
def _watched():
    cluster = tron_world.healthy(0).fork()
    run(cluster, f"kubectl apply -f - <<'STOP'\n{MANIFESTS}\nSTOP")
    cluster.advance(60_000)
    return cluster


def watched() -> Cluster:
    return _watched().fork()


def ask(cluster, path, **form):
    return json.loads(cluster.network.telemetry(f"/api/v1/{path}", urlencode(form)).body)["data"]


def query(cluster, expression):
    rows = ask(cluster, "query", query=expression)["result"]
    return {
        tuple(text for name, text in sorted(row["metric"].items()) if name != "__name__"): row["value"][1]
        for row in rows
    }


def test_the_past_of_an_object_is_read_off_the_log():
    cluster = watched()
    cluster.advance(20_000 - cluster.now_ms % 15_000)
    run(cluster, "kubectl scale deployment redis --replicas=2")
    cluster.advance(30_000)
    expression = 'kube_deployment_spec_replicas{deployment="redis"}'
    values = ask(cluster, "query", query=f"{expression}[1m]")["result"][0]["values"]
    assert [value for _, value in values] == ["1", "1", "2", "2"]
    assert [at % 15 for at, _ in values] == [0] * 4
    assert list(query(cluster, f"changes({expression}[2m])").values()) == ["1"]


def test_what_is_deleted_goes_stale_at_the_next_scrape():
    cluster = watched()
    expression = 'count(kube_pod_info{namespace="tron", pod=~"redis.*"})'
    assert list(query(cluster, expression).values()) == ["1"]
    run(cluster, "kubectl delete deployment redis --now")
    cluster.advance(30_000)
    assert query(cluster, expression) == {}


def test_crashing_containers_count_restarts_and_raise_an_alert():
    cluster = watched()
    restarts = 'kube_pod_container_status_restarts_total{container="bad"}'
    first = float(*query(cluster, restarts).values())
    assert first >= 2
    assert query(cluster, 'ALERTS{alertname="KubePodCrashLooping", alertstate="firing"}') == {}
    cluster.advance(20 * 60_000)
    assert float(*query(cluster, restarts).values()) > first
    firing = query(cluster, 'count by (alertname) (ALERTS{alertstate="firing"})')
    assert firing == {("KubeDeploymentReplicasMismatch",): "1", ("KubePodCrashLooping",): "1"}
    alerts = ask(cluster, "alerts")["alerts"]
    assert {alert["state"] for alert in alerts} == {"firing"}
    assert {alert["labels"]["alertname"] for alert in alerts} == {name for (name,) in firing}
    groups = ask(cluster, "rules", type="alert")["groups"]
    states = {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}
    assert (states["KubePodCrashLooping"], states["InstanceDown"]) == ("firing", "inactive")


def test_requests_are_counted_by_code():
    cluster = watched()
    expression = 'sum by (code) (http_requests_total{container="nginx", namespace="tron"})'
    before = query(cluster, expression)
    run(cluster, "for i in 1 2 3 4 5 6 7; do curl -s -o /dev/null http://nginx.tron:80/nowhere; done")
    cluster.advance(45_000)
    after = query(cluster, expression)
    assert sum(map(float, after.values())) - sum(map(float, before.values())) >= 7
    assert after.keys() >= before.keys()


def test_counters_of_containers_and_nodes_never_fall():
    cluster = watched()
    for name in ("container_cpu_usage_seconds_total", "node_cpu_seconds_total", "http_requests_total"):
        assert set(query(cluster, f"resets({name}[10m])").values()) == {"0"}
    idle = query(cluster, 'avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m]))')
    assert all(0.9 < float(value) < 1 for value in idle.values())


def test_rules_of_ones_own_take_the_place_of_the_default_ones():
    cluster = watched()
    rules = "groups: [{name: own, rules: [{record: 'pods:count', expr: count(kube_pod_info)}]}]"
    run(cluster, f'kubectl create configmap prometheus-rules -n monitoring --from-literal=a.yaml="{rules}"')
    cluster.advance(60_000)
    assert query(cluster, "pods:count") == query(cluster, "count(kube_pod_info)")
    assert [group["name"] for group in ask(cluster, "rules")["groups"]] == ["own"]
    run(cluster, "kubectl delete configmap prometheus-rules -n monitoring")
    assert query(cluster, "pods:count") == {}


def test_prometheus_answers_in_the_cluster():
    cluster = watched()
    address = "http://prometheus.monitoring:9090"
    body = run(cluster, f"curl -s '{address}/api/v1/query?query=sum(up)'")
    shown = json.loads(body)
    assert shown["status"] == "success"
    assert shown["data"]["resultType"] == "vector"
    assert run(cluster, f"curl -s {address}/-/ready") == "Prometheus Server is Ready.\n"
    body = run(cluster, f"curl -s {address}/api/v1/query --data-urlencode 'query=sum('")
    assert json.loads(body)["errorType"] == "bad_data"
    targets = json.loads(run(cluster, f"curl -s {address}/api/v1/targets"))["data"]["activeTargets"]
    assert {target["health"] for target in targets} == {"up"}
    text = run(cluster, f"curl -s -g '{address}/federate?match[]=kube_node_info'")
    assert text.startswith("# TYPE kube_node_info untyped\nkube_node_info{")


def test_promql_prints_as_promtool_does():
    cluster = watched()
    at = cluster.now_ms / 1000
    assert run(cluster, "promql 'sum(up{job=\"kubelet\"})'") == f"{{}} => 3 @[{at:.3f}]\n".replace(
        ".000]", "]"
    )
    assert run(cluster, "promql --time 1767603600 1+1") == "scalar: 2 @[1767603600]\n"
    assert run(cluster, "promql 'up == 2'") == "\n"
    failed = Terminal(cluster, ADMIN, namespace="tron").run("promql 'sum(('", lambda _argv: None, 1_000)
    assert failed.exit_code == 1
    problem = 'invalid parameter "query": 1:6: parse error: unclosed left parenthesis'
    assert failed.stderr == f"query error: bad_data: {problem}\n"


def test_promtool_checks_rules_and_metrics():
    cluster = watched()
    rules = "groups: [{name: a, rules: [{record: b, expr: up}]}]"
    line = f"echo '{rules}' > rules.yml; promtool check rules rules.yml"
    assert run(cluster, line) == "Checking rules.yml\n  SUCCESS: 1 rules found\n\n"
    shell = Terminal(cluster, ADMIN, namespace="tron")
    output = shell.run("echo 'g_ms 1' | promtool check metrics", lambda _argv: None, 1_000)
    assert output.exit_code == 3
    problems = ["g_ms metric names should not contain abbreviated units", "g_ms no help text"]
    assert output.stderr.splitlines() == problems
    output = shell.run("promtool check rules nowhere.yml", lambda _argv: None, 1_000)
    assert (output.exit_code, output.stdout) == (1, "Checking nowhere.yml\n")


def test_asking_changes_nothing():
    cluster = watched()
    before = cluster.digest(), cluster.store.revision, cluster.now_ms
    query(cluster, "ALERTS")
    query(cluster, '{__name__=~".+"}')
    assert (cluster.digest(), cluster.store.revision, cluster.now_ms) == before


def test_a_fork_has_its_own_past():
    one = watched()
    other = one.fork()
    run(other, "kubectl scale deployment redis --replicas=3")
    for cluster in (one, other):
        cluster.advance(30_000)
    expression = 'kube_deployment_spec_replicas{deployment="redis"}'
    assert list(query(one, expression).values()) == ["1"]
    assert list(query(other, expression).values()) == ["3"]
