"""Field specs: which field of which kind, found or made, and what is done with it.

Source: sigs.k8s.io/kustomize/api filters/fieldspec, filters/filtersutil, types (fieldspec.go); kyaml utils.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from env_core.kubectl.kustomize.ids import Gvk
from env_core.kubectl.kustomize.merging import wrong_kind
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import MISSING, is_null, is_scalar

Place = tuple[Any, Any]
"""A map or list, and the key or index of a node in it."""
Setter = Callable[[Any, Any], None]
"""Does something with the node at a place, given as container and key."""
SCALAR: Final = "scalar"
MAPPING: Final = "mapping"
EVERY: Final = Gvk()
"""Selects every kind."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A path in the objects of some kinds; `creates` lets missing fields be made."""

    path: str
    gvk: Gvk = EVERY
    creates: bool = False


def merge_specs(specs: Iterable[FieldSpec], more: Iterable[FieldSpec]) -> list[FieldSpec]:
    """Return field specs with those of `more` that are not among them.

    Raises:
        KustomizeError: when two differ in what they create.
    """
    merged = list(specs)
    for spec in more:
        same = next((one for one in merged if one.path == spec.path and one.gvk.is_selected(spec.gvk)), None)
        if same is None:
            merged.append(spec)
        elif same.creates != spec.creates:
            raise KustomizeError("conflicting fieldspecs")
    return merged


def split_path(path: str, delimiter: str = "/") -> list[str]:
    """Return the parts of a path; a delimiter behind a backslash belongs to its part."""
    parts = path.split(delimiter)
    if len(parts) > 1 and parts[0] == "":
        parts = parts[1:]
    found = [parts[0]]
    for part in parts[1:]:
        if found[-1].endswith("\\"):
            found[-1] = found[-1][:-1] + delimiter + part
        else:
            found.append(part)
    return found


def apply_spec(resource: Resource, spec: FieldSpec, setter: Setter, kind: str = "") -> None:
    """Call `setter` with every place that a field spec means; `kind` is what a missing field is made as.

    Raises:
        KustomizeError: when the way is no map or list, or the setter refuses.
    """
    if not resource.gvk.is_selected(spec.gvk):
        return
    walk = _Walk(setter, kind if spec.creates else "")
    try:
        walk.visit({"": resource.tree}, "", split_path(spec.path))
    except KustomizeError as error:
        raise error.within(f"considering field '{spec.path}' of object {resource.id}") from None


@dataclass(frozen=True, slots=True)
class _Walk:
    setter: Setter
    kind: str

    def visit(self, container: Any, key: Any, path: list[str]) -> None:
        node = container[key]
        if not path:
            self.setter(container, key)
        elif is_null(node):
            return
        elif isinstance(node, list):
            try:
                for index in range(len(node)):
                    self.visit(node, index, path)
            except KustomizeError as error:
                raise error.within(f"visit traversal on path: [{' '.join(path)}]") from None
        elif isinstance(node, dict):
            self._visit_field(node, path)
        else:
            raise KustomizeError("expected sequence or mapping node")

    def _visit_field(self, node: dict[str, Any], path: list[str]) -> None:
        name = path[0].removesuffix("[]")
        is_list = name != path[0]
        if not name:
            raise KustomizeError("cannot set or create an empty field name")
        made: Any = MISSING
        if is_list:
            made = []
        elif self.kind:
            made = {} if len(path) > 1 or self.kind == MAPPING else ""
        if name not in node:
            if is_list or not self.kind:
                return
            node[name] = made
        elif is_null(node[name]) and made is not MISSING:
            node[name] = made
        self.visit(node, name, path[1:])


def set_scalar(value: Any) -> Setter:
    """Return the setter of a scalar.

    Raises (when called):
        KustomizeError: where the node is none.
    """

    def setter(container: Any, key: Any) -> None:
        node = container[key]
        if not is_scalar(node):
            raise KustomizeError(wrong_kind("ScalarNode", node))
        container[key] = value

    return setter


def set_entry(name: str, value: str) -> Setter:
    """Return the setter of one member of a map.

    Raises (when called):
        KustomizeError: where the node is no map.
    """

    def setter(container: Any, key: Any) -> None:
        node = container[key]
        if is_null(node):
            return
        if not isinstance(node, dict):
            raise KustomizeError(wrong_kind("MappingNode", node))
        node[name] = value

    return setter


def spec_of(row: dict[str, Any]) -> FieldSpec:
    """Return a field spec as configurations write it."""
    gvk = Gvk(row.get("group") or "", row.get("version") or "", row.get("kind") or "")
    return FieldSpec(row.get("path") or "", gvk, bool(row.get("create")))
