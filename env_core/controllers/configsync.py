"""config-sync: applies the manifests that a ConfigMap declares, every minute, as delivery from a repository does.

A ConfigMap with the label `sync.example.com/source: "true"` is a source: each key holds manifests (YAML). They are
applied by force while a pod of the Deployment `config-sync` of the same namespace is ready, unless the source's
annotation `sync.example.com/suspend` is "true". What else an object has stays as it is. It may do what the service
account of that Deployment may do; what the API refuses is an event, and is tried again the next minute.

Source: the simulator's own; behaviour after fluxcd.io/flux/components/kustomize (interval, suspend, drift correction).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import yaml

from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import APPLY_PATCH, Options
from env_core.controllers._accounts import as_account
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import retrying
from env_core.objects import meta
from env_core.world import Object

SOURCE: Final = "sync.example.com/source"
SUSPEND: Final = "sync.example.com/suspend"
AGENT: Final = "config-sync"
INTERVAL_MS: Final = 60_000
_MAPS: Final = "configmaps"
_RESOURCES: Final = {
    "Deployment": "deployments.apps",
    "ConfigMap": "configmaps",
    "Service": "services",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers.autoscaling",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
}
_FORCED: Final = Options(field_manager=AGENT, force=True)


def _sources(source: Object, _component: Component) -> tuple[Key, ...]:
    if meta.labels(source).get(SOURCE) != "true":
        return ()
    return (Key(meta.namespace(source), meta.name(source)),)


@lru_cache(maxsize=64)
def declared(text: str) -> tuple[Object, ...]:
    """Return the manifests in a text; none when it is no YAML, as then nothing is applied."""
    try:
        found = [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if isinstance(each, dict)]
    except yaml.YAMLError:
        return ()
    return tuple(each for each in found if each.get("kind") in _RESOURCES and "metadata" in each)


def holds(live: Any, wanted: Any) -> bool:
    """Whether an object has all that a manifest says; lists of objects are compared name by name."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            name in live and holds(live[name], each) for name, each in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(live, list)
            and len(live) == len(wanted)
            and all(holds(left, right) for left, right in zip(live, wanted, strict=True))
        )
    return bool(live == wanted)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    source = component.cache.get(_MAPS, *key)
    if source is None or meta.labels(source).get(SOURCE) != "true":
        return None
    agent = component.cache.get("deployments.apps", key.namespace, AGENT)
    if agent is None:
        return Requeue(INTERVAL_MS)
    is_running = bool((agent.get("status") or {}).get("readyReplicas"))
    if is_running and meta.annotations(source).get(SUSPEND) != "true":
        _sync(component, source, as_account(component, agent, AGENT))
    return Requeue(INTERVAL_MS)


def _sync(component: Component, source: Object, api: ApiClient) -> None:
    changed = 0
    for _key, text in sorted((source.get("data") or {}).items()):
        for manifest in declared(text):
            changed += _apply(component, source, api, manifest)
    if changed:
        word = "object" if changed == 1 else "objects"
        component.recorder.event(
            source, "Normal", "Synced", f"{changed} {word} brought to the declared state"
        )


def _apply(component: Component, source: Object, api: ApiClient, manifest: Object) -> int:
    resource = _RESOURCES[manifest["kind"]]
    namespace, name = meta.namespace(manifest), meta.name(manifest)
    live = component.cache.get(resource, namespace, name)
    if live is not None and holds(live, manifest):
        return 0
    try:
        api.patch(resource, namespace, name, manifest, APPLY_PATCH, options=_FORCED)
    except StatusError as error:
        component.recorder.event(
            source, "Warning", "SyncFailed", f"{manifest['kind']} {namespace}/{name}: {error}"
        )
        return 0
    return 1


CONTROLLER = Controller(
    name="config-sync",
    user="system:serviceaccount:config-sync:config-sync",
    component=AGENT,
    watches=((_MAPS, _sources),),
    reconcile=retrying(_reconcile),
    source="the simulator's own; after fluxcd.io/flux/components/kustomize",
)
