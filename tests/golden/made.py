"""Objects that a recorded state does not hold: custom resources and their definitions, made again as its setup did.

l2: "kubectl/<state>.json.gz: … setup:[...], state:{plural:[objects with managedFields], nodes, namespaces, ...}": the
state lists built-in plurals only. When such an object was made, and its uid, is read off the outputs that print it whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN
from env_core.kubectl import command as kubectl
from env_core.sim.timefmt import parse_ms
from env_core.world import Object
from tests.controllers.world import World
from tests.golden.recordings import Record
from tests.kubectl.golden_world import context

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
SETTLE_MS = 500


def made_by_setup(record: Record, namespace: str) -> Iterator[tuple[str, Object]]:
    """Yield (resource, object) for what the setup made and the state does not list."""
    manifests = [entry["stdin"] for entry in record.get("setup") or () if entry.get("stdin")]
    if not any("CustomResourceDefinition" in text for text in manifests):
        return
    printed = dict(_printed_whole(record))
    world = World(now_ms=parse_ms(record["start"]) - 1_000)
    ApiClient(world.server, ADMIN).create(
        "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    )
    for text in manifests:
        stamps = [stamp for obj in yaml.safe_load_all(text) if (stamp := _stamp(obj, printed))]
        world.loop.run_until(max([world.now_ms, *map(parse_ms, stamps)]))
        server: Any = world.server
        kubectl.run(["apply", "-f", "-"], context(server, world.now_ms, namespace, stdin=text))
        world.advance(SETTLE_MS)
    for kind in world.server.registry.all():
        if kind.coerce is not None or kind.resource == DEFINITIONS:
            for obj in world.store.list(kind.resource):
                yield kind.resource, _with_recorded(obj, printed)


def _key(obj: Object) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


def _printed_whole(record: Record) -> Iterator[tuple[tuple[str, str], Object]]:
    for case in record["cases"]:
        if case["argv"][-2:] == ["-o", "yaml"] and not case["rc"]:
            obj = yaml.safe_load(case["stdout"])
            if "name" in (obj.get("metadata") or {}):
                yield _key(obj), obj["metadata"]


def _stamp(obj: Object | None, printed: dict[tuple[str, str], Object]) -> str:
    found = printed.get(_key(obj), {}) if obj else {}
    return str(found.get("creationTimestamp", ""))


def _with_recorded(obj: Object, printed: dict[tuple[str, str], Object]) -> Object:
    found = printed.get(_key(obj), {})
    drawn = {key: found[key] for key in ("uid", "creationTimestamp") if key in found}
    return {**obj, "metadata": {**obj["metadata"], **drawn}}
