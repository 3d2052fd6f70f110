"""Defaults of pods and pod templates; an object that needs none is returned as it is.

Source: k8s.io/kubernetes pkg/apis/core/v1 defaults; recorded in tests/golden/l0/defaulting.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson

from env_core.kinds._image_reference import default_pull_policy
from env_core.kinds._volume_defaults import default_volume
from env_core.objects import quantity
from env_core.world import Object

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_DEFAULTS = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)
_SPEC_DEFAULTS = (
    ("dnsPolicy", "ClusterFirst"),
    ("restartPolicy", "Always"),
    ("schedulerName", "default-scheduler"),
)


def mapped(items: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Return `items` with `change` applied to each; the same list when nothing changed."""
    changed: list[Any] | None = None
    for index, item in enumerate(items):
        new = change(item)
        if new is not item:
            if changed is None:
                changed = list(items)
            changed[index] = new
    return items if changed is None else changed


def default_pod(pod: Object) -> Object:
    """Fill in a pod's defaults, those that templates do not have included."""
    spec = pod.get("spec") or {}
    new = default_pod_spec(spec)
    changes: Object = {}
    for key in ("containers", "initContainers"):
        containers = new.get(key)
        if containers:
            changed = mapped(containers, _default_requests)
            if new.get("hostNetwork"):
                changed = mapped(changed, _default_host_ports)
            if changed is not containers:
                changes[key] = changed
    if new.get("enableServiceLinks") is None:
        changes["enableServiceLinks"] = True
    if changes:
        new = {**new, **changes}
    status = pod.get("status")
    if status and status.get("podIP") and not status.get("podIPs"):
        return {**pod, "spec": new, "status": {**status, "podIPs": [{"ip": status["podIP"]}]}}
    return pod if new is spec else {**pod, "spec": new}


def default_pod_template(template: Object) -> Object:
    """Fill in the defaults of a pod template."""
    if _is_default_template(orjson.dumps(template)):
        return template
    spec = template.get("spec")
    new = default_pod_spec(spec or {})
    return template if new is spec else {**template, "spec": new}


@lru_cache(maxsize=1024)
def _is_default_template(text: bytes) -> bool:
    spec = orjson.loads(text).get("spec")
    return spec is not None and default_pod_spec(spec) is spec


def with_default_template(owner_spec: Object) -> Object:
    """Return a workload's spec with the defaults of its `template` filled in."""
    template = owner_spec.get("template") or {}
    new = default_pod_template(template)
    return owner_spec if new is template else {**owner_spec, "template": new}


def default_pod_spec(spec: Object) -> Object:
    """Fill in the defaults that pods and pod templates share."""
    changes: Object = {}
    for key, value in _SPEC_DEFAULTS:
        if not spec.get(key):
            changes[key] = value
    if spec.get("securityContext") is None:
        changes["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        changes["terminationGracePeriodSeconds"] = 30
    account, deprecated = spec.get("serviceAccountName") or "", spec.get("serviceAccount") or ""
    if account != deprecated:
        changes["serviceAccountName"] = changes["serviceAccount"] = account or deprecated
    for key, change in _LISTS:
        items = spec.get(key)
        if items:
            changed = mapped(items, change)
            if changed is not items:
                changes[key] = changed
    return {**spec, **changes} if changes else spec


def _default_container(container: Object) -> Object:
    return container if _is_default_container(orjson.dumps(container)) else _filled_container(container)


@lru_cache(maxsize=2048)
def _is_default_container(text: bytes) -> bool:
    container = orjson.loads(text)
    return _filled_container(container) is container


def _filled_container(container: Object) -> Object:
    changes: Object = {}
    if not container.get("imagePullPolicy"):
        changes["imagePullPolicy"] = default_pull_policy(container.get("image") or "")
    if not container.get("terminationMessagePath"):
        changes["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        changes["terminationMessagePolicy"] = "File"
    for key, change in (("ports", _default_port), ("env", _default_env)):
        items = container.get(key)
        if items:
            changed = mapped(items, change)
            if changed is not items:
                changes[key] = changed
    for key in _PROBES:
        probe = container.get(key)
        if probe is not None:
            new = _default_probe(probe)
            if new is not probe:
                changes[key] = new
    lifecycle = container.get("lifecycle")
    if lifecycle:
        new = lifecycle
        for key in ("postStart", "preStop"):
            handler = lifecycle.get(key)
            if handler:
                defaulted = _default_http_get(handler)
                if defaulted is not handler:
                    new = {**new, key: defaulted}
        if new is not lifecycle:
            changes["lifecycle"] = new
    resources = container.get("resources")
    if resources:
        new = default_resources(resources)
        if new is not resources:
            changes["resources"] = new
    return {**container, **changes} if changes else container


_LISTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("containers", _default_container),
    ("initContainers", _default_container),
    ("ephemeralContainers", _default_container),
    ("volumes", default_volume),
)


def _default_port(port: Object) -> Object:
    return port if port.get("protocol") else {**port, "protocol": "TCP"}


def _default_env(variable: Object) -> Object:
    source = variable.get("valueFrom")
    if not source:
        return variable
    reference = source.get("fieldRef")
    if reference is not None and not reference.get("apiVersion"):
        return {**variable, "valueFrom": {**source, "fieldRef": {**reference, "apiVersion": "v1"}}}
    reference = source.get("fileKeyRef")
    if reference is not None and reference.get("optional") is None:
        return {**variable, "valueFrom": {**source, "fileKeyRef": {**reference, "optional": False}}}
    return variable


def _default_probe(probe: Object) -> Object:
    changes: Object = {key: value for key, value in _PROBE_DEFAULTS if not probe.get(key)}
    grpc = probe.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        changes["grpc"] = {**grpc, "service": ""}
    new = _default_http_get(probe)
    return {**new, **changes} if changes else new


def _default_http_get(handler: Object) -> Object:
    action = handler.get("httpGet")
    if action is None or (action.get("path") and action.get("scheme")):
        return handler
    path, scheme = action.get("path") or "/", action.get("scheme") or "HTTP"
    return {**handler, "httpGet": {**action, "path": path, "scheme": scheme}}


def default_resources(resources: Object) -> Object:
    """Round quantities finer than a thousandth up, as resource lists do."""
    changes: Object = {}
    for key in ("limits", "requests"):
        quantities = resources.get(key)
        if quantities and any(str(value)[-1:] in ("n", "u") for value in quantities.values()):
            changes[key] = {name: _rounded(str(value)) for name, value in quantities.items()}
    return {**resources, **changes} if changes else resources


def _rounded(text: str) -> str:
    if text[-1:] not in ("n", "u"):
        return text
    return str(quantity.parse(text).rounded_up(quantity.MILLI))


def _default_requests(container: Object) -> Object:
    resources = container.get("resources")
    limits = resources.get("limits") if resources else None
    if not resources or not limits:
        return container
    requests = resources.get("requests") or {}
    missing = {name: value for name, value in limits.items() if name not in requests}
    if not missing:
        return container
    return {**container, "resources": {**resources, "requests": {**requests, **missing}}}


def _default_host_ports(container: Object) -> Object:
    ports = container.get("ports")
    if not ports:
        return container
    changed = mapped(ports, _default_host_port)
    return container if changed is ports else {**container, "ports": changed}


def _default_host_port(port: Object) -> Object:
    return port if port.get("hostPort") else {**port, "hostPort": port.get("containerPort", 0)}
