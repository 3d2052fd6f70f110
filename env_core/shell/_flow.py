"""Loops, branches and cases of the shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from env_core.shell import _pattern
from env_core.shell._control import LoopControl
from env_core.shell._expansion import Expander, ExpansionProblem
from env_core.shell._streams import Streams
from env_core.shell.syntax import Case, For, If, Loop, Sequence

if TYPE_CHECKING:
    from env_core.shell.pipeline import Shell


def for_each(shell: Shell, node: For, streams: Streams) -> int:
    """Run `for`."""
    if node.words is None:
        values = list(shell.positional)
    else:
        values = shell.expanded(node.words, streams)
    bodies = ((value, node.body) for value in values)
    return _looped(shell, bodies, node.name, streams)


def _looped(shell: Shell, turns: Iterator[tuple[str, Sequence]], name: str, streams: Streams) -> int:
    status = 0
    shell.loops += 1
    try:
        for value, body in turns:
            shell.budget.iterate()
            if name:
                shell.assign(name, value)
            try:
                status = shell.execute(body, streams)
            except LoopControl as control:
                status = 0
                if control.levels > 1:
                    raise LoopControl(control.levels - 1, is_break=control.is_break) from None
                if control.is_break:
                    break
    finally:
        shell.loops -= 1
    return status


def while_loop(shell: Shell, node: Loop, streams: Streams) -> int:
    """Run `while` or `until`."""

    def turns() -> Iterator[tuple[str, Sequence]]:
        while (shell.test(node.condition, streams) == 0) != node.is_until:
            yield "", node.body

    return _looped(shell, turns(), "", streams)


def if_else(shell: Shell, node: If, streams: Streams) -> int:
    """Run `if`."""
    for condition, body in node.branches:
        if shell.test(condition, streams) == 0:
            return shell.execute(body, streams)
    return 0 if node.otherwise is None else shell.execute(node.otherwise, streams)


def case(shell: Shell, node: Case, streams: Streams) -> int:
    """Run `case`."""
    expander = Expander(shell, streams)
    try:
        subject = expander.one(node.word)
        for patterns, body in node.items:
            for pattern in patterns:
                if _pattern.compiled(expander.pattern(pattern)).match(subject):
                    return shell.execute(body, streams)
    except ExpansionProblem as problem:
        shell.give_up(problem, streams)
    return 0
