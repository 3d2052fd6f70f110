"""What Traefik writes into Ingresses: the address under which they can be reached, if it is told which one that is.

It is told by the arguments `--providers.kubernetesingress.ingressendpoint.*` of its Deployment: `publishedservice` (a Service whose
load balancer's addresses are copied), or `ip` and `hostname`. Without them Ingresses have no address. It writes with the rights
of its service account.

Source: github.com/traefik/traefik pkg/provider/kubernetes/ingress/kubernetes.go (updateIngressStatus, shouldProcessIngress),
client.go (GetIngressClasses: those of its own controller; UpdateIngressStatus); unrecorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._accounts import as_account
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.objects import meta
from env_core.world import Object

_INGRESSES: Final = "ingresses.networking.k8s.io"
_CLASSES: Final = "ingressclasses.networking.k8s.io"
_DEPLOYMENTS: Final = "deployments.apps"
_OPTION: Final = "providers.kubernetesingress.ingressendpoint."
_CONTROLLER: Final = "traefik.io/ingress-controller"
_COPIED: Final = ("ip", "hostname", "ports")
_ANNOTATION: Final = "kubernetes.io/ingress.class"


def _options(deployment: Object) -> dict[str, str]:
    """Return what a Deployment of Traefik says of the endpoint, {} when it says nothing."""
    found: dict[str, str] = {}
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        for word in container.get("args") or ():
            name, _, value = str(word).lstrip("-").partition("=")
            if name.lower().startswith(_OPTION):
                found[name.lower()[len(_OPTION) :]] = value
    return found


def _told(component: Component) -> tuple[Object, dict[str, str]] | None:
    """Return the Deployment of Traefik that knows an endpoint, and what it knows."""
    for deployment in component.cache.list(_DEPLOYMENTS):
        options = _options(deployment)
        if options:
            return deployment, options
    return None


def _of_ingress(ingress: Object, component: Component) -> Iterable[Key]:
    return own_key(ingress, component) if _told(component) is not None else ()


def _of_service(service: Object, component: Component) -> Iterable[Key]:
    if service["spec"].get("type") != "LoadBalancer":
        return ()
    told = _told(component)
    name = f"{meta.namespace(service)}/{meta.name(service)}"
    return _all(component) if told is not None and told[1].get("publishedservice") == name else ()


def _of_deployment(deployment: Object, component: Component) -> Iterable[Key]:
    return _all(component) if _options(deployment) else ()


def _all(component: Component) -> list[Key]:
    return [Key(meta.namespace(each), meta.name(each)) for each in component.cache.list(_INGRESSES)]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    ingress = component.cache.get(_INGRESSES, key.namespace, key.name)
    told = _told(component)
    if ingress is None or told is None or not _is_mine(component, ingress):
        return None
    deployment, options = told
    wanted = _addresses(component, options)
    status = ingress.get("status") or {}
    if wanted is None or wanted == (status.get("loadBalancer") or {}).get("ingress"):
        return None
    if not (deployment.get("status") or {}).get("readyReplicas"):
        return None
    body = {**ingress, "status": {**status, "loadBalancer": {"ingress": wanted}}}
    try:
        as_account(component, deployment, "traefik").update_status(_INGRESSES, key.namespace, body)
    except StatusError:
        # It says so in its log, and tries again when something changes.
        return None
    return None


def _is_mine(component: Component, ingress: Object) -> bool:
    """Whether Traefik looks after an Ingress, and gets as far as its address: one without rules has none."""
    spec = ingress.get("spec") or {}
    if not spec.get("rules"):
        return False
    name = spec.get("ingressClassName")
    if name is None:
        return meta.annotations(ingress).get(_ANNOTATION) == "traefik"
    found = component.cache.get(_CLASSES, "", name)
    return found is not None and found["spec"].get("controller") == _CONTROLLER


def _addresses(component: Component, options: dict[str, str]) -> list[dict[str, Any]] | None:
    """Return the addresses, None while nobody knows any."""
    published = options.get("publishedservice")
    if not published:
        found = {name: options[name] for name in ("ip", "hostname") if options.get(name)}
        return [found] if found else None
    namespace, _, name = published.partition("/")
    service = component.cache.get("services", namespace, name)
    if service is None:
        return None
    rows = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [{name: row[name] for name in _COPIED if row.get(name)} for row in rows] or None


CONTROLLER = Controller(
    name="traefik-status",
    user="system:serviceaccount:kube-system:traefik",
    component="traefik",
    watches=((_INGRESSES, _of_ingress), ("services", _of_service), (_DEPLOYMENTS, _of_deployment)),
    reconcile=_reconcile,
    source="github.com/traefik/traefik pkg/provider/kubernetes/ingress; unrecorded",
)
