"""The unmodified kubectl works against a running episode. Verbs are grouped: an episode has a budget of changes."""

from __future__ import annotations

import json
import subprocess
import time

import httpx

from tests.server.children import free_port
from tests.server.kubernetes.conftest import BINARY, Kubectl

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: "nginx:1.27"}]
"""


def pod(kubectl, app="redis"):
    return kubectl(f"-n tron get pods -l app={app} -o name").strip().removeprefix("pod/")


def test_reads(kubectl):
    assert "default           Active" in kubectl("get ns")
    assert "nginx-" in kubectl("-n tron get all")
    wide = kubectl("-n tron get pods -o wide").splitlines()
    assert wide[0].split() == [
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "AGE",
        "IP",
        "NODE",
        "NOMINATED",
        "NODE",
        "READINESS",
        "GATES",
    ]
    assert json.loads(kubectl("-n tron get deploy nginx -o json"))["kind"] == "Deployment"
    assert kubectl("-n tron get svc -o name").split() == ["service/nginx", "service/redis"]
    assert "Selector:" in kubectl("-n tron describe svc nginx")
    assert "Containers:" in kubectl("-n tron describe pods -l app=nginx")
    assert kubectl("get pods -A --chunk-size=2").count("Running") >= 5
    assert "LAST SEEN" in kubectl("events -n tron")
    assert "REASON" in kubectl("-n tron get events --sort-by=.lastTimestamp")
    assert "REASON" in kubectl("get events.events.k8s.io -n tron")
    assert "GET /health" in kubectl("-n tron logs deploy/nginx -c nginx --tail=5")
    assert "deploy" in kubectl("api-resources")
    assert "apps/v1" in kubectl("api-versions")
    assert "DeploymentStrategy" in kubectl("explain deploy.spec.strategy")
    assert "CPU(cores)" in kubectl("top pods -n tron")
    assert "node-a" in kubectl("top nodes")
    assert kubectl("auth can-i delete pods -n tron") == "yes\n"
    assert "pods/exec" in kubectl("auth can-i --list -n tron")
    assert "sre" in kubectl("auth whoami")
    assert "Server Version: v1.37.2" in kubectl("version")
    assert kubectl("get --raw /healthz") == "ok"
    assert "REVISION" in kubectl("-n tron rollout history deploy/nginx")


def test_is_told_no_in_the_servers_words(kubectl):
    for line, said in (
        ("-n tron get pods nope", 'Error from server (NotFound): pods "nope" not found\n'),
        ("get squids", 'error: the server doesn\'t have a resource type "squids"\n'),
        (
            "create clusterrole x --verb=get --resource=pods",
            'Error from server (Forbidden): clusterroles.rbac.authorization.k8s.io is forbidden: User "sre" cannot create '
            'resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope\n',
        ),
        (
            "-n tron get pods --as bob",
            'Error from server (Forbidden): pods is forbidden: User "sre" cannot impersonate-on:user-info:list resource "pods" '
            'in API group "" in the namespace "tron"\n',
        ),
    ):
        done = kubectl.run(line)
        assert (done.returncode, done.stderr) == (1, said)


def test_applies_and_rolls_out(kubectl):
    (kubectl.home / "web.yaml").write_text(DEPLOYMENT)
    assert kubectl("apply -f web.yaml") == "deployment.apps/web created\n"
    assert "successfully rolled out" in kubectl("rollout status deploy/web --timeout=60s")
    assert kubectl("apply -f web.yaml") == "deployment.apps/web unchanged\n"
    assert kubectl("scale deploy/web --replicas=2") == "deployment.apps/web scaled\n"
    diff = kubectl.run("diff -f web.yaml")
    assert diff.returncode == 1
    assert "-  replicas: 2" in diff.stdout
    assert kubectl("set image deploy/web c=nginx:1.28") == "deployment.apps/web image updated\n"
    assert (
        kubectl("wait --for=condition=available deploy/web --timeout=60s")
        == "deployment.apps/web condition met\n"
    )
    assert kubectl("rollout undo deploy/web") == "deployment.apps/web rolled back\n"
    assert (
        kubectl("delete deploy web --timeout=60s") == 'deployment.apps "web" deleted from default namespace\n'
    )


def test_changes_small_things(kubectl):
    assert kubectl("create configmap a --from-literal=x=y") == "configmap/a created\n"
    assert (
        kubectl(["patch", "cm", "a", "--type=merge", "-p", '{"data":{"z":"1"}}']) == "configmap/a patched\n"
    )
    assert (
        kubectl(["patch", "cm", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/x"}]'])
        == "configmap/a patched\n"
    )
    assert kubectl("label cm a k=v") == "configmap/a labeled\n"
    assert kubectl("annotate cm a k=v") == "configmap/a annotated\n"
    assert kubectl("edit cm a", EDITOR="sed -i s/z:/q:/") == "configmap/a edited\n"
    assert json.loads(kubectl("get cm a -o json"))["data"] == {"q": "1"}
    assert kubectl("cordon node-c") == "node/node-c cordoned\n"
    assert kubectl("taint node node-c a=b:NoSchedule") == "node/node-c tainted\n"
    assert kubectl("create deployment d --image=nginx:1.27") == "deployment.apps/d created\n"
    assert kubectl("expose deploy d --port=80") == "service/d exposed\n"
    assert "autoscaled" in kubectl("autoscale deploy d --max=3")


def test_runs_commands_in_containers(kubectl):
    name = pod(kubectl)
    assert kubectl(f"-n tron exec {name} -- redis-cli ping") == "PONG\n"
    done = kubectl.run(["-n", "tron", "exec", name, "--", "sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == "err\ncommand terminated with exit code 3\n"
    assert kubectl(f"-n tron exec -i {name} -- cat", stdin="to it\n") == "to it\n"
    assert kubectl(f"-n tron exec -i {name} -- sh", stdin="cd /tmp\npwd\nexit\n").endswith("/tmp\n")
    missing = kubectl.run("-n tron exec nope -- ls")
    assert missing.stderr == 'Error from server (NotFound): pods "nope" not found\n'


def test_copies_files_both_ways(kubectl):
    name = pod(kubectl)
    data = bytes(range(256)) * 5
    (kubectl.home / "there").write_bytes(data)
    kubectl(f"-n tron cp there {name}:/tmp/there")
    kubectl(f"-n tron cp {name}:/tmp/there back")
    assert (kubectl.home / "back").read_bytes() == data


def test_watches_what_happens(kubectl):
    name = pod(kubectl)
    watching = subprocess.Popen(
        [str(BINARY), "-n", "tron", "get", "pods", "-w"],
        env=kubectl.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(1)
        assert kubectl(f"-n tron delete pod {name}") == f'pod "{name}" deleted from tron namespace\n'
        time.sleep(2)
    finally:
        watching.terminate()
    said = watching.communicate()[0]
    states = [line.split()[2] for line in said.splitlines() if line.startswith(name)]
    assert states[0] == "Running"
    assert "Terminating" in states
    assert "ContainerCreating" in said


def test_follows_logs(kubectl):
    following = subprocess.Popen(
        [str(BINARY), "-n", "tron", "logs", "-f", "deploy/nginx", "-c", "nginx", "--tail=1"],
        env=kubectl.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(1)
    for path in ("/one", "/two"):
        kubectl.run(f"-n tron exec deploy/nginx -c nginx -- wget -qO- http://localhost:8080{path}")
    time.sleep(1)
    following.terminate()
    lines = following.communicate()[0].splitlines()
    assert [line.split()[6] for line in lines if line.startswith("127.0.0.1")] == ["/one", "/two"]


def test_forwards_a_port(kubectl):
    port = free_port()
    forwarding = subprocess.Popen(
        [str(BINARY), "-n", "tron", "port-forward", "deploy/nginx", f"{port}:8080"],
        env=kubectl.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert "Forwarding from 127.0.0.1" in forwarding.stdout.readline()
        answer = httpx.get(f"http://127.0.0.1:{port}/health", timeout=10)
        assert (answer.status_code, answer.text) == (200, "ok\n")
    finally:
        forwarding.terminate()
        forwarding.communicate(timeout=10)


def test_waits_in_an_episode_without_a_pace(url, tmp_path):
    from tests.server.kubernetes.conftest import Episode

    episode = Episode(url)
    kubectl = Kubectl(episode, tmp_path)
    (tmp_path / "web.yaml").write_text(DEPLOYMENT)
    kubectl("apply -f web.yaml")
    # A watch is a way of waiting: time runs while it is open.
    started = time.monotonic()
    assert "successfully rolled out" in kubectl("rollout status deploy/web --timeout=60s")
    assert time.monotonic() - started < 20
