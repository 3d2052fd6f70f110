"""Paths: recurse, paths, getpath, del and their like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.shell._jq.evaluate import Evaluator, Found, Path
from env_core.shell._jq.formtable import Form
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.paths import delete_paths, get_path
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import Json, is_true


def _recurse(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield value, path
    if isinstance(value, list | dict):
        for item, where in jq.items(value, path):
            yield from _recurse(jq, arguments, scope, item, where)


def _recurse_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    stack: list[Iterator[Found]] = [iter(((value, path),))]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            continue
        item, where = found
        if len(arguments) > 1 and len(stack) > 1:
            if not any(is_true(condition) for condition in jq.values(arguments[1], scope, item)):
                continue
        yield item, where
        stack.append(jq.run(arguments[0], scope, item, where))


def _path(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for where in jq.paths(arguments[0], scope, value):
        yield list(where), jq.off(path)


def _paths(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for item, where in _recurse(jq, (), scope, value, ()):
        if not where:
            continue
        if not arguments or any(is_true(found) for found in jq.values(arguments[0], scope, item)):
            yield list(where), jq.off(path)


def _leaf_paths(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for item, where in _recurse(jq, (), scope, value, ()):
        if where and not isinstance(item, list | dict):
            yield list(where), jq.off(path)


def _getpath(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for where in jq.values(arguments[0], scope, value):
        found = get_path(value, where)
        if path is not None:
            jq.check_path(value, path)
        yield found, None if path is None else (*path, *where)


def _del(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield delete_paths(value, [list(where) for where in jq.paths(arguments[0], scope, value)]), jq.off(path)


def _tostream(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for event in _events(value, []):
        yield event, jq.off(path)


def _events(value: Json, path: list[Json]) -> Iterator[Json]:
    if not isinstance(value, list | dict) or not value:
        yield [path, value]
        return
    last: Json = None
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _events(item, [*path, key])
        last = key
    yield [[*path, last]]


PATH_FORMS: Final[dict[tuple[str, int], Form]] = {
    ("recurse", 0): _recurse,
    ("recurse_down", 0): _recurse,
    ("recurse", 1): _recurse_by,
    ("recurse", 2): _recurse_by,
    ("path", 1): _path,
    ("paths", 0): _paths,
    ("paths", 1): _paths,
    ("getpath", 1): _getpath,
    ("del", 1): _del,
    ("tostream", 0): _tostream,
    ("leaf_paths", 0): _leaf_paths,
}
