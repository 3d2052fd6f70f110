"""Checks about Deployments and their pods."""

from __future__ import annotations

from typing import Any

from env_core.verify.checks._model import Check
from env_core.verify.view import View
from env_core.world import Object


def deployment_serves(namespace: str, name: str, replicas_min: int = 1) -> Check:
    """The Deployment's newest revision is rolled out and has at least `replicas_min` ready pods."""

    def fails(view: View) -> str:
        deployment = view.get("deployments.apps", namespace, name)
        if deployment is None:
            return f"deployment {name} is gone"
        wanted = deployment["spec"].get("replicas", 1)
        if wanted < replicas_min:
            return f"deployment {name} asks for {wanted} replicas"
        status = deployment.get("status", {})
        if status.get("updatedReplicas", 0) < wanted or status.get("readyReplicas", 0) < wanted:
            return f"deployment {name} has {status.get('readyReplicas', 0)} of {wanted} pods ready"
        return ""

    return Check(f"deployment {name} serves", fails)


def environment_follows_config(
    namespace: str, deployment: str, container: str, variable: str, config_map: str
) -> Check:
    """Every pod's container has the variable's value from the ConfigMap, and gets it from there."""

    def fails(view: View) -> str:
        source = view.get("configmaps", namespace, config_map)
        if source is None:
            return f"configmap {config_map} is gone"
        value = (source.get("data") or {}).get(variable)
        owner = view.get("deployments.apps", namespace, deployment)
        if owner is None:
            return f"deployment {deployment} is gone"
        spec = _container(owner, container)
        if spec is None:
            return f"container {container} is gone"
        if not _comes_from(spec, variable, config_map):
            return f"{variable} of {container} does not come from configmap {config_map}"
        pods = view.ready_pods_of(namespace, deployment)
        if not pods:
            return f"deployment {deployment} has no ready pod"
        for pod in pods:
            if view.env_of(pod, container).get(variable) != value:
                return f"pod {pod['metadata']['name']} runs with another {variable} than configmap {config_map} has"
        return ""

    return Check(f"{variable} of {deployment} follows {config_map}", fails)


def _container(owner: Object, name: str) -> Object | None:
    containers: list[Any] = owner["spec"]["template"]["spec"].get("containers", [])
    return next((entry for entry in containers if entry["name"] == name), None)


def _comes_from(spec: Object, variable: str, config_map: str) -> bool:
    for entry in spec.get("env") or ():
        if entry["name"] == variable:
            reference = (entry.get("valueFrom") or {}).get("configMapKeyRef") or {}
            return bool(reference.get("name") == config_map and reference.get("key") == variable)
    return any(
        (entry.get("configMapRef") or {}).get("name") == config_map for entry in spec.get("envFrom") or ()
    )
