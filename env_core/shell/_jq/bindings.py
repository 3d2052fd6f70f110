"""What a destructuring pattern binds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from env_core.shell._jq.nodes import ArrayPattern, NamePattern, Node, Pattern
from env_core.shell._jq.paths import index
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import JqError, Json, kind

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator


def bindings(jq: Evaluator, pattern: Pattern, scope: Scope, value: Json) -> Iterator[dict[str, Json]]:
    """Yield the variables that a pattern binds for a value."""
    if isinstance(pattern, NamePattern):
        yield {pattern.name: value}
    elif isinstance(pattern, ArrayPattern):
        if value is not None and not isinstance(value, list):
            raise JqError(f"Cannot index {kind(value)} with number")
        parts = [(item, index(value, number)) for number, item in enumerate(pattern.items)]
        yield from _combined(jq, parts, scope)
    else:
        yield from _object_bindings(jq, list(pattern.entries), scope, value)


def _combined(jq: Evaluator, parts: list[tuple[Pattern, Json]], scope: Scope) -> Iterator[dict[str, Json]]:
    if not parts:
        yield {}
        return
    for first in bindings(jq, parts[0][0], scope, parts[0][1]):
        for rest in _combined(jq, parts[1:], scope):
            yield {**first, **rest}


def _object_bindings(
    jq: Evaluator, entries: list[tuple[Node, str, Pattern | None]], scope: Scope, value: Json
) -> Iterator[dict[str, Json]]:
    if not entries:
        yield {}
        return
    key_node, name, pattern = entries[0]
    for key in jq.values(key_node, scope, value):
        if not isinstance(key, str):
            raise JqError(f"Cannot index {kind(value)} with {kind(key)}")
        item = index(value, key)
        own = {name: item} if name else {}
        inner = iter(({},)) if pattern is None else bindings(jq, pattern, scope, item)
        for bound in inner:
            for rest in _object_bindings(jq, entries[1:], scope.with_variables(own), value):
                yield {**own, **bound, **rest}
