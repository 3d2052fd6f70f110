"""The files that a text tool reads: operands, or standard input."""

from __future__ import annotations

from env_core.shell._quoting import quoted_name
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError


def read_input(process: Process, name: str) -> str:
    """Return the text of a file; `-` and /dev/stdin are standard input.

    Raises:
        ShellFileError: if it cannot be read.
    """
    if name in ("-", "/dev/stdin"):
        return process.stdin
    return process.fs.read(process.path(name))


def read_inputs(process: Process, names: list[str], error: str) -> tuple[list[tuple[str, str]], str]:
    """Return name and text of each input that can be read, and the error lines for the others.

    No names mean standard input, as "-". `error` is a format with
    `{name}` (or `{quoted}`, as coreutils shows it) and `{reason}`.
    """
    texts: list[tuple[str, str]] = []
    problems: list[str] = []
    for name in names or ["-"]:
        try:
            texts.append((name, read_input(process, name)))
        except ShellFileError as refused:
            problems.append(error.format(name=name, quoted=quoted_name(name), reason=refused.reason) + "\n")
    return texts, "".join(problems)


def split_lines(text: str) -> list[str]:
    """Return a text's lines without their ends; a last line without an end counts."""
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def joined_lines(lines: list[str]) -> str:
    """Return lines as text, each with an end."""
    return "\n".join(lines) + "\n" if lines else ""
