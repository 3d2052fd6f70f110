"""The declaration of an admission plugin and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from env_core.apiserver.kind import Kind
from env_core.apiserver.request import Identity, Options
from env_core.apiserver.store import Store
from env_core.sim.rng import Streams
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


class Attributes(NamedTuple):
    """One write, as admission sees it. `object` is None for deletes, `old` is None for creates.

    `store` is for reading only. `server` is where the write came in, for the plugins that ask its authorizer,
    send requests through the network, or have something to remark.
    """

    operation: str
    kind: Kind
    namespace: str
    name: str
    subresource: str
    object: Object | None
    old: Object | None
    identity: Identity
    options: Options
    store: Store
    streams: Streams
    now_ms: int
    server: ApiServer | None = None
    is_again: bool = False
    """Whether the mutating plugins look at the write a second time, because a webhook or policy changed it."""


Mutate = Callable[[Attributes], Object]
Validate = Callable[[Attributes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """An admission plugin.

    `resources` are group-qualified plurals ("" matches all); `operations` are CREATE, UPDATE, DELETE.
    `subresources` are those the plugin looks at ("" is the object itself). `mutate` returns the object to
    go on with; `validate` raises `StatusError` to refuse. `order` is the place in upstream's default chain.
    """

    name: str
    order: int
    operations: tuple[str, ...]
    resources: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ("",)
    mutate: Mutate | None = None
    validate: Validate | None = None
    source: str

    def handles(self, operation: str, resource: str, subresource: str) -> bool:
        """Whether the plugin looks at such a write."""
        return (
            operation in self.operations
            and subresource in self.subresources
            and (not self.resources or resource in self.resources)
        )


class AdmissionChain:
    """The admission plugins in their order, and which of them look at which writes.

    Every write asks, and few plugins care: the answer is worked out once for each operation, resource and
    subresource.
    """

    __slots__ = ("_mutating", "_validating", "plugins")

    def __init__(self, plugins: Iterable[Admission]) -> None:
        self.plugins = tuple(sorted(plugins, key=lambda plugin: (plugin.order, plugin.name)))
        self._mutating: dict[tuple[str, str, str], tuple[Mutate, ...]] = {}
        self._validating: dict[tuple[str, str, str], tuple[Validate, ...]] = {}

    def mutating(self, operation: str, resource: str, subresource: str) -> tuple[Mutate, ...]:
        """Return the mutating halves of the plugins that look at such a write."""
        key = (operation, resource, subresource)
        found = self._mutating.get(key)
        if found is None:
            found = self._mutating[key] = tuple(
                plugin.mutate for plugin in self.plugins if plugin.mutate is not None and plugin.handles(*key)
            )
        return found

    def validating(self, operation: str, resource: str, subresource: str) -> tuple[Validate, ...]:
        """Return the validating halves of the plugins that look at such a write."""
        key = (operation, resource, subresource)
        found = self._validating.get(key)
        if found is None:
            found = self._validating[key] = tuple(
                plugin.validate
                for plugin in self.plugins
                if plugin.validate is not None and plugin.handles(*key)
            )
        return found
