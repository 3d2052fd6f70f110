"""Checks about Services, their endpoints and what answers through them."""

from __future__ import annotations

from env_core.verify.checks._model import Check
from env_core.verify.view import View


def service_reaches(namespace: str, service: str, deployment: str) -> Check:
    """The Service selects the Deployment's pods by template labels, and exactly its ready pods are behind it."""

    def fails(view: View) -> str:
        found = view.get("services", namespace, service)
        owner = view.get("deployments.apps", namespace, deployment)
        if found is None or owner is None:
            return f"service {service} or deployment {deployment} is gone"
        labels = owner["spec"]["template"]["metadata"].get("labels") or {}
        if not view.selects(found["spec"].get("selector") or {}, labels):
            return f"service {service} does not select the pods of {deployment}"
        ready = sorted(pod["metadata"]["uid"] for pod in view.ready_pods_of(namespace, deployment))
        if not ready:
            return f"deployment {deployment} has no ready pod"
        if sorted(view.endpoints_of(namespace, service)) != ready:
            return f"service {service} has other endpoints than the ready pods of {deployment}"
        return ""

    return Check(f"service {service} reaches {deployment}", fails)


def host_names_service(namespace: str, deployment: str, config_map: str, key: str, service: str) -> Check:
    """The host in a ConfigMap key resolves, from the Deployment's pods, to the Service's own address."""

    def fails(view: View) -> str:
        source = view.get("configmaps", namespace, config_map)
        target = view.get("services", namespace, service)
        if source is None or target is None:
            return f"configmap {config_map} or service {service} is gone"
        host = (source.get("data") or {}).get(key, "")
        pods = view.ready_pods_of(namespace, deployment)
        if not host or not pods:
            return f"{key} is empty or {deployment} has no ready pod"
        if target["spec"].get("clusterIP") not in view.resolves_to(pods[0], host):
            return f"{key} does not lead to service {service}"
        # Only the Service's own name counts: an address, also one in a name's clothes, breaks with the next
        # re-creation, and an alias with whoever keeps it.
        full = f"{service}.{namespace}.svc.cluster.local"
        name = host.lower().removesuffix(".")
        if name != service and not (name.startswith(f"{service}.{namespace}") and full.startswith(name)):
            return f"{key} goes a way round service {service}"
        return ""

    return Check(f"{config_map}.{key} names service {service}", fails)


def answers(
    host: str, path: str, *, status: int = 200, contains: str = "", times: int = 3, timeout_ms: int = 3_000
) -> Check:
    """Requests through the ingress are answered with `status`, every time."""

    def fails(view: View) -> str:
        for _ in range(times):
            reply = view.request_from_outside(host, path, timeout_ms)
            if reply.failure or reply.status != status:
                return f"{path} answers {reply.failure or reply.status}"
            if contains and contains not in reply.body:
                return f"{path} answers without {contains!r}"
        return ""

    return Check(f"{path} answers {status}", fails)
