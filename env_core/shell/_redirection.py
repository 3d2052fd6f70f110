"""Redirections: from `2>&1` and file names to the streams of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.shell._control import Refused
from env_core.shell._streams import ClosedSink, FileSink, Sink, Source, Streams
from env_core.shell.filesystem import ShellFileError
from env_core.shell.syntax import HereDocument, Redirect, Word

if TYPE_CHECKING:
    from env_core.shell._expansion import Expander
    from env_core.shell.pipeline import Shell

Descriptors = dict[int, Source | Sink]


def redirected(
    shell: Shell, redirects: tuple[Redirect, ...], streams: Streams, expander: Expander
) -> Streams:
    """Return `streams` after `redirects`, which are applied from left to right.

    Raises:
        Refused: if a file cannot be opened or a descriptor is bad; the text is the shell's.
    """
    open_: Descriptors = {0: streams.stdin, 1: streams.stdout, 2: streams.stderr}
    for redirect in redirects:
        _apply(shell, redirect, open_, expander)
    stdin, stdout, stderr = open_.get(0), open_.get(1), open_.get(2)
    return Streams(
        stdin if isinstance(stdin, Source) else Source(""),
        ClosedSink() if stdout is None or isinstance(stdout, Source) else stdout,
        ClosedSink() if stderr is None or isinstance(stderr, Source) else stderr,
    )


def _apply(shell: Shell, redirect: Redirect, open_: Descriptors, expander: Expander) -> None:
    descriptor, operator, target = redirect.descriptor, redirect.operator, redirect.target
    if isinstance(target, HereDocument):
        open_[descriptor] = Source(expander.one(target.text or Word((), "")))
        return
    name = expander.one(target)
    if operator == "<<<":
        open_[descriptor] = Source(name + "\n")
    elif operator in (">&", "<&"):
        _duplicate(descriptor, name, open_)
    elif operator in ("&>", "&>>"):
        open_[1] = open_[2] = _output(shell, name, open_, appends=operator == "&>>")
    elif operator[0] == "<":
        open_[descriptor] = _input(shell, name, open_)
    else:
        open_[descriptor] = _output(shell, name, open_, appends=operator == ">>")


def _duplicate(descriptor: int, name: str, open_: Descriptors) -> None:
    if name == "-":
        open_.pop(descriptor, None)
    elif name.isdecimal():
        found = open_.get(int(name[:4]))
        if found is None:
            raise Refused(f"{name}: Bad file descriptor")
        open_[descriptor] = found
    else:
        raise Refused("Bad fd number")


def _standard(name: str) -> int | None:
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/1": 1, "/dev/fd/2": 2}.get(name)


def _input(shell: Shell, name: str, open_: Descriptors) -> Source:
    if _standard(name) == 0 and isinstance(open_.get(0), Source):
        found = open_[0]
        assert isinstance(found, Source)
        return found
    try:
        return Source(shell.process.fs.read(shell.process.path(name)))
    except ShellFileError as error:
        raise Refused(shell.dialect.cannot_open(name, error.reason)) from None


def _output(shell: Shell, name: str, open_: Descriptors, *, appends: bool) -> Sink:
    number = _standard(name)
    found = open_.get(number) if number is not None else None
    if found is not None and not isinstance(found, Source):
        return found
    process = shell.process
    path = process.path(name)
    try:
        if appends:
            process.fs.append(path, "", process.now_ms())
        else:
            process.fs.write(path, "", process.now_ms())
    except ShellFileError as error:
        raise Refused(shell.dialect.cannot_create(name, error.reason)) from None
    return FileSink(process.fs, path, process.now_ms)
