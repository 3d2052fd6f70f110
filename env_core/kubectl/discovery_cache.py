"""What kubectl remembers of the types that a server has: asked anew for an unknown one, or after six hours.

So a type that has gone meanwhile is still known, and the server refuses the request for it.

Source: k8s.io/cli-runtime pkg/genericclioptions config_flags.go (discoveryCacheTTL), k8s.io/client-go
restmapper discovery.go (DeferredDiscoveryRESTMapper); tests/golden/l2/flows (crd-finalizer).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry

KEPT_MS: Final = 6 * 3_600_000


class Source(Protocol):
    """A server that tells its types."""

    def snapshot(self) -> Registry:
        """Return what is served now."""


class CachedDiscovery:
    """The types of one server as one home directory remembers them."""

    __slots__ = ("_known", "_known_ms", "_now_ms", "_source")

    def __init__(
        self, source: Source, now_ms: Callable[[], int], *, origin: CachedDiscovery | None = None
    ) -> None:
        self._source = source
        self._now_ms = now_ms
        self._known: Registry | None = origin._known if origin else None
        self._known_ms: int = origin._known_ms if origin else 0

    def _remembered(self) -> Registry:
        known = self._known
        if known is None or self._now_ms() - self._known_ms > KEPT_MS:
            return self._asked()
        return known

    def _asked(self) -> Registry:
        self._known, self._known_ms = self._source.snapshot(), self._now_ms()
        return self._known

    def find(self, name: str) -> Kind | None:
        """Return the kind for a plural, singular, short name, Kind or group-qualified form of them."""
        return self._remembered().find(name) or self._asked().find(name)

    def by_gvk(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of a manifest."""
        return self._remembered().by_gvk(api_version, kind) or self._asked().by_gvk(api_version, kind)

    def all(self) -> tuple[Kind, ...]:
        """Return every resource's kind, in its preferred version, in discovery order."""
        return self._remembered().all()

    def api_versions(self) -> tuple[str, ...]:
        """Return every served "group/version", sorted."""
        return self._remembered().api_versions()

    def fresh(self) -> CachedDiscovery:
        """Forget what is remembered, ask again, and return this."""
        self._asked()
        return self
