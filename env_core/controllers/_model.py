"""The declaration of a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.apiserver.request import ADMIN, Identity
from env_core.world import Object

_ACCOUNT_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")


class Key(NamedTuple):
    """What a controller works on: one object of its own resource."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Requeue:
    """Ask for another look after `after_ms`, whatever happens meanwhile."""

    after_ms: int


Mapper = Callable[[Object, Component], Iterable[Key]]
"""From a changed object (new and old are both mapped) to the keys that must be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """A level-triggered control loop: read, compare, write the difference; never react to what changed.

    `watches` maps group-qualified plurals to functions from objects to keys. `identity` is the service
    account's name in kube-system when it is not `<name>-controller`. `delay_ms` is the time from a change
    to the reconcile (informer and queue latency; recorded controllers act within some ten milliseconds).
    """

    name: str
    watches: tuple[tuple[str, Mapper], ...]
    reconcile: Callable[[Component, Key], Requeue | None]
    source: str
    identity: str = ""
    user: str = ""
    """A user with all rights that it acts as instead of a service account."""
    component: str = ""
    """The event source, when it is not `<name>-controller`."""
    delay_ms: int = 10
    batched: tuple[tuple[str, Mapper], ...] = ()
    """Further watches, of changes that wait for others to be handled with them: a reconcile comes after `batch_ms`."""
    batch_ms: int = 1_000

    def routes(self) -> Iterator[tuple[str, int, Mapper]]:
        """Yield for each watch the resource, how long after a change the reconcile is due, and the mapper."""
        for resource, mapper in self.watches:
            yield resource, self.delay_ms, mapper
        for resource, mapper in self.batched:
            yield resource, self.batch_ms, mapper

    def actor(self) -> Identity:
        """Return who it is to the API server."""
        if self.user:
            return Identity(self.user, ADMIN.groups)
        account = self.identity or f"{self.name}-controller"
        return Identity(f"system:serviceaccount:kube-system:{account}", _ACCOUNT_GROUPS)


CUSTOM_RESOURCES = "*"
"""In `watches`, in place of a plural: every resource that is not built in."""


def own_key(obj: Object, _component: Component) -> tuple[Key, ...]:
    """Map an object to its own key."""
    metadata = obj["metadata"]
    return (Key(metadata.get("namespace", ""), metadata["name"]),)


def controller_key(kind: str) -> Mapper:
    """Return a mapper from an object to its controlling owner, if that is of `kind`."""

    def mapper(obj: Object, _component: Component) -> tuple[Key, ...]:
        metadata = obj["metadata"]
        for owner in metadata.get("ownerReferences", ()):
            if owner.get("controller") and owner["kind"] == kind:
                return (Key(metadata.get("namespace", ""), owner["name"]),)
        return ()

    return mapper
