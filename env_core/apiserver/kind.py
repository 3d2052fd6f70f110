"""Declarations: what one module of `env_core/kinds` says about its resource.

The five questions, in this order, for every kind: identity, defaults, validation, columns, describe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from env_core.apiserver.request import Identity
from env_core.apiserver.schema import StructType
from env_core.objects.problems import Problem
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.store import Store

Coerce = Callable[[Object], tuple[Object, list[str]]]
"""Fits an object to a schema: returns it without unknown fields, and their paths; raises `ValueRefused`."""

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
    """Where the `scale` subresource finds its numbers (dotted paths).

    `label_selector` leads to a selector, or to its text; "" when there is none. `is_declared` is for kinds whose
    definition declares the paths: their own validation judges the numbers, and replicas must be there to be read.
    """

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    label_selector: str = "spec.selector"
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class SubresourceWrite:
    """The strategy of a subresource that writes part of the object: both get (new, old).

    `prepare` returns `old` with what the subresource may change; `validate` judges the result.
    """

    prepare: Callable[[Object, Object], Object]
    validate: Callable[[Object, Object], list[Problem]]


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """How a resource that is another form of a stored one is turned into that one, and back.

    `resource` is the group-qualified plural that the objects are stored under. Both functions return new
    objects, apiVersion and kind included, and never mutate their input.
    """

    resource: str
    to_stored: Callable[[Object], Object]
    from_stored: Callable[[Object], Object]


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


def no_kinds(_obj: Object) -> tuple[Kind, ...]:
    """Define nothing."""
    return ()


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

    A kind with a `conversion` is another form (version or group) of a stored one: it declares its identity and
    the conversion; defaults, validation, columns and describe are those of the stored kind (`converting.py`).
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
    signed_by: Callable[[Object, Identity], Object] | None = None
    """What becomes of a new object by who creates it, after `prepare_create`."""
    prepare_update: Callable[[Object, Object], Object] = unchanged_update
    prepare_status: Callable[[Object, Object], Object] = unchanged_update
    validate_name: Callable[[str, bool], list[str]] | None = None
    validate: Callable[[Object], list[Problem]] = no_problems
    validate_update: Callable[[Object, Object], list[Problem]] | None = None
    validate_status: Callable[[Object, Object], list[Problem]] = no_update_problems
    warnings: Callable[[Object], list[str]] = no_warnings
    update_warnings: Callable[[Object, Object], list[str]] | None = None
    """What to warn of on an update, from (new, old); None means `warnings(new)`."""
    field_labels: tuple[str, ...] = DEFAULT_FIELD_LABELS
    field_values: Mapping[str, Callable[[Object], str]] = field(default_factory=dict)
    """Field labels that are not simply the text of the field that they name (unset numbers and truths have a value)."""
    columns: tuple[Column, ...] = ()
    describe: Callable[[Object, Reader, bool], str] | None = None
    source: str
    unrecorded: str = ""
    grace: Callable[[Object], int] | None = None
    returns_deleted: bool = False
    """Whether a delete that is done at once answers the object rather than a Status."""
    creates_on_update: bool = False
    """Whether an update of an absent object creates it."""
    writes: Mapping[str, SubresourceWrite] = field(default_factory=dict)
    """Subresources with a strategy of their own ("resize", "ephemeralcontainers", "finalize")."""
    has_counted_annotations: bool = False
    """Whether a change of annotations raises the generation (Deployments)."""
    conversion: Conversion | None = None
    computed: Callable[[Store], list[Object]] | None = None
    """Objects that are there without being stored, found when somebody reads; a stored one of the same name hides them."""
    columns_of_list: Callable[[Sequence[Object]], tuple[Column, ...]] | None = None
    """The columns of a list, where a cell depends on the other objects; None for `columns`."""
    row_order: Callable[[Object], Any] | None = None
    """How the rows of a Table are sorted; None for the order of the list."""
    convert: Callable[[Object], Object] = unchanged
    """What becomes of write-only fields when the versioned type is converted: before that, nobody manages them."""
    deprecation: str = ""
    """The warning that comes with every answer about a deprecated resource, reads and refusals included."""
    has_free_finalizers: bool = False
    """Whether finalizers need no domain (kinds outside of the core's own registries)."""
    stamp_status: Callable[[Object, Object, int], Object] | None = None
    """What the server makes of a status write, (new, old), at a time: moments that nobody manages."""
    prepare_delete: Callable[[Object, int], Object] | None = None
    """What the first request to delete makes of the object, at a time, in place of deleting it."""

    # Kinds that objects define (CustomResourceDefinitions), and what only such kinds need.
    defines: Callable[[Object], tuple[Kind, ...]] = no_kinds
    """The kinds that an object of this kind adds to the API."""
    list_kind: str = ""
    """The kind of lists, when it is not the kind and "List"."""
    struct: StructType | None = None
    """The fields of objects, when no built-in type has them."""
    coerce: Coerce | None = None
    """Fits a body to the schema of a kind without a built-in type."""
    read: Callable[[Object], Object] | None = None
    """From an object as it is stored, maybe in another version, to one of this version."""
    to_storage: Callable[[Object], Object] | None = None
    """From an object of this version to the one that is stored; None when that is the same."""
    conversion_client: Object | None = None
    """The webhook that brings objects from one version into another; None where only the version's name differs."""
    storage_version: str = ""
    """The apiVersion that objects are stored in, when that is another one."""
    refuses_create: str = ""
    """Why no object may be created any more."""
    is_other_version: bool = False
    """Whether clients that name no version use another one."""
    served_by: Kind | None = None
    """The kind that answers requests in place of this one, which only discovery shows."""

    api_version: str = field(init=False)
    """The apiVersion of objects of this kind."""
    is_preferred: bool = field(init=False)
    """Whether the version is the one that the group prefers."""
    resource: str = field(init=False)
    """How requests name the resource: the group-qualified plural, "deployments.apps"; just "pods" for the core group.

    A version that is not the preferred one has it in between, "horizontalpodautoscalers.v1.autoscaling".
    """

    def __post_init__(self) -> None:
        # Computed once: every request asks for them several times.
        object.__setattr__(
            self, "api_version", f"{self.group}/{self.version}" if self.group else self.version
        )
        resource = f"{self.plural}.{self.group}" if self.group else self.plural
        is_preferred = not self.is_other_version and (
            self.conversion is None or self.conversion.resource != resource
        )
        if not is_preferred:
            resource = f"{self.plural}.{self.version}.{self.group}"
        object.__setattr__(self, "is_preferred", is_preferred)
        object.__setattr__(self, "resource", resource)
