"""The kinds that one API server serves, found by any of the names that people and manifests use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from env_core.apiserver.converting import completed
from env_core.apiserver.kind import Kind, no_kinds
from env_core.apiserver.schema import resources
from env_core.apiserver.store import Store


class Kinds(Protocol):
    """What an API serves."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Every resource's kind, in its preferred version, in discovery order."""

    def by_resource(self, resource: str) -> Kind | None:
        """Return the kind of a plural or group-qualified plural, as requests name it."""

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that the API serves at a group, version and plural."""

    def find(self, name: str) -> Kind | None:
        """Return the kind for a plural, singular, short name, Kind or group-qualified form of them."""

    def by_gvk(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of a manifest."""

    def api_versions(self) -> tuple[str, ...]:
        """Return every served "group/version", sorted."""

    def all(self) -> tuple[Kind, ...]:
        """Return every resource's kind, in its preferred version, in discovery order."""

    def snapshot(self) -> Registry:
        """Return what is served now, as it stays."""


class Registry:
    """An immutable set of kinds with its lookups.

    `kinds` has one kind for each resource, in the version that its group prefers; `others` are their other versions.
    """

    __slots__ = ("_by_gvk", "_by_name", "_by_place", "_by_resource", "definers", "kinds", "others")

    def __init__(self, kinds: Iterable[Kind]) -> None:
        groups = dict.fromkeys(row["group"] for row in resources())
        rank = {group: index for index, group in enumerate(groups)}
        declared = sorted(kinds, key=lambda kind: (rank.get(kind.group, len(rank)), kind.group, kind.plural))
        stored = {kind.resource: kind for kind in declared if kind.conversion is None}
        served = [
            kind if kind.conversion is None else completed(kind, stored[kind.conversion.resource])
            for kind in declared
            if kind.conversion is None or kind.conversion.resource in stored
        ]
        self.kinds = tuple(kind for kind in served if kind.is_preferred)
        self.definers = tuple(kind.resource for kind in served if kind.defines is not no_kinds)
        """The resources whose objects define kinds."""
        self.others = tuple(kind for kind in served if not kind.is_preferred)
        self._by_resource: dict[str, Kind] = {}
        self._by_gvk: dict[tuple[str, str], Kind] = {}
        self._by_name: dict[str, Kind] = {}
        self._by_place = {(kind.group, kind.version, kind.plural): kind for kind in served}
        for kind in served:
            self._by_resource.setdefault(kind.resource, kind)
            self._by_gvk[(kind.api_version, kind.kind)] = kind
        for kind in (*self.kinds, *self.others):
            self._by_resource.setdefault(kind.plural, kind)
            singular = kind.singular or kind.kind.lower()
            for name in (kind.plural, singular, *kind.short_names):
                self._by_name.setdefault(name, kind)
                if kind.group:
                    self._by_name.setdefault(f"{name}.{kind.group}", kind)
                    self._by_name.setdefault(f"{name}.{kind.version}.{kind.group}", kind)
                else:
                    self._by_name.setdefault(f"{name}.{kind.version}.", kind)

    def by_resource(self, resource: str) -> Kind | None:
        """Return the kind of a plural or group-qualified plural, as requests name it."""
        return self._by_resource.get(resource)

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that the API serves at a group, version and plural."""
        return self._by_place.get((group, version, plural))

    def find(self, name: str) -> Kind | None:
        """Return the kind for a plural, singular, short name, Kind or group-qualified form of them."""
        return self._by_name.get(name) or self._by_name.get(name.lower())

    def by_gvk(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of a manifest."""
        return self._by_gvk.get((api_version, kind))

    def api_versions(self) -> tuple[str, ...]:
        """Return every served "group/version", sorted."""
        return tuple(sorted({kind.api_version for kind in (*self.kinds, *self.others)}))

    def all(self) -> tuple[Kind, ...]:
        """Return every resource's kind, in its preferred version, in discovery order."""
        return self.kinds

    def fresh(self) -> Registry:
        """Return this: an immutable registry does not change."""
        return self

    def snapshot(self) -> Registry:
        """Return this: an immutable registry does not change."""
        return self


class ServedKinds:
    """What one cluster serves at this moment: the built-in kinds, and those that objects in its store define.

    Definitions that say the same give the same kinds, in every cluster: forks share what has been compiled.
    """

    __slots__ = ("_builtin", "_current", "_custom", "_definers", "_revision", "_store")

    def __init__(self, builtin: Registry, store: Store) -> None:
        self._builtin = builtin
        self._store = store
        self._definers = builtin.definers
        self._current = builtin
        self._custom: tuple[Kind, ...] = ()
        self._revision = 0

    def fork(self, store: Store) -> ServedKinds:
        """Return the kinds of a forked store."""
        copy = ServedKinds(self._builtin, store)
        copy._current, copy._custom, copy._revision = self._current, self._custom, self._revision
        return copy

    def _now(self) -> Registry:
        revision = self._store.newest_write(self._definers)
        if revision != self._revision:
            self._revision = revision
            self._refresh()
        return self._current

    def _refresh(self) -> None:
        builtin = self._builtin
        custom = tuple(
            defined
            for kind in builtin.kinds
            if kind.defines is not no_kinds
            for obj in self._store.list(kind.resource)
            for defined in kind.defines(obj)
        )
        if custom != self._custom:
            self._custom = custom
            kinds = (*builtin.kinds, *builtin.others, *custom)
            self._current = Registry(kinds) if custom else builtin

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Every resource's kind, in its preferred version, in discovery order."""
        return self._now().kinds

    def by_resource(self, resource: str) -> Kind | None:
        """Return the kind of a plural or group-qualified plural, as requests name it."""
        # Every request asks: no call more than needed.
        if self._store.newest_write(self._definers) != self._revision:
            self._now()
        return self._current.by_resource(resource)

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that the API serves at a group, version and plural."""
        return self._now().at(group, version, plural)

    def find(self, name: str) -> Kind | None:
        """Return the kind for a plural, singular, short name, Kind or group-qualified form of them."""
        return self._now().find(name)

    def by_gvk(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of a manifest."""
        return self._now().by_gvk(api_version, kind)

    def api_versions(self) -> tuple[str, ...]:
        """Return every served "group/version", sorted."""
        return self._now().api_versions()

    def all(self) -> tuple[Kind, ...]:
        """Return every resource's kind, in its preferred version, in discovery order."""
        return self._now().kinds

    def fresh(self) -> ServedKinds:
        """Return this: it always tells what is served now."""
        return self

    def snapshot(self) -> Registry:
        """Return what is served now, as it stays."""
        return self._now()

    def is_builtin(self, resource: str) -> bool:
        """Whether a group-qualified plural is one that every cluster serves."""
        return self._builtin.by_resource(resource) is not None
