"""Assignments of jq."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from env_core.shell._jq.nodes import Node, Update
from env_core.shell._jq.operators import OPERATORS
from env_core.shell._jq.paths import delete_paths, get_path, set_path
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import Json, is_true

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator, Found, Path


def updated(jq: Evaluator, node: Update, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
    """Yield what an assignment makes of its input: `=`, `|=`, or an operator with `=`."""
    if node.operator == "|=":
        yield _modified(jq, node.target, node.value, scope, value), jq.off(path)
        return
    if node.operator == "=":
        for new in jq.values(node.value, scope, value):
            changed = value
            for where in jq.paths(node.target, scope, value):
                changed = set_path(changed, list(where), new)
            yield changed, jq.off(path)
        return
    for operand in jq.values(node.value, scope, value):
        changed = value
        for where in jq.paths(node.target, scope, value):
            before = get_path(changed, list(where))
            if node.operator == "//=":
                new = before if is_true(before) else operand
            else:
                new = OPERATORS[node.operator[:-1]](before, operand)
            changed = set_path(changed, list(where), new)
        yield changed, jq.off(path)


def _modified(jq: Evaluator, target: Node, update: Node, scope: Scope, value: Json) -> Json:
    """Return `target |= update`: the first result replaces each value, none deletes it."""
    changed = value
    for where in jq.paths(target, scope, value):
        for new in jq.values(update, scope, get_path(changed, list(where))):
            changed = set_path(changed, list(where), new)
            break
        else:
            changed = delete_paths(changed, [list(where)])
    return changed
