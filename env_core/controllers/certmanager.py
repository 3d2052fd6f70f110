"""cert-manager, at the level of objects: keeps the Secrets of Certificates fresh, as long as a pod of its own is ready.

A world that wants it installs the kinds Certificate and Issuer of cert-manager.io/v1 (ClusterIssuer and CertificateRequest, too, if it
likes) and a Deployment `cert-manager` in the namespace `cert-manager`; it may do what that Deployment's service account may do. Issuers
of types SelfSigned and CA sign; keys are RSA or ECDSA. Its webhook, ACME, keystores, literal subjects and renewal windows are not there.

Source: github.com/cert-manager/cert-manager, 1.20: see the modules `_certmanager_*`. Unrecorded: all of it, above all how long it takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _certmanager_issuers as issuers
from env_core.controllers import _certmanager_issuing as issuing
from env_core.controllers._accounts import as_account
from env_core.controllers._certmanager_model import (
    CERTIFICATES,
    CLUSTER_ISSUERS,
    GROUP,
    ISSUERS,
    NAMESPACE,
    SECRETS,
    issuer_of,
    part,
)
from env_core.controllers._model import CUSTOM_RESOURCES, Controller, Key, Requeue
from env_core.objects import meta
from env_core.world import Object

AGENT: Final = "cert-manager"
BASE_DELAY_MS: Final = 5_000
DELAY_MAX_MS: Final = 300_000
_DOUBLINGS_MAX: Final = 6
_FAILURES: Final = "failures"
_RESOURCES: Final = {"Certificate": CERTIFICATES, "Issuer": ISSUERS, "ClusterIssuer": CLUSTER_ISSUERS}


def _key(obj: Object) -> Key:
    return Key(meta.namespace(obj), f"{obj['kind']}/{meta.name(obj)}")


def _of_custom(obj: Object, component: Component) -> Iterable[Key]:
    if not str(obj.get("apiVersion") or "").startswith(f"{GROUP}/"):
        return ()
    kind = obj["kind"]
    if kind == "CertificateRequest":
        owner = meta.controller_of(obj)
        return (Key(meta.namespace(obj), f"Certificate/{owner['name']}"),) if owner is not None else ()
    if kind == "Certificate":
        return (_key(obj), *_sharing(obj, component))
    return (_key(obj), *_asking(obj, component)) if kind in _RESOURCES else ()


def _sharing(certificate: Object, component: Component) -> list[Key]:
    """Return the other Certificates that name the same Secret: one of them may keep it from now on."""
    if component.cache.get(CERTIFICATES, meta.namespace(certificate), meta.name(certificate)) is not None:
        return []
    secret = part(certificate, "spec").get("secretName")
    return [
        _key(each)
        for each in component.cache.list(CERTIFICATES, meta.namespace(certificate))
        if part(each, "spec").get("secretName") == secret
    ]


def _asking(issuer: Object, component: Component) -> list[Key]:
    """Return the Certificates of an issuer."""
    wanted = (meta.name(issuer), issuer["kind"], GROUP)
    return [
        _key(each)
        for each in component.cache.list(CERTIFICATES, meta.namespace(issuer))
        if issuer_of(part(each, "spec")) == wanted
    ]


def _of_secret(secret: Object, component: Component) -> Iterable[Key]:
    namespace, name = meta.namespace(secret), meta.name(secret)
    found = [
        _key(each)
        for each in component.cache.list(CERTIFICATES, namespace)
        if name
        in (
            part(each, "spec").get("secretName"),
            part(each, "status").get("nextPrivateKeySecretName"),
        )
    ]
    for resource in (ISSUERS, CLUSTER_ISSUERS):
        found += [
            _key(each)
            for each in component.cache.list(resource, namespace if resource == ISSUERS else "")
            if issuers.secret_of(each) == (namespace, name)
        ]
    return found


def _of_agent(deployment: Object, component: Component) -> Iterable[Key]:
    if (meta.namespace(deployment), meta.name(deployment)) != (NAMESPACE, AGENT):
        return ()
    return [_key(each) for resource in _RESOURCES.values() for each in component.cache.list(resource)]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    kind, _, name = key.name.partition("/")
    obj = component.cache.get(_RESOURCES[kind], key.namespace, name)
    agent = component.cache.get("deployments.apps", NAMESPACE, AGENT)
    if obj is None or agent is None or "deletionTimestamp" in obj["metadata"]:
        return None
    if not part(agent, "status").get("readyReplicas"):
        return None
    api = as_account(component, agent, AGENT)
    try:
        if kind == "Certificate":
            again_ms = issuing.reconcile(component, api, obj)
        else:
            again_ms = _later(component, key) if issuers.reconcile(component, api, obj) else None
    except StatusError:
        again_ms = _later(component, key)
    else:
        if kind == "Certificate" or again_ms is None:
            component.table(_FAILURES).pop(key)
    return Requeue(again_ms) if again_ms is not None else None


def _later(component: Component, key: Key) -> int:
    """Count one more failure and return after how long to try again."""
    table = component.table(_FAILURES)
    failures: int = table.get(key) or 0
    table[key] = failures + 1
    return min(BASE_DELAY_MS << min(failures, _DOUBLINGS_MAX), DELAY_MAX_MS)


CONTROLLER = Controller(
    name="cert-manager",
    user="system:serviceaccount:cert-manager:cert-manager",
    component=AGENT,
    watches=((CUSTOM_RESOURCES, _of_custom), (SECRETS, _of_secret), ("deployments.apps", _of_agent)),
    reconcile=_reconcile,
    source="cert-manager pkg/controller, 1.20; unrecorded",
    delay_ms=200,
)
"""Agenda keys are "<Kind>/<name>": three kinds are looked after."""
