"""Where an awk program prints: standard output, files, and pipes that run at the end."""

from __future__ import annotations

import re
from typing import Final

from env_core.shell._awk.lexer import AwkProblem
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError

_OUTPUT_MAX: Final = 8 * 1024 * 1024


class Printer:
    """Collects what a program prints; `messages` is what went to standard error."""

    def __init__(self, process: Process) -> None:
        """Print for `process`."""
        self.process = process
        self.messages: list[str] = []
        self._out: list[str] = []
        self._written = 0
        self._pipes: dict[str, list[str]] = {}
        self._opened: set[str] = set()

    def output(self) -> str:
        """Return everything printed so far."""
        return "".join(self._out)

    def close_all(self) -> None:
        """Close every pipe, in the order in which they were opened."""
        for command in list(self._pipes):
            self.close(command)

    def emit(self, text: str) -> None:
        """Print text to standard output."""
        self._written += len(text)
        if self._written > _OUTPUT_MAX:
            raise AwkProblem("too much output")
        self._out.append(text)

    def redirect(self, operator: str, name: str, text: str) -> None:
        """Print text to a file (`>`, `>>`) or to the input of a program (`|`)."""
        if name in ("/dev/stdout", "-"):
            self.emit(text)
        elif name == "/dev/stderr" or (operator == "|" and re.fullmatch(r"\s*cat\s+1>&2\s*", name)):
            self.messages.append(text)
        elif operator == "|":
            self._pipes.setdefault(name, []).append(text)
        else:
            path = self.process.path(name)
            write = (
                self.process.fs.append if operator == ">>" or name in self._opened else self.process.fs.write
            )
            self._opened.add(name)
            try:
                write(path, text, self.process.now_ms())
            except ShellFileError as error:
                raise AwkProblem(f'cannot open "{name}" for output') from error

    def close(self, name: str) -> float:
        """Close a file or pipe; a pipe's program runs now, with all that was printed to it."""
        text = self._pipes.pop(name, None)
        self._opened.discard(name)
        if text is None:
            return -1.0
        output = self.process.start(["sh", "-c", name], stdin="".join(text))
        if output is not None:
            self.emit(output.stdout)
            self.messages.append(output.stderr)
        return float(output.exit_code) if output is not None else 127.0
