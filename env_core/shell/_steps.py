"""Scripts that run as time goes: a shell's control flow as plain data, so that a world can be copied in its midst.

The simple commands and pipelines of a script run at once, each at its time; what lies between them (lists, loops,
branches) is a stack of places in the syntax tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from env_core.shell._control import Exit, LoopControl, Refused, Return
from env_core.shell._waiting import Waiting
from env_core.shell.budget import Budget, LimitReached
from env_core.shell.syntax import (
    AndOr,
    Background,
    For,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Sequence,
    Simple,
)

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

STEPS_MAX: Final = 10_000
"""Places passed without any time going by, after which a script counts as stuck."""
_SHORTEST_TURN_MS: Final = 100
"""No turn of a loop takes less: a bound of ours for loops that never wait."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the tree: how far a node has come. `is_tested` says that its failure is an answer."""

    node: Node
    at: int = 0
    values: tuple[str, ...] = ()
    is_tested: bool = False
    since_ms: int = 0
    redirects: tuple[Redirect, ...] = ()
    """Where the output of all commands within goes."""

    def within(self, node: Node, *, is_tested: bool | None = None) -> Frame:
        """Return the frame of a node inside this one."""
        tested = self.is_tested if is_tested is None else is_tested
        return Frame(node, is_tested=tested, redirects=self.redirects)


@dataclass(frozen=True, slots=True)
class Script:
    """A script in its midst. `status` is `$?`; no frames are left when it has ended."""

    frames: tuple[Frame, ...]
    due_ms: int
    status: int = 0
    is_over: bool = False


def begun(tree: Sequence, at_ms: int) -> Script:
    """Return a script that is about to begin."""
    return Script((Frame(tree),), at_ms)


def answered(script: Script, status: int, at_ms: int) -> Script:
    """Return a script with the status of its last command, that goes on at a time."""
    return replace(script, status=status, due_ms=at_ms)


def over(script: Script, status: int, at_ms: int) -> Script:
    """Return a script that has been ended."""
    return replace(script, frames=(), status=status, due_ms=at_ms, is_over=True)


def stepped(script: Script, shell: Shell, streams: Streams, clock: Clock) -> Script:
    """Run a script until it waits or ends; `clock` says how long its commands take."""
    for _ in range(STEPS_MAX):
        if not script.frames or script.is_over:
            return replace(script, frames=(), is_over=True, due_ms=clock.now_ms())
        script = _one(script, shell, streams, clock)
        if clock.now_ms() > script.due_ms:
            return replace(script, due_ms=clock.now_ms())
    return replace(script, due_ms=clock.now_ms() + 1)


@dataclass(slots=True)
class Clock:
    """The time of a script's process: that of its wake, and what its commands have waited since."""

    start_ms: int
    late_ms: int = 0

    def now_ms(self) -> int:
        """Return the time."""
        return self.start_ms + self.late_ms

    def wait(self, duration_ms: int) -> None:
        """Let time pass for the script alone."""
        self.late_ms += duration_ms


def _one(script: Script, shell: Shell, streams: Streams, clock: Clock) -> Script:
    """Move on by one place."""
    *outer, top = script.frames
    below = tuple(outer)
    node = top.node
    shell.status = script.status
    if isinstance(node, Sequence):
        if shell.options.get("e") and top.at and script.status and not top.is_tested:
            return replace(script, is_over=True)
        if top.at >= len(node.items):
            return replace(script, frames=below)
        inner = top.within(node.items[top.at])
        return replace(script, frames=(*below, replace(top, at=top.at + 1), inner))
    if isinstance(node, Group) and not node.is_subshell:
        return replace(script, frames=(*below, top.within(node.body)))
    if isinstance(node, AndOr):
        return _and_or(script, below, top, node)
    if isinstance(node, Loop):
        return _loop(script, below, top, node, clock)
    if isinstance(node, If):
        return _if(script, below, top, node)
    if isinstance(node, For):
        return _for(script, below, top, node, shell, streams, clock)
    if isinstance(node, Redirected) and isinstance(node.body, _COMPOUND) and _is_output(node.redirects):
        inner = replace(top.within(node.body), redirects=(*top.redirects, *map(_appending, node.redirects)))
        return replace(script, frames=(*below, inner))
    if top.redirects:
        node = Redirected(node, top.redirects, shell.line)
    return _leaf(script, below, node, shell, streams, clock)


_COMPOUND: Final = (Loop, For, If, Group)


def _is_output(redirects: tuple[Redirect, ...]) -> bool:
    return all(each.operator[0] == ">" or each.operator.startswith("&>") for each in redirects)


