"""How custom resources of one version are read, defaulted, validated and stored.

Source: k8s.io/apiextensions-apiserver pkg/registry/customresource (strategy.go, status_strategy.go, validator.go),
pkg/apiserver customresource_handler.go; texts in tests/golden/l2/facts/errors and l2/kubectl/crd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.apiextensions.defaulting import default
from env_core.apiextensions.embedded import coerce, embedded_problems, read_metadata
from env_core.apiextensions.listtypes import list_problems
from env_core.apiextensions.pruning import prune, prune_nulls
from env_core.apiextensions.rules import RuleEngine, rule_warnings, validate_rules
from env_core.apiextensions.structural import Structural
from env_core.apiextensions.values import problems_of
from env_core.apiserver.kind import Scale
from env_core.objects import names
from env_core.objects.goformat import type_name, value_text
from env_core.objects.problems import (
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    Problem,
    invalid,
    quoted,
)
from env_core.world import Object

_BLOCKING: Final = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_UNCHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_INT32_MAX: Final = 2**31 - 1
_STANDARD_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_PREFER: Final = "prefer a domain-qualified finalizer name"


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rules of one version of a custom resource; its methods are the hooks of a `Kind`."""

    api_version: str
    kind: str
    schema: Structural
    scale: Scale | None
    has_status: bool
    storage: Strategy | None = None
    """The strategy of the version that is stored, when that is another one."""
    engine: RuleEngine | None = None
    """What evaluates validation rules; without one they are not evaluated."""

    def coerce(self, obj: Object) -> tuple[Object, list[str]]:
        """Return a body without fields that the schema does not know, and the paths of those.

        Raises:
            ValueRefused: metadata cannot be read.
        """
        metadata, unknown = obj.get("metadata"), list[str]()
        if metadata is not None:
            metadata, complaints = read_metadata(metadata)
            unknown = [f"metadata.{text.partition(chr(34))[2].rstrip(chr(34))}" for text in complaints]
        if (obj.get("apiVersion"), obj.get("kind")) == (self.api_version, self.kind):
            obj, pruned = prune(obj, self.schema)
            obj = prune_nulls(obj, self.schema)
            dropped: list[str] = []
            obj = coerce(obj, self.schema, "", dropped)
            unknown += [*pruned, *sorted(dropped)]
        return (obj if metadata is None else {**obj, "metadata": metadata}), unknown

    def default(self, obj: Object) -> Object:
        """Return an object with the schema's defaults."""
        defaulted: Object = default(obj, self.schema)
        return defaulted

    def read(self, stored: Object) -> Object:
        """Return a stored object in this version."""
        return self.default(self.convert(stored))

    def convert(self, obj: Object) -> Object:
        """Return an object of any version as one of this version, without fields that are unknown here."""
        if obj.get("apiVersion") != self.api_version:
            obj = {**obj, "apiVersion": self.api_version}
        pruned: Object = prune(obj, self.schema)[0]
        return pruned

    def to_storage(self, obj: Object) -> Object:
        """Return the object that is stored."""
        return obj if self.storage is None else self.storage.convert(obj)

    def validate(self, obj: Object) -> list[Problem]:
        """Return what is wrong with a new object, but for its metadata."""
        found = [
            *problems_of(self.schema, obj),
            *self._replicas_problems(obj),
            *self._status_scale_problems(obj),
            *embedded_problems(self.schema, obj),
            *list_problems(self.schema, obj),
        ]
        return [*found, *self._rule_problems(found, obj, None)]

    def validate_update(self, new: Object, old: Object) -> list[Problem]:
        """Return what is wrong with a changed object, but for its metadata and what was wrong before."""
        found = [
            *problems_of(self.schema, new, old=old),
            *self._replicas_problems(new),
            *self._status_scale_problems(new),
            *embedded_problems(self.schema, new),
        ]
        if not list_problems(self.schema, old):
            found += list_problems(self.schema, new)
        return [*found, *self._rule_problems(found, new, old)]

    def update_warnings(self, new: Object, old: Object) -> list[str]:
        """Return warnings about a changed object: finalizers that were added, and rules that what stayed breaks."""
        return [*new_finalizer_warnings(new, old), *rule_warnings(self.schema, new, old, self.engine)]

    def validate_status(self, new: Object, old: Object) -> list[Problem]:
        """Return what is wrong with a changed status."""
        found: list[Problem] = []
        schema = self.schema.properties.get("status")
        if schema is not None and "status" in new:
            found += problems_of(schema, new["status"], old=old.get("status"), prefix="status")
        found += self._status_scale_problems(new)
        if not list_problems(self.schema, old):
            found += list_problems(self.schema, new)
        return [*found, *self._rule_problems(found, new, old)]

    def _rule_problems(self, found: list[Problem], new: Object, old: Object | None) -> list[Problem]:
        if not self.schema.has_rules:
            return []
        if any(problem.reason in _BLOCKING for problem in found):
            return [invalid("<nil>", None, _UNCHECKED)]
        return validate_rules(self.schema, new, old, self.engine)

    def _replicas_problems(self, obj: Object) -> list[Problem]:
        return [] if self.scale is None else _count_problems(obj, self.scale.spec_replicas)

    def _status_scale_problems(self, obj: Object) -> list[Problem]:
        if self.scale is None:
            return []
        found = _count_problems(obj, self.scale.status_replicas)
        if self.scale.label_selector:
            path = self.scale.label_selector
            value, why = _nested(obj, path, "string")
            if why:
                found.append(invalid(f".{path}", "", why))
            del value
        return found


