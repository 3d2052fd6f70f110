"""What a control plane creates when it starts: system namespaces, RBAC, priority classes, its own Service, and
objects that hardly anybody writes: flow control, API services, the range of service addresses.

Source: tests/golden/l2/facts/default_objects.json.gz (what a 1.37 server holds after start-up).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.fieldset import set_of
from env_core.apiserver.managedfields.history import Write, settled
from env_core.apiserver.managedfields.managers import APPLY, Held, Manager
from env_core.apiserver.registry import Kinds
from env_core.apiserver.store import Store
from env_core.sim import ids
from env_core.sim.rng import Streams
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PRIORITIES = (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000))
_SERVER = "kube-apiserver"
_AGGREGATION = "clusterrole-aggregation-controller"
_FILLED_IN = {"namespaces": ("finalizers",), "services": ("clusterIPs", "ipFamilies")}
_RBAC = "rbac.authorization.k8s.io"


@lru_cache(maxsize=2)
def _table(name: str) -> dict[str, list[Any]]:
    packed = files("env_core.apiserver.data").joinpath(f"{name}.json.gz").read_bytes()
    table: dict[str, list[Any]] = orjson.loads(gzip.decompress(packed))
    return table


def boot(store: Store, streams: Streams, now_ms: int, kinds: Kinds) -> None:
    """Put everything into a store that a fresh control plane holds.

    What is there by default and watched by nobody is preloaded: no write, no revision, no event.
    """
    for resource, obj in boot_objects(streams, now_ms):
        kind = kinds.by_resource(resource)
        assert kind is not None
        store.put(resource, obj, _written(kind, obj, now_ms))
    for resource, objects in default_objects(streams, now_ms).items():
        store.preload(resource, objects)


def default_objects(streams: Streams, now_ms: int) -> dict[str, list[Object]]:
    """Return flow schemas, priority levels, API services and service CIDRs by resource, as of now."""
    created = rfc3339(now_ms)
    uids = streams.stream("default-uids")
    return {
        resource: [_made_by_default(obj, ids.uid(uids), created) for obj in objects]
        for resource, objects in _table("defaults").items()
    }


def _made_by_default(obj: Object, uid: str, created: str) -> Object:
    made = {**obj, "metadata": {**obj["metadata"], "uid": uid, "creationTimestamp": created}}
    conditions = obj["status"].get("conditions")
    if conditions:
        made["status"] = {"conditions": [{**each, "lastTransitionTime": created} for each in conditions]}
    return made


def _written(kind: Kind, obj: Object, now_ms: int) -> Write:
    """Return who wrote an object of the start: the server itself, but for what it or a controller filled in later.

    Source: tests/golden/l2/facts/default_objects.json.gz (managedFields).
    """
    sent = obj
    for name in _FILLED_IN.get(kind.resource, ()):
        spec = {key: value for key, value in sent["spec"].items() if key != name}
        sent = {**sent, "spec": spec}
    if "aggregationRule" not in obj:
        return Write(_SERVER, "", kind, now_ms, sent)
    created = Write(_SERVER, "", kind, now_ms, {**obj, "rules": None})
    rules = Held(set_of(("f:rules",)), kind.api_version, rfc3339(now_ms))
    return settled(kind, {**created.managed(), Manager(_AGGREGATION, APPLY): rules})


def boot_objects(streams: Streams, now_ms: int) -> Iterator[tuple[str, Object]]:
    """Yield (resource, object) in the order of creation."""
    created = rfc3339(now_ms)
    uids = streams.stream("uids")

    def made(obj: Object, **metadata: Any) -> Object:
        given = {**obj.get("metadata", {}), **metadata}
        return {**obj, "metadata": {**given, "uid": ids.uid(uids), "creationTimestamp": created}}

    for name in SYSTEM_NAMESPACES:
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
        yield "namespaces", made(namespace, name=name, labels={"kubernetes.io/metadata.name": name})
    for plural in ("clusterroles", "clusterrolebindings", "roles", "rolebindings"):
        for obj in _table("rbac")[plural]:
            yield f"{plural}.{_RBAC}", made(obj)
    for name, value in _PRIORITIES:
        priority = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "value": value,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        yield "priorityclasses.scheduling.k8s.io", made(priority, name=name, generation=1)
    yield (
        "services",
        made(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "spec": {
                    "clusterIP": "10.96.0.1",
                    "clusterIPs": ["10.96.0.1"],
                    "internalTrafficPolicy": "Cluster",
                    "ipFamilies": ["IPv4"],
                    "ipFamilyPolicy": "SingleStack",
                    "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
                    "sessionAffinity": "None",
                    "type": "ClusterIP",
                },
                "status": {"loadBalancer": {}},
            },
            name="kubernetes",
            namespace="default",
            labels={"component": "apiserver", "provider": "kubernetes"},
        ),
    )
