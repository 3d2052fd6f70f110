"""Entries and order: to_entries, sort_by, group_by and their like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.shell._jq.evaluate import Evaluator, Found, Path
from env_core.shell._jq.formtable import Form
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.paths import index
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import JqError, Json, equal, is_true, order_key, typed


def _to_entries(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield _entries(value), jq.off(path)


def _entries(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return [{"key": key, "value": item} for key, item in value.items()]
    if isinstance(value, list):
        return [{"key": key, "value": item} for key, item in enumerate(value)]
    raise JqError(f"{typed(value)} has no keys")


def _from_entries(entries: list[Json]) -> Json:
    built: dict[str, Json] = {}
    for entry in entries:
        key = next(
            (index(entry, name) for name in ("key", "Key", "name", "Name") if is_true(index(entry, name))),
            None,
        )
        if key is None:
            key = index(entry, "Name")
        if not isinstance(key, str):
            raise JqError(f"Cannot use {typed(key)} as object key")
        built[key] = entry["value"] if isinstance(entry, dict) and "value" in entry else index(entry, "Value")
    return built


def _build(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield _from_entries([item for item, _ in jq.items(value, None)]), jq.off(path)


def _with_entries(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    changed = [found for entry in _entries(value) for found in jq.values(arguments[0], scope, entry)]
    yield _from_entries(changed), jq.off(path)


def _keyed(jq: Evaluator, node: Node, scope: Scope, value: Json) -> list[tuple[Json, Json]]:
    """Return the items of an array with what `node` gives for each, sorted by that."""
    keyed = [(list(jq.values(node, scope, item)), item) for item, _ in jq.items(value, None)]
    if not isinstance(value, list):
        raise JqError(f"{typed(value)} cannot be sorted, as it is not an array")
    return sorted(keyed, key=lambda pair: order_key(pair[0]))


def _sort_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield [item for _, item in _keyed(jq, arguments[0], scope, value)], jq.off(path)


def _groups(jq: Evaluator, node: Node, scope: Scope, value: Json) -> list[list[Json]]:
    groups: list[list[Json]] = []
    last: object = None
    for key, item in _keyed(jq, node, scope, value):
        if groups and equal(key, last):
            groups[-1].append(item)
        else:
            groups.append([item])
        last = key
    return groups


def _group_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield _groups(jq, arguments[0], scope, value), jq.off(path)


def _unique_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield [group[0] for group in _groups(jq, arguments[0], scope, value)], jq.off(path)


def _min_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    keyed = _keyed(jq, arguments[0], scope, value)
    yield keyed[0][1] if keyed else None, jq.off(path)


def _max_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    keyed = _keyed(jq, arguments[0], scope, value)
    yield keyed[-1][1] if keyed else None, jq.off(path)


ENTRY_FORMS: Final[dict[tuple[str, int], Form]] = {
    ("to_entries", 0): _to_entries,
    ("from_entries", 0): _build,
    ("with_entries", 1): _with_entries,
    ("sort_by", 1): _sort_by,
    ("group_by", 1): _group_by,
    ("unique_by", 1): _unique_by,
    ("min_by", 1): _min_by,
    ("max_by", 1): _max_by,
}
