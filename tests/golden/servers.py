"""Real API servers over recorded objects: what the replays send their requests to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from env_core import kinds as kinds_package
from env_core.apiserver import virtual
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import AdmissionChain
from env_core.apiserver.registry import Registry
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.apiserver.strict import decode
from env_core.cluster import admission
from env_core.discovery import discover
from env_core.sim import ids
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.timefmt import parse_ms
from tests.networks import connect

CREATED_MS = parse_ms("2026-01-15T10:00:00Z")
CREATED_UID = "00000000-0000-4000-8000-000000000001"
SEED = 1
FIRST_UID = ids.uid(Streams(SEED).stream("uids"))
"""The uid that a server of `SEED` gives first."""


@cache
def registry() -> Registry:
    """Return every kind that this project serves."""
    return Registry([*discover(kinds_package, "KIND", Kind).values(), *virtual.KINDS])


def registry_with(other: Mapping[str, Kind]) -> Registry:
    """Return every kind, some of them declared otherwise."""
    return Registry([other.get(kind.resource, kind) for kind in (*registry().kinds, *registry().others)])


def kind_of(key: str) -> Kind | None:
    """Return the kind of a recorded key, "apps/v1/Deployment", or None."""
    version, _, name = key.rpartition("/")
    return registry().by_gvk(version, name)


def decoded_pod(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod as the API server has it in hand when admission starts: decoded and defaulted."""
    kind = kind_of("v1/Pod")
    assert kind is not None
    return kind.default(decode(dict(body), "", "v1", "Pod", "Ignore").object)


def server(
    objects: Iterable[Mapping[str, Any]] = (),
    *,
    now_ms: int = CREATED_MS,
    has_admission: bool = False,
    is_booted: bool = False,
    revision: int | None = None,
    kinds: Iterable[Kind] = (),
) -> ApiServer:
    """Return an API server that holds `objects` as they are; the next write after them gets a revision of its own.

    Args:
        objects: with apiVersion and kind; those of unknown kinds are left out.
        now_ms: its clock.
        has_admission: whether all plugins run; none otherwise.
        is_booted: whether the objects of a fresh control plane are there.
        revision: the resourceVersion that the first object gets.
        kinds: declarations that take the place of those of the same resource.
    """
    other = {kind.resource: kind for kind in kinds}
    is_usual = all(registry().by_resource(name) is kind for name, kind in other.items())
    made = ApiServer(
        registry=registry() if is_usual else registry_with(other),
        store=Store(),
        loop=EventLoop(now_ms),
        streams=Streams(SEED),
        admission=admission() if has_admission else AdmissionChain(()),
        virtual=virtual.VIRTUAL,
    )
    if is_booted:
        for resource, obj in boot_objects(Streams(SEED + 1), now_ms):
            made.store.put(resource, obj)
    if revision is not None:
        made.store.revision = revision - 1
    connect(made)
    for obj in objects:
        kind = registry().by_gvk(obj.get("apiVersion", ""), obj.get("kind", ""))
        if kind is not None:
            made.store.put(kind.resource, dict(obj))
    return made
