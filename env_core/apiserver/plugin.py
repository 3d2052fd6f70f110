"""The declaration of an admission plugin and what it sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.apiserver.kind import Kind
from env_core.apiserver.request import Identity, Options
from env_core.apiserver.store import Store
from env_core.sim.rng import Streams
from env_core.world import Object


@dataclass(frozen=True, slots=True)
class Attributes:
    """One write, as admission sees it. `object` is None for deletes, `old` is None for creates.

    `store` is for reading only.
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
