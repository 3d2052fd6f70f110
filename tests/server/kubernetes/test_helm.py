"""Helm 4's own library installs, upgrades, rolls back and uninstalls a chart; by default it applies server side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.kubernetes.conftest import Episode

CHART = "apiVersion: v2\nname: web\nversion: 0.1.0\nappVersion: '1.27'\n"
VALUES = "image: nginx:1.27\nreplicas: 2\ngreeting: hello\n"
MANIFESTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {greeting: "{{ .Values.greeting }}"}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {selector: {app: "{{ .Release.Name }}"}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: web, image: "{{ .Values.image }}"}]}
"""
NOTES = """\
{{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }} \
{{ .Capabilities.APIVersions.Has "apps/v1beta1" }} {{ (lookup "v1" "Service" "tron" "nginx").spec.type }}"""
HOOK = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-migrate"
  annotations: {helm.sh/hook: "pre-install", helm.sh/hook-delete-policy: "before-hook-creation"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: m, image: "busybox:1.37", command: [sh, -c, "sleep 2"]}]}
"""
TEST = """\
apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}-test", annotations: {helm.sh/hook: test}}
spec:
  restartPolicy: Never
  containers: [{name: t, image: "busybox:1.37", command: [echo, all is well]}]
"""
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/shop"
SECONDS_MAX = 60


class HelmError(Exception):
    """What Helm says when it fails, with the name of its own error before it."""


class Helm:
    """One user of Helm: an episode's kubeconfig, a namespace, and where releases are kept."""

    def __init__(self, child, episode, **config):
        self._child = child
        self._config = {"kubeconfig_content": episode.kubeconfig().text, "namespace": "default", **config}

    def __call__(self, action, *arguments, **options):
        given = [str(each) if isinstance(each, Path) else each for each in arguments]
        request = {"config": self._config, "action": action, "arguments": given, "options": options}
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        answer = json.loads(self._child.stdout.readline())
        if "error" in answer:
            raise HelmError(f"{answer['error']}: {answer['message']}")
        return answer["answer"]

    def states(self, name):
        return [(entry["revision"], entry["status"]) for entry in self("history", name)]


@pytest.fixture(scope="session")
def child(tmp_path_factory):
    environment = {"HOME": str(tmp_path_factory.mktemp("home")), "PATH": os.environ["PATH"]}
    command = [sys.executable, str(Path(__file__).with_name("helm_child.py"))]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def chart(tmp_path):
    folder = tmp_path / "web"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(CHART)
    (folder / "values.yaml").write_text(VALUES)
    (folder / "templates" / "all.yaml").write_text(MANIFESTS)
    return folder


def template(episode):
    return episode.get(DEPLOYMENT).json()["spec"]["template"]["spec"]["containers"][0]


def names(episode, path):
    return [item["metadata"]["name"] for item in episode.get(path).json()["items"]]