def _appending(redirect: Redirect) -> Redirect:
    """Return a redirection under which every command goes on where the one before it stopped."""
    operator = {">": ">>", ">|": ">>", "&>": "&>>"}.get(redirect.operator, redirect.operator)
    return replace(redirect, operator=operator)


def _and_or(script: Script, below: tuple[Frame, ...], top: Frame, node: AndOr) -> Script:
    if top.at == 0:
        first = top.within(node.first, is_tested=True)
        return replace(script, frames=(*below, replace(top, at=1), first))
    for at in range(top.at, len(node.rest) + 1):
        operator, following = node.rest[at - 1]
        if (operator == "&&") == (script.status == 0):
            is_tested = top.is_tested or at < len(node.rest)
            inner = top.within(following, is_tested=is_tested)
            return replace(script, frames=(*below, replace(top, at=at + 1), inner))
    return replace(script, frames=below)


def _loop(script: Script, below: tuple[Frame, ...], top: Frame, node: Loop, clock: Clock) -> Script:
    if top.at == 0:
        if top.since_ms and clock.now_ms() - top.since_ms < _SHORTEST_TURN_MS:
            clock.wait(_SHORTEST_TURN_MS - (clock.now_ms() - top.since_ms))
            return script
        condition = top.within(node.condition, is_tested=True)
        return replace(script, frames=(*below, replace(top, at=1, since_ms=clock.now_ms()), condition))
    if (script.status == 0) == node.is_until:
        return replace(script, frames=below, status=0)
    return replace(script, frames=(*below, replace(top, at=0), top.within(node.body)))


def _if(script: Script, below: tuple[Frame, ...], top: Frame, node: If) -> Script:
    branch, is_asked = divmod(top.at, 2)
    if not is_asked:
        if branch < len(node.branches):
            condition = top.within(node.branches[branch][0], is_tested=True)
            return replace(script, frames=(*below, replace(top, at=top.at + 1), condition))
        if node.otherwise is None:
            return replace(script, frames=below, status=0)
        return replace(script, frames=(*below, top.within(node.otherwise)))
    if script.status == 0:
        return replace(script, frames=(*below, top.within(node.branches[branch][1])))
    return replace(script, frames=(*below, replace(top, at=top.at + 1)))


def _for(
    script: Script,
    below: tuple[Frame, ...],
    top: Frame,
    node: For,
    shell: Shell,
    streams: Streams,
    clock: Clock,
) -> Script:
    if top.at == 0:
        values = tuple(shell.positional if node.words is None else shell.expanded(node.words, streams))
        return replace(script, frames=(*below, replace(top, at=1, values=values)))
    if top.at > len(top.values):
        return replace(script, frames=below)
    del clock
    shell.assign(node.name, top.values[top.at - 1])
    body = top.within(node.body)
    return replace(script, frames=(*below, replace(top, at=top.at + 1), body))


def _leaf(
    script: Script, below: tuple[Frame, ...], node: Node, shell: Shell, streams: Streams, clock: Clock
) -> Script:
    plain = node.body if isinstance(node, Redirected) else node
    word = plain.words[0].literal if isinstance(plain, Simple) and plain.words else None
    if word in ("break", "continue"):
        return replace(script, frames=_left(below, is_break=word == "break"), status=0)
    if not shell.is_job:
        shell.budget = shell.process.budget = Budget(work=shell.process.work)
    before_ms = clock.late_ms
    shell.can_wait = shell.is_job and isinstance(plain, Simple | Pipeline)
    try:
        status = shell.execute(node, streams)
    except Waiting as waiting:
        waiting.rest = replace(script, frames=below)
        raise
    except (Exit, Return) as ended:
        return replace(script, status=ended.status, is_over=True)
    except LoopControl as control:
        return replace(script, frames=_left(below, is_break=control.is_break), status=0)
    except Refused as given:
        refused = shell.dialect.refused(given)
        streams.stderr.write(shell.located(refused.text, refused.command))
        return replace(script, status=refused.status, is_over=True)
    except LimitReached as limit:
        streams.stderr.write(shell.located(limit.text))
        return replace(script, status=125, is_over=True)
    if isinstance(plain, Background) and not shell.is_job:
        clock.late_ms = before_ms
    return replace(script, frames=below, status=status)


def _left(frames: tuple[Frame, ...], *, is_break: bool) -> tuple[Frame, ...]:
    """Return the frames after `break` or `continue`."""
    for index in range(len(frames) - 1, -1, -1):
        if isinstance(frames[index].node, Loop | For):
            return frames[:index] if is_break else frames[: index + 1]
    return frames
