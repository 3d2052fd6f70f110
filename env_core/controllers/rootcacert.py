"""The ConfigMap `kube-root-ca.crt` of every namespace, which pods mount to trust the API server.

Source: k8s.io/kubernetes pkg/controller/certificates/rootcacertpublisher; tests/golden/l2/facts/default_objects.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import is_namespace_terminating, retrying
from env_core.world import Object

RESOURCE = "configmaps"
NAME = "kube-root-ca.crt"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBjjCCATWgAwIBAgIUK68Pmn398ufCUBbsOsxQVqACMyIwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMjkyMjI2MzRaFw0zNjExMjYy
MjI2MzRaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARAQjHucTAgv8GHyui0+fP7ZWsIJBpgjKsavHd6HVnwD1ndP9xh5iSA
5EFY1A6PCeWpfyoZG0O45+/m3VxHnLkoo2MwYTAdBgNVHQ4EFgQU/HnH2m8Xsa61
kz067LAduy+B3kcwHwYDVR0jBBgwFoAU/HnH2m8Xsa61kz067LAduy+B3kcwDwYD
VR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAqQwCgYIKoZIzj0EAwIDRwAwRAIg
ZS+hHHfZLOwzUTM8q7B1ZEcpcpkcl2MD8r5CBdmZ3eICIFwM5YAMtenBz1lYyBmg
1Y/Bp+UQWdWlVKCStPbzaR/l
-----END CERTIFICATE-----
"""
_DATA = {"ca.crt": CERTIFICATE}


def _of_namespace(namespace: Object, component: Component) -> Iterable[Key]:
    name = namespace["metadata"]["name"]
    return () if component.cache.get(RESOURCE, name, NAME) is not None else (Key("", name),)


def _of_configmap(configmap: Object, _component: Component) -> Iterable[Key]:
    metadata = configmap["metadata"]
    return (Key("", metadata["namespace"]),) if metadata["name"] == NAME else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    namespace = component.cache.get("namespaces", "", key.name)
    if namespace is None or "deletionTimestamp" in namespace["metadata"]:
        return None
    current = component.cache.get(RESOURCE, key.name, NAME)
    if current is not None:
        _repair(component, key.name, current)
        return None
    configmap = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": NAME,
            "namespace": key.name,
            "annotations": {"kubernetes.io/description": DESCRIPTION},
        },
        "data": _DATA,
    }
    try:
        component.api.create(RESOURCE, key.name, configmap)
    except StatusError as error:
        if error.code != 404 and not is_namespace_terminating(error):
            raise
    return None


def _repair(component: Component, namespace: str, current: Object) -> None:
    metadata = current["metadata"]
    annotations = metadata.get("annotations") or {}
    if current.get("data") == _DATA and annotations.get("kubernetes.io/description"):
        return
    annotations = {**annotations, "kubernetes.io/description": DESCRIPTION}
    changed = {**current, "metadata": {**metadata, "annotations": annotations}, "data": _DATA}
    component.api.update(RESOURCE, namespace, changed)


CONTROLLER = Controller(
    name="root-ca-cert-publisher",
    identity="root-ca-cert-publisher",
    component="root-ca-cert-publisher",
    watches=(("namespaces", _of_namespace), (RESOURCE, _of_configmap)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/certificates/rootcacertpublisher; tests/golden/l2/facts",
)