def test_installs_upgrades_rolls_back_and_uninstalls(child, workshop, chart):
    helm = Helm(child, workshop)
    helm("check_reachable")
    installed = helm("install", chart, "shop", wait="watcher", timeout=SECONDS_MAX)
    assert (installed["revision"], installed["status"]) == (1, "deployed")
    deployment = workshop.get(DEPLOYMENT).json()
    assert deployment["status"]["readyReplicas"] == 2
    assert deployment["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "Helm"}
    assert deployment["metadata"]["annotations"]["meta.helm.sh/release-name"] == "shop"
    managers = {(entry["manager"], entry["operation"]) for entry in deployment["metadata"]["managedFields"]}
    assert ("kube-controller-manager", "Update") in managers
    assert [operation for _, operation in managers].count("Apply") == 1

    values = {"image": "nginx:1.28", "greeting": "hi"}
    assert helm("upgrade", chart, "shop", values, wait="watcher", timeout=SECONDS_MAX)["revision"] == 2
    assert template(workshop)["image"] == "nginx:1.28"
    assert workshop.get("/api/v1/namespaces/default/configmaps/shop").json()["data"] == {"greeting": "hi"}
    assert helm("get_values", "shop") == values

    helm("rollback", "shop", version=1, wait="watcher", timeout=SECONDS_MAX)
    assert template(workshop)["image"] == "nginx:1.27"
    assert helm.states("shop") == [(1, "superseded"), (2, "superseded"), (3, "deployed")]
    (listed,) = helm("list", all_namespaces=True)
    assert (listed["name"], listed["revision"], listed["status"]) == ("shop", 3, "deployed")
    secrets = names(workshop, "/api/v1/namespaces/default/secrets?labelSelector=owner%3Dhelm")
    assert secrets == [f"sh.helm.release.v1.shop.v{number}" for number in (1, 2, 3)]

    assert (
        helm("uninstall", "shop", wait="watcher", timeout=SECONDS_MAX)["release"]["status"] == "uninstalled"
    )
    assert workshop.get(DEPLOYMENT).status_code == 404
    assert names(workshop, "/api/v1/namespaces/default/secrets") == []
    with pytest.raises(HelmError, match="HelmNotFoundError"):
        helm("status", "shop")


def test_a_release_that_does_not_come_up_fails_and_is_rolled_back(child, workshop, chart):
    helm = Helm(child, workshop)
    helm("install", chart, "shop", wait="watcher", timeout=SECONDS_MAX)
    with pytest.raises(HelmError, match="Deployment/default/shop not ready"):
        helm("upgrade", chart, "shop", {"image": "nginx:no-such-tag"}, wait="watcher", timeout=1)
    assert helm.states("shop") == [(1, "deployed"), (2, "failed")]
    helm("rollback", "shop", wait="watcher", timeout=SECONDS_MAX)
    assert template(workshop)["image"] == "nginx:1.27"


def test_runs_hooks_and_tests_and_looks_up_what_there_is(child, workshop, chart):
    (chart / "templates" / "hook.yaml").write_text(HOOK)
    (chart / "templates" / "test.yaml").write_text(TEST)
    (chart / "templates" / "NOTES.txt").write_text(NOTES)
    helm = Helm(child, workshop, storage_driver="configmap")
    installed = helm("install", chart, "shop", wait="watcher", timeout=SECONDS_MAX)
    assert installed["notes"] == "v1.37.2 true false ClusterIP"
    (job,) = workshop.get("/apis/batch/v1/namespaces/default/jobs").json()["items"]
    assert (job["metadata"]["name"], job["status"]["succeeded"]) == ("shop-migrate", 1)
    assert (
        helm("test", "shop", logs=True, timeout=SECONDS_MAX)["logs"] == "POD LOGS: shop-test\nall is well\n\n"
    )
    assert "sh.helm.release.v1.shop.v1" in names(workshop, "/api/v1/namespaces/default/configmaps")


def test_is_told_no_in_the_servers_words(child, workshop, chart):
    helm = Helm(child, workshop)
    with pytest.raises(
        HelmError,
        match='namespaces "new" is forbidden: User "sre" cannot patch resource "namespaces" in API group "" '
        'in the namespace "new"',
    ):
        helm("install", chart, "shop", namespace="new", create_namespace=True)
    helm("install", chart, "shop")
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.26"}]}}}}
    changed = workshop.request(
        "PATCH",
        f"{DEPLOYMENT}?fieldManager=kubectl-set",
        content=json.dumps(patch),
        headers={"Content-Type": "application/strategic-merge-patch+json"},
    )
    assert changed.status_code == 200
    with pytest.raises(HelmError) as caught:
        helm("upgrade", chart, "shop", {"image": "nginx:1.28"})
    assert str(caught.value).endswith(
        'Apply failed with 1 conflict: conflict with "kubectl-set" using apps/v1: '
        '.spec.template.spec.containers[name="web"].image'
    )


def test_tries_without_changing_anything(child, url, chart):
    episode = Episode(url)
    helm = Helm(child, episode)
    tried = helm("install", chart, "shop", dry_run="server")
    assert "kind: Deployment" in tried["manifest"]
    assert episode.get(DEPLOYMENT).status_code == 404
    assert episode.state()["step_count"] <= 1


def test_waits_in_an_episode_without_a_pace(child, url, chart):
    episode = Episode(url)
    helm = Helm(child, episode)
    assert helm("install", chart, "shop", wait="watcher", timeout=SECONDS_MAX)["status"] == "deployed"
    assert episode.get(DEPLOYMENT).json()["status"]["readyReplicas"] == 2
