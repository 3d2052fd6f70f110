"""Objects by chance: applications of all kinds and what belongs to them."""

from __future__ import annotations

import random
from typing import Any

_IMAGES = (
    "nginx",
    "nginx:1.25",
    "registry.example.com:5000/shop/api:v1",
    "redis@sha256:abc",
    "busybox:1.36@sha256:def",
)


class Objects:
    """Draws objects, and remembers what they are called."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: list[tuple[str, str]] = []

    def maybe(self, chance: float = 0.3) -> bool:
        """Return true so often."""
        return self.rng.random() < chance

    def app(self, name: str) -> list[dict[str, Any]]:
        """Return the objects of one application."""
        rng = self.rng
        kind = rng.choice(("Deployment", "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "Pod"))
        pod = self.pod(name)
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        metadata: dict[str, Any] = {"name": name}
        if self.maybe():
            metadata["labels"] = {"app": name, "tier": "x"}
        if self.maybe(0.2):
            metadata["annotations"] = {"note": "1", "other": "a b"}
        if self.maybe(0.15):
            metadata["namespace"] = rng.choice(("shop", "default"))
        obj: dict[str, Any] = {"kind": kind, "metadata": metadata}
        if kind == "Pod":
            obj |= {"apiVersion": "v1", "spec": pod}
        elif kind in ("Job", "CronJob"):
            job: dict[str, Any] = {"template": {**template, "spec": {**pod, "restartPolicy": "Never"}}}
            spec = job if kind == "Job" else {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
            obj |= {"apiVersion": "batch/v1", "spec": spec}
        else:
            spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
            if kind != "DaemonSet" and self.maybe(0.6):
                spec["replicas"] = rng.randint(0, 3)
            if kind == "StatefulSet":
                spec["serviceName"] = name
                if self.maybe():
                    spec["volumeClaimTemplates"] = [
                        {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
                    ]
            obj |= {"apiVersion": "apps/v1", "spec": spec}
        self.names.append((kind, name))
        objects = [obj]
        if self.maybe(0.6):
            self.names.append(("Service", name))
            ports: list[dict[str, Any]] = [{"port": 80, "targetPort": 8080}]
            if self.maybe():
                ports.append({"port": 443, "name": "tls"})
            objects.append(
                {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
                 "spec": {"selector": {"app": name}, "ports": ports}}
            )  # fmt: skip
        if self.maybe(0.4):
            self.names.append(("ConfigMap", f"{name}-config"))
            objects.append(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-config"},
                 "data": {"a": "b", "file.txt": "one\ntwo\n"}}
            )  # fmt: skip
        if self.maybe(0.2):
            objects.append(
                {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
                 "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": name}}}
            )  # fmt: skip
        if self.maybe(0.2):
            backend = {"service": {"name": name, "port": {"number": 80}}}
            objects.append(
                {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": name},
                 "spec": {"tls": [{"secretName": "gen-secret"}],
                          "rules": [{"host": "x.example", "http": {"paths": [{"path": "/", "backend": backend}]}}]}}
            )  # fmt: skip
        return objects

    def pod(self, name: str) -> dict[str, Any]:
        """Return a pod's spec."""
        rng = self.rng
        main: dict[str, Any] = {"name": "main", "image": rng.choice(_IMAGES)}
        if self.maybe(0.5):
            main["ports"] = [{"containerPort": 8080}]
            if self.maybe():
                main["ports"].append({"containerPort": 8080, "protocol": "UDP"})
        if self.maybe(0.5):
            main["env"] = [{"name": "A", "value": "1"}, {"name": "B", "value": "two"}]
        if self.maybe(0.4):
            main["envFrom"] = [{"configMapRef": {"name": rng.choice((f"{name}-config", "gen-config"))}}]
        if self.maybe(0.3):
            main["args"] = ["-x", "--y=z"]
        containers = [main]
        if self.maybe():
            containers.append({"name": "side", "image": rng.choice(_IMAGES)})
        spec: dict[str, Any] = {"containers": containers}
        if self.maybe(0.2):
            spec["initContainers"] = [{"name": "init", "image": "busybox"}]
        if self.maybe(0.3):
            spec["volumes"] = [
                {"name": "v", "configMap": {"name": "gen-config"}},
                {"name": "s", "secret": {"secretName": "gen-secret"}},
            ]
        if self.maybe(0.2):
            spec["serviceAccountName"] = "robot"
        if self.maybe(0.2):
            spec["tolerations"] = [{"key": "a", "operator": "Exists"}]
        return spec

    def rbac(self) -> list[dict[str, Any]]:
        """Return an account and what it may do."""
        group = "rbac.authorization.k8s.io"
        subjects = [
            {"kind": "ServiceAccount", "name": "robot"},
            {"kind": "ServiceAccount", "name": "default", "namespace": "x"},
        ]
        return [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}},
            {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": {"name": "reader"},
             "rules": [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["gen-config"], "verbs": ["get"]}]},
            {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": {"name": "reads"}, "subjects": subjects,
             "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"}},
            {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "all"}, "rules": []},
            {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "all"},
             "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}],
             "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "all"}},
        ]  # fmt: skip
