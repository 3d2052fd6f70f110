"""The kinds that one API server serves, found by any of the names that people and manifests use."""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.converting import completed
from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import resources


class Registry:
    """An immutable set of kinds with its lookups.

    `kinds` has one kind for each resource, in the version that its group prefers; `others` are their other versions.
    """

    __slots__ = ("_by_gvk", "_by_name", "_by_place", "_by_resource", "kinds", "others")

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
        self.others = tuple(kind for kind in served if not kind.is_preferred)
        self._by_resource: dict[str, Kind] = {}
        self._by_gvk: dict[tuple[str, str], Kind] = {}
        self._by_name: dict[str, Kind] = {}
        self._by_place = {(kind.group, kind.version, kind.plural): kind for kind in served}
        for kind in served:
            self._by_resource.setdefault(kind.resource, kind)
            self._by_gvk[(kind.api_version, kind.kind)] = kind
            for version, name in kind.aliases:
                self._by_gvk.setdefault((version, name), kind)
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
