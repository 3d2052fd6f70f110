"""Tokens in Secrets of type `kubernetes.io/service-account-token`: filled in, and deleted with their account.

Source: k8s.io/kubernetes pkg/controller/serviceaccount tokens_controller.go; tests/golden/l2/flows (sa-tokens).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import retrying
from env_core.controllers.rootcacert import CERTIFICATE
from env_core.world import Object

RESOURCE = "secrets"
ACCOUNTS = "serviceaccounts"
TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"


def _of_secret(secret: Object, _component: Component) -> Iterable[Key]:
    metadata = secret["metadata"]
    return (Key(metadata["namespace"], metadata["name"]),) if secret.get("type") == TYPE else ()


def _of_account(account: Object, component: Component) -> Iterable[Key]:
    metadata = account["metadata"]
    if component.cache.get(ACCOUNTS, metadata["namespace"], metadata["name"]) is not None:
        # The account itself asks for no token: only its end and its return matter to those it has.
        return ()
    return [
        Key(metadata["namespace"], secret["metadata"]["name"])
        for secret in component.cache.list(RESOURCE, metadata["namespace"])
        if secret.get("type") == TYPE and _annotations(secret).get(ACCOUNT_NAME) == metadata["name"]
    ]


def _annotations(obj: Object) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("annotations") or {}
    return found


def _reconcile(component: Component, key: Key) -> Requeue | None:
    secret = component.cache.get(RESOURCE, *key)
    if secret is None or secret.get("type") != TYPE:
        return None
    said = _annotations(secret)
    account = component.cache.get(ACCOUNTS, key.namespace, said.get(ACCOUNT_NAME, ""))
    if account is None or said.get(ACCOUNT_UID, "") not in ("", account["metadata"]["uid"]):
        _delete(component, secret)
    else:
        _fill(component, secret, account)
    return None


def _delete(component: Component, secret: Object) -> None:
    metadata = secret["metadata"]
    if "deletionTimestamp" in metadata:
        return
    try:
        options = Options(precondition_uid=metadata["uid"])
        component.api.delete(RESOURCE, metadata["namespace"], metadata["name"], options)
    except StatusError as error:
        if error.code not in (404, 409):
            raise


def _fill(component: Component, secret: Object, account: Object) -> None:
    data: dict[str, str] = secret.get("data") or {}
    owner = account["metadata"]
    wanted = {"ca.crt": _encoded(CERTIFICATE)}
    if not data.get("namespace"):
        wanted["namespace"] = _encoded(owner["namespace"])
    if not data.get("token"):
        wanted["token"] = _encoded(component.secret_token(account, secret))
    identity = {ACCOUNT_NAME: owner["name"], ACCOUNT_UID: owner["uid"]}
    said = _annotations(secret)
    if {**data, **wanted} == data and {**said, **identity} == said:
        return
    metadata = {**secret["metadata"], "annotations": {**said, **identity}}
    changed = {**secret, "metadata": metadata, "data": {**data, **wanted}}
    component.api.update(RESOURCE, metadata["namespace"], changed)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


CONTROLLER = Controller(
    name="serviceaccount-token",
    user="system:kube-controller-manager",
    watches=((RESOURCE, _of_secret), (ACCOUNTS, _of_account)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/serviceaccount tokens_controller.go; tests/golden/l2/flows (sa-tokens)",
)
