"""Finds calls and variables that nothing defines, before a filter runs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from env_core.shell._jq.forms import FORMS
from env_core.shell._jq.functions import FUNCTIONS
from env_core.shell._jq.nodes import Bind, BreakTo, Call, Define, Foreach, Label, Node, Reduce, Variable
from env_core.shell._jq.scope import pattern_names

Names = frozenset[object]


def undefined(node: Node, variables: frozenset[str]) -> list[tuple[str, int]]:
    """Return the error text and place of everything that is used but not defined."""
    found: list[tuple[str, int]] = []
    _visit(node, frozenset(("$", name) for name in variables), found)
    return found


def _visit(node: object, names: Names, found: list[tuple[str, int]]) -> None:
    if isinstance(node, Variable):
        if ("$", node.name) not in names:
            found.append((f"${node.name} is not defined", node.offset))
    elif isinstance(node, BreakTo):
        if ("*", node.name) not in names:
            found.append((f"$*label-{node.name} is not defined", node.offset))
    elif isinstance(node, Call):
        _visit_call(node, names, found)
    elif isinstance(node, Define):
        inner = names | {(node.name, len(node.parameters))}
        parameters = {(name.removeprefix("$"), 0) for name in node.parameters}
        values = {("$", name[1:]) for name in node.parameters if name.startswith("$")}
        _visit(node.body, inner | parameters | values, found)
        _visit(node.rest, inner, found)
    elif isinstance(node, Bind):
        _visit(node.source, names, found)
        bound = {("$", name) for pattern in node.patterns for name in pattern_names(pattern)}
        _visit(list(node.patterns), names | bound, found)
        _visit(node.body, names | bound, found)
    elif isinstance(node, Reduce | Foreach):
        _visit(node.source, names, found)
        _visit(node.start, names, found)
        inner = names | {("$", name) for name in pattern_names(node.pattern)}
        _visit(node.update, inner, found)
        if isinstance(node, Foreach):
            _visit(node.extract, inner, found)
    elif isinstance(node, Label):
        _visit(node.body, names | {("*", node.name)}, found)
    elif isinstance(node, list | tuple):
        for each in node:
            _visit(each, names, found)
    elif is_dataclass(node):
        for each in fields(node):
            _visit(getattr(node, each.name), names, found)


def _visit_call(node: Call, names: Names, found: list[tuple[str, int]]) -> None:
    key = (node.name, len(node.arguments))
    if key not in names and key not in FORMS and key not in FUNCTIONS:
        found.append((f"{node.name}/{len(node.arguments)} is not defined", node.offset))
        return
    _visit(node.arguments, names, found)
