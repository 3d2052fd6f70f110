"""Walks over an awk program's tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from env_core.shell._awk.nodes import Call, Program, Regex


def calls(program: Program) -> list[Call]:
    """Return every call of a function that is not awk's own."""
    return [node for node in _nodes(program) if isinstance(node, Call) and not node.is_builtin]


def expressions(program: Program) -> list[str]:
    """Return the source of every regular expression between slashes."""
    return [node.source for node in _nodes(program) if isinstance(node, Regex)]


def _nodes(root: object) -> Iterator[object]:
    """Yield every node below `root`, in the order of the program."""
    pending: list[object] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(reversed(list(node.values())))
        elif isinstance(node, list | tuple):
            pending.extend(reversed(node))
        elif is_dataclass(node):
            yield node
            pending.extend(getattr(node, each.name) for each in reversed(fields(node)))
