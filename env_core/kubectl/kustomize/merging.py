"""Strategic merge as kustomize does it: lists merge by the keys of the API's types, new items come first.

It is not the merge of `kubectl patch`: items of patches are put in front, nulls that were written out stay, and types that
are not built in have no list that merges.

Source: sigs.k8s.io/kustomize/kyaml yaml/merge2, yaml/walk, yaml/schema, openapi.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.apiserver.schema import Field, GoType, StructType, schema_for
from env_core.kubectl.kustomize.ids import gvk_of
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.sequences import append_items, set_item
from env_core.kubectl.kustomize.values import MISSING, NULL, copied, is_null, kind_name, text_of
from env_core.objects.yamlout import to_yaml

_DIRECTIVE: Final = "$patch"
_CLEAR: Final = MISSING


@dataclass(frozen=True, slots=True)
class _Schema:
    """A type, and how lists of it merge where a field says so."""

    type: GoType | StructType | None
    strategies: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def is_associative(self) -> bool:
        return "merge" in self.strategies

    def field(self, name: str) -> _Schema | None:
        """Return the schema of a member."""
        type_ = _behind_pointers(self.type)
        if isinstance(type_, GoType) and type_.kind == "map":
            return _Schema(type_.element)
        if type_ is None or type_.kind != "struct":
            return None
        struct = type_.struct if isinstance(type_, GoType) else type_
        found: Field | None = None if struct.special else struct.fields.get(name)
        if found is None:
            return None
        keys = found.map_keys or ((found.patch_merge_key,) if found.patch_merge_key else ())
        return _Schema(found.type, found.patch_strategies, keys)

    def elements(self) -> _Schema | None:
        """Return the schema of a list's items."""
        type_ = _behind_pointers(self.type)
        is_list = isinstance(type_, GoType) and type_.kind == "slice"
        return _Schema(type_.element) if is_list and isinstance(type_, GoType) else None


def _behind_pointers(type_: GoType | StructType | None) -> GoType | StructType | None:
    while isinstance(type_, GoType) and type_.kind == "ptr":
        type_ = type_.element
    return type_


def merge_patch(tree: dict[str, Any], patch: dict[str, Any]) -> Any:
    """Merge a patch into a tree, which is changed, and return it; empty when the patch deletes it.

    Raises:
        KustomizeError: when kinds of nodes differ, or a directive is unknown.
    """
    found = _walk(tree, patch, None)
    return found if isinstance(found, dict) else {}


def _walk(dest: Any, origin: Any, schema: _Schema | None) -> Any:
    """Return the merged node; `MISSING` when there is none any more."""
    schema = schema or _own_schema(dest) or _own_schema(origin)
    kind = next((kind_name(node) for node in (dest, origin) if not is_null(node)), "")
    for node in (dest, origin):
        if kind and not is_null(node) and kind_name(node) != kind:
            raise KustomizeError(wrong_kind(kind, node))
    if kind == "SequenceNode":
        if schema is not None and schema.is_associative:
            return _walk_items(dest, origin, schema)
        return dest if origin is MISSING else origin
    if kind == "ScalarNode":
        return dest if origin is MISSING else origin
    return _walk_map(dest, origin, schema)


def wrong_kind(expected: str, node: Any) -> str:
    """Return the complaint about a node of another kind."""
    content = f"{text_of(node)}\n" if kind_name(node) == "ScalarNode" else to_yaml(node)
    return f"wrong node kind: expected {expected} but got {kind_name(node)}: node contents:\n{content}"


def _own_schema(node: Any) -> _Schema | None:
    if not isinstance(node, dict):
        return None
    version, kind = text_of(node.get("apiVersion")), text_of(node.get("kind"))
    if not version or not kind:
        return None
    gvk = gvk_of(version, kind)
    found = schema_for(gvk.group, gvk.version, gvk.kind)
    return None if found is None else _Schema(found)


def _walk_map(dest: Any, origin: Any, schema: _Schema | None) -> Any:
    if is_null(dest):
        if isinstance(origin, (dict, list)) and _directive(origin) == "delete":
            return _CLEAR
        if origin is MISSING and dest is NULL:
            return NULL
        if not isinstance(origin, dict):
            return origin
        dest = origin
    elif origin is None or origin is NULL:
        return _CLEAR
    elif origin is not MISSING:
        directive = _directive(origin)
        if directive == "delete":
            return _CLEAR
        if directive == "replace":
            dest = origin
    names = {*dest, *(origin if isinstance(origin, dict) else ())}
    for name in sorted(names, key=text_of):
        theirs = origin.get(name, MISSING) if isinstance(origin, dict) else MISSING
        inner = schema.field(name) if schema is not None and isinstance(name, str) else None
        value = _walk(dest.get(name, MISSING), theirs, inner)
        if value is MISSING or (is_null(value) and not (value is NULL and theirs is MISSING)):
            dest.pop(name, None)
        else:
            dest[name] = value
    return dest


