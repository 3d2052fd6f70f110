"""Declarations: what one module of `env_core/kinds` says about its resource.

The five questions, in this order, for every kind: identity, defaults, validation, columns, describe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from env_core.objects.problems import Problem
from env_core.world import Object

DEFAULT_FIELD_LABELS = ("metadata.name", "metadata.namespace")
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Reader(Protocol):
    """Read access to the rest of the cluster, for `describe`; every call is an API request."""

    @property
    def now_ms(self) -> int:
        """The client's clock, milliseconds since the Unix epoch."""

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return the object, or None when it is absent or may not be read."""

    def events(self, obj: Object) -> list[Object]:
        """Return the events about `obj` (involvedObject uid, name, namespace), in the server's order."""

    def list(
        self, resource: str, namespace: str, label_selector: str = "", field_selector: str = ""
    ) -> list[Object]:
        """Return the matching objects sorted by namespace and name; empty when they may not be read."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the server-side Table. `priority` 1 shows with -o wide only.

    `cell` gets the object and the server's clock in milliseconds; it returns a string, an integer or a
    boolean, as `columnDefinitions[].type` says.
    """

    name: str
    cell: Callable[[Object, int], Any]
    type: str = "string"
    format: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the `scale` subresource finds its numbers (dotted paths)."""

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    label_selector: str = "spec.selector"


@dataclass(frozen=True, slots=True)
class Conversion:
    """Between the stored form of a kind and the one of another version; both functions leave their input alone."""

    to: Callable[[Object], Object]
    back: Callable[[Object], Object]


@dataclass(frozen=True, slots=True)
class SubresourceWrite:
    """The strategy of a subresource that writes part of the object: both get (new, old).

    `prepare` returns `old` with what the subresource may change; `validate` judges the result.
    """

    prepare: Callable[[Object, Object], Object]
    validate: Callable[[Object, Object], list[Problem]]


def unchanged(obj: Object) -> Object:
    """Return `obj` as it is: the default for hooks that have nothing to do."""
    return obj


def unchanged_update(new: Object, _old: Object) -> Object:
    """Return `new` as it is."""
    return new


def no_problems(_obj: Object) -> list[Problem]:
    """Find nothing wrong."""
    return []


def no_update_problems(_new: Object, _old: Object) -> list[Problem]:
    """Find nothing wrong with the change."""
    return []


def no_warnings(_obj: Object) -> list[str]:
    """Warn of nothing."""
    return []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One resource: identity, defaults, validation, columns, describe.

    `default` is scheme defaulting (idempotent); `prepare_create` and `prepare_update` are the
    registry strategy's hooks, run after defaulting and before validation: what a client may not set is
    dropped there. The generic part is the server's: metadata, generation (`has_generation`: 1 on create,
    +1 when anything but metadata and status changes), and status, which only the subresource may write
    (`has_status`). `default`, `prepare_*` return new objects and never mutate their input; values they do
    not change are shared.

    `validate` sees the whole prepared object except `metadata`, whose generic rules are the server's;
    `validate_name` gives name rules that differ from a DNS subdomain. `validate_update` gets (new, old) and
    includes what `validate` would say of new where upstream does so; when it is None the server runs
    `validate(new)`. `validate_status` gets (new, old) of a status write.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    is_namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[str, ...] = ("status",)
    has_status: bool = True
    has_generation: bool = False
    scale: Scale | None = None
    default: Callable[[Object], Object] = unchanged
    prepare_create: Callable[[Object], Object] = unchanged
    prepare_update: Callable[[Object, Object], Object] = unchanged_update
    prepare_status: Callable[[Object, Object], Object] = unchanged_update
    validate_name: Callable[[str, bool], list[str]] | None = None
    validate: Callable[[Object], list[Problem]] = no_problems
    validate_update: Callable[[Object, Object], list[Problem]] | None = None
    validate_status: Callable[[Object, Object], list[Problem]] = no_update_problems
    warnings: Callable[[Object], list[str]] = no_warnings
    field_labels: tuple[str, ...] = DEFAULT_FIELD_LABELS
    field_values: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    """Field labels that are not simply the text of the field that they name (unset numbers and truths have a value)."""
    columns: tuple[Column, ...] = ()
    describe: Callable[[Object, Reader, bool], str] | None = None
    source: str
    unrecorded: str = ""
    grace: Callable[[Object], int] | None = None
    writes: Mapping[str, SubresourceWrite] = field(default_factory=dict)
    """Subresources with a strategy of their own ("resize", "ephemeralcontainers", "finalize")."""
    has_counted_annotations: bool = False
    """Whether a change of annotations raises the generation (Deployments)."""
    aliases: tuple[tuple[str, str], ...] = field(default=())
    """The (apiVersion, kind) of other versions in which the same objects are served."""
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    """How to convert, by such an apiVersion; versions without an entry differ in nothing else."""
    deprecation: str = ""
    """The warning that comes with every answer about a deprecated resource, reads and refusals included."""

    api_version: str = field(init=False)
    """The apiVersion of objects of this kind."""
    resource: str = field(init=False)
    """The group-qualified plural, "deployments.apps"; just "pods" for the core group."""

    def __post_init__(self) -> None:
        # Computed once: every request asks for them several times.
        object.__setattr__(
            self, "api_version", f"{self.group}/{self.version}" if self.group else self.version
        )
        object.__setattr__(self, "resource", f"{self.plural}.{self.group}" if self.group else self.plural)