def keep_metadata(new: Object, old: Object) -> Object:
    """Return `new` with the metadata of `old`: a status write changes nothing but the status."""
    return {**new, "metadata": old["metadata"]}


def finalizer_warnings(obj: Object) -> list[str]:
    """Return warnings about finalizers whose names may clash with those of others."""
    return _finalizer_warnings(set(obj["metadata"].get("finalizers") or ()))


def new_finalizer_warnings(new: Object, old: Object) -> list[str]:
    """Return warnings about finalizers that an update adds."""
    added = {*(new["metadata"].get("finalizers") or ())} - {*(old["metadata"].get("finalizers") or ())}
    return _finalizer_warnings(added)


def _finalizer_warnings(finalizers: set[str]) -> list[str]:
    found: list[str] = []
    for name in sorted(finalizers):
        where = f"metadata.finalizers: {quoted(name)}:"
        found += [f"{where} {text}" for text in names.is_qualified_name(name)]
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            more = " including a path (/)" if "." in name else ""
            found.append(
                f"{where} {_PREFER}{more} to avoid accidental conflicts with other finalizer writers"
            )
    return found


def _count_problems(obj: Object, path: str) -> list[Problem]:
    value, why = _nested(obj, path, "int64")
    if why:
        return [invalid(f".{path}", 0, why)]
    if value is None or 0 <= value <= _INT32_MAX:
        return []
    if value < 0:
        return [invalid(f".{path}", value, "should be a non-negative integer")]
    return [invalid(f".{path}", value, f"should be less than or equal to {_INT32_MAX}")]


def _nested(obj: Object, path: str, wanted: str) -> tuple[Any, str]:
    """Return the value at a path, None when there is none, and why it cannot be had.

    Source: k8s.io/apimachinery pkg/apis/meta/v1/unstructured helpers.go NestedFieldNoCopy.
    """
    value: Any = obj
    parts = path.split(".")
    for index, part in enumerate(parts):
        if value is None:
            return None, ""
        if not isinstance(value, dict):
            what = f"{value_text(value)} is of the type {type_name(value)}, expected map[string]interface{{}}"
            return None, f".{'.'.join(parts[: index + 1])} accessor error: {what}"
        if part not in value:
            return None, ""
        value = value[part]
    if type_name(value) == wanted:
        return value, ""
    what = f"{value_text(value)} is of the type {type_name(value)}, expected {wanted}"
    return None, f".{path} accessor error: {what}"