def _directive(patch: Any) -> str:
    """Return the directive of a patch's node and take it off.

    Raises:
        KustomizeError: for an unknown one.
    """
    if isinstance(patch, list):
        found = [item for item in patch if isinstance(item, dict) and _DIRECTIVE in item]
        if not found or len(found[0]) > 1:
            return "merge"
        value = text_of(found[0][_DIRECTIVE])
        _check_directive(value)
        set_item(patch, None, [_DIRECTIVE], [value])
        return value
    if not isinstance(patch, dict) or _DIRECTIVE not in patch:
        return "merge"
    value = text_of(patch[_DIRECTIVE])
    _check_directive(value)
    del patch[_DIRECTIVE]
    return value


def _check_directive(value: str) -> None:
    if value not in ("delete", "replace", "merge"):
        raise KustomizeError(f"unknown patch strategy '{value}'")


def _walk_items(dest: Any, origin: Any, schema: _Schema) -> Any:
    if is_null(dest):
        dest = origin
    elif origin is None or origin is NULL:
        return _CLEAR
    elif origin is not MISSING:
        directive = _directive(origin)
        if directive == "delete":
            return _CLEAR
        if directive == "replace":
            dest = origin
    if is_null(dest):
        return _CLEAR
    keys = list(schema.keys)
    sources = [node for node in (origin, dest) if isinstance(node, list)]
    if keys:
        values = _unique([_key_text(item, key) for key in keys] for source in sources for item in source)
    else:
        keys = [""]
        values = _unique([text_of(item)] for source in sources for item in source)
    return _merge_items(dest, origin, schema, keys, values)


def _key_text(item: Any, key: str) -> str:
    return text_of(item.get(key)) if isinstance(item, dict) else ""


def _unique(rows: Any) -> list[list[str]]:
    found: list[list[str]] = []
    for row in rows:
        if row not in found:
            found.append(row)
    return found


def _merge_items(
    dest: list[Any], origin: Any, schema: _Schema, keys: list[str], rows: list[list[str]]
) -> Any:
    inner = schema.elements()
    if len(keys) > 1:
        rows = _completed(rows)
    added: list[Any] = []
    valid_keys = keys
    valid_values: list[str]
    for values in rows:
        valid_keys, valid_values = _valid(rows, values, keys)
        own_keys, own_values = _valid([valid_values], valid_values, valid_keys)
        value = _walk(_found(dest, own_keys, own_values), _found(origin, own_keys, own_values), inner)
        if is_null(value) or value == {}:
            set_item(dest, None, valid_keys, valid_values)
            continue
        if isinstance(value, dict):
            for key, text in zip(valid_keys, valid_values, strict=False):
                if key not in value and text:
                    value[key] = text
        set_item(added, value, valid_keys, valid_values)
    if rows:
        dest = append_items(added, dest, valid_keys)
    return dest


def _found(items: Any, keys: list[str], values: list[str]) -> Any:
    """Return the item of a list with these values, `MISSING` without."""
    if not isinstance(items, list):
        return MISSING
    for item in items:
        if keys == [""]:
            if not isinstance(item, (dict, list)) and text_of(item) == values[0]:
                return item
        elif isinstance(item, dict) and all(
            key in item and text_of(item[key]) == value for key, value in zip(keys, values, strict=True)
        ):
            return item
    return MISSING


def _completed(rows: list[list[str]]) -> list[list[str]]:
    """Fill empty values from rows that agree in another one."""
    rows = [list(row) for row in rows]
    for left in range(len(rows)):
        for right in range(len(rows)):
            merged = _agreed(rows[left], rows[right])
            if merged is not None:
                rows[left] = rows[right] = merged
    return rows


def _agreed(left: list[str], right: list[str]) -> list[str] | None:
    merged, has_common = [], False
    for one, other in zip(left, right, strict=True):
        if one == other:
            has_common = True
        elif one and other:
            return None
        merged.append(one or other)
    return merged if has_common else None


def _valid(rows: list[list[str]], values: list[str], keys: list[str]) -> tuple[list[str], list[str]]:
    """Return the keys that some row has a value for, and a row's values of them."""
    used = {key for row in rows for key, value in zip(keys, row, strict=False) if value}
    if not used:
        return keys, values
    return (
        [key for key in keys if key in used],
        [value for key, value in zip(keys, values, strict=False) if value or key in used],
    )


def fresh(patch: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a patch, which merging uses up."""
    found: dict[str, Any] = copied(patch)
    return found
