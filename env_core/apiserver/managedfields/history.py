"""What writes leave beside an object, from which its managers are worked out when somebody wants to see them.

A write keeps a node: who wrote, when, and the object before and after. Nodes are chained and resolved, oldest first, at the
first look; a resolved node remembers the managers and lets go of everything before it. Nodes never change what they mean,
so that forks share them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.applying import visible
from env_core.apiserver.managedfields.managers import (
    UPDATE,
    Managed,
    decoded_or_none,
    encoded,
    is_reset,
    manager_of,
    updated,
)
from env_core.apiserver.managedfields.mergetypes import MergeType, type_of, type_of_struct
from env_core.apiserver.managedfields.walking import compare
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import IGNORE, decode
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

LENGTH_MAX: Final = 256
"""Nodes that wait at most: then they are resolved, so that an object keeps no more versions than that."""
NAME_LENGTH_MAX: Final = 128


class Write:
    """One write to an object: the node of the chain.

    `before` is the stored object that it changed, None when it created one; `sent` what it made of it before admission,
    whose changes nobody manages. `given` are managedFields that the client sent itself. `before` and `previous` are the
    store's to fill in.
    """

    __slots__ = (
        "_entries", "_managed", "at_ms", "before", "given", "kind", "length", "manager", "previous", "sent", "subresource",
    )  # fmt: skip

    def __init__(
        self,
        manager: str,
        subresource: str,
        kind: Kind,
        at_ms: int,
        sent: Object | None,
        given: Any = None,
    ) -> None:
        self.manager = manager
        self.subresource = subresource
        self.kind = kind
        self.at_ms = at_ms
        self.sent = sent
        self.given = given
        self.before: Object | None = None
        self.previous: Write | None = None
        self.length = 1
        self._managed: Managed | None = None
        self._entries: list[Object] | None = None

    def follow(self, previous: Write | None, before: Object | None) -> None:
        """Put the node behind the one before it."""
        if self._managed is not None:
            return
        self.before = before
        if previous is not None:
            self.previous = previous
            self.length = previous.length + 1
            if self.length > LENGTH_MAX:
                self.managed()

    def managed(self) -> Managed:
        """Return the managers after this write."""
        waiting: list[Write] = []
        node: Write | None = self
        while node is not None and node._managed is None:
            waiting.append(node)
            node = node.previous
        managed = None if node is None else node._managed
        for each in reversed(waiting):
            managed = each._resolve(managed)
        assert self._managed is not None
        return self._managed

    def entries(self) -> list[Object]:
        """Return the managers after this write as managedFields. Never to be changed."""
        if self._entries is None:
            self._entries = encoded(self.managed())
        return self._entries

    def _resolve(self, before: Managed | None) -> Managed:
        assert self.sent is not None
        managed = decoded_or_none(_inline(self.before)) if before is None else before
        managed = taken_over(managed, self.given)
        if managed or self.before is None:
            kind = self.kind
            live = empty_object(kind) if self.before is None else self.before
            sent = kind.convert(self.sent)
            if self.subresource == "scale":
                live, sent = _as_scale(kind, live), _as_scale(kind, sent)
            change = visible(compare(merge_type(kind), live, sent), ignored(kind, self.subresource))
            api_version = kind.api_version
            manager = manager_of(self.manager, UPDATE, api_version, self.subresource)
            # Scale handlers keep no time: k8s.io/apimachinery pkg/util/managedfields/scalehandler.go, ToParent.
            time = "" if self.subresource == "scale" else rfc3339(self.at_ms)
            managed = updated(managed, change, manager, api_version, time)
        self._settle(managed)
        return managed

    def _settle(self, managed: Managed) -> None:
        self._managed = managed
        self.before = self.previous = self.sent = self.given = None
        self.length = 1


def _as_scale(kind: Kind, obj: Object) -> Object:
    """Return an object without replicas of 0: a Scale does not show them, so that nobody manages them."""
    path = ("spec", "replicas") if kind.scale is None else tuple(kind.scale.spec_replicas.split("."))
    return _without_zero(obj, path)


def _without_zero(obj: Object, path: tuple[str, ...]) -> Object:
    name, *rest = path
    inner = obj.get(name)
    if rest:
        if not isinstance(inner, dict):
            return obj
        left = _without_zero(inner, tuple(rest))
        return obj if left is inner else {**obj, name: left}
    return obj if inner != 0 else {key: value for key, value in obj.items() if key != name}


def settled(kind: Kind, managed: Managed) -> Write:
    """Return the node of a write whose managers are known already: a server-side apply."""
    node = Write("", "", kind, 0, None)
    node._settle(managed)
    return node


def merge_type(kind: Kind) -> MergeType:
    """Return how the objects of a kind merge, in the version that is stored."""
    if kind.struct is not None:
        return type_of_struct(kind.struct)
    group, _, version = kind.api_version.rpartition("/")
    return type_of(group, version, kind.kind)


def ignored(kind: Kind, subresource: str) -> tuple[str, ...]:
    """Return the top-level elements that a request may not set, and that therefore are not managed by it.

    Source: GetResetFields of the strategies in k8s.io/kubernetes pkg/registry.
    """
    if not subresource:
        return ("f:status",) if kind.has_status else ()
    return ("f:spec",) if subresource == "status" else ()


def taken_over(managed: Managed, given: Any) -> Managed:
    """Return the managers that an update starts from: those of the live object, unless the client sent others.

    Source: k8s.io/apimachinery pkg/util/managedfields/internal/fieldmanager.go, decodeLiveOrNew.
    """
    if given is None:
        return managed
    if is_reset(given):
        return {}
    return decoded_or_none(given) or managed


def managed_of(written: Write | None, obj: Object) -> Managed:
    """Return the managers of a stored object."""
    return decoded_or_none(_inline(obj)) if written is None else written.managed()


def with_managed_fields(obj: Object, written: Write | None) -> Object:
    """Return a stored object with its metadata.managedFields, as clients see it."""
    if written is None:
        return obj
    entries = written.entries()
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    return {**obj, "metadata": metadata}


def _inline(obj: Object | None) -> Any:
    return None if obj is None else obj["metadata"].get("managedFields")


def empty_object(kind: Kind) -> Object:
    """Return the object of a kind in which nothing is set, as its Go type has it. Never to be changed."""
    group, _, version = kind.api_version.rpartition("/")
    return _empty(group, version, kind.kind, kind.api_version)


@lru_cache(maxsize=256)
def _empty(group: str, version: str, kind: str, api_version: str) -> Object:
    empty = {"apiVersion": api_version, "kind": kind}
    if schema_for(group, version, kind) is None:
        return empty
    return decode(empty, group, version, kind, IGNORE).object


@lru_cache(maxsize=1024)
def manager_of_agent(user_agent: str) -> str:
    """Return the manager that a User-Agent stands for: what is in front of the first slash, as far as it prints.

    Source: k8s.io/apiserver pkg/endpoints/handlers/create.go, prefixFromUserAgent.
    """
    name = ""
    for char in user_agent.partition("/")[0]:
        if char.isprintable():
            if len((name + char).encode()) > NAME_LENGTH_MAX:
                break
            name += char
    return name
