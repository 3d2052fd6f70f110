"""A shell in a container that is spoken to: what comes in, and one command for each piece of it that is complete.

The simulator runs a command to its end, so a session is a row of `sh -c`, each of which begins where the last one left off.
"""

from __future__ import annotations

import re
import shlex
from urllib.parse import parse_qsl, urlencode

from env_core.rest.message import HttpRequest
from env_core.shell.pipeline import SyntaxProblem, parse
from env_core.world import Output

_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_LEAVE = re.compile(r"\s*(?:exit|logout)(?:\s+([0-9]{1,9}))?\s*")
_END = "end of file"
_OPEN_QUOTE = "Unterminated"
_SYNTAX = "yntax error"
_MARK = "\x1e"
_INTERRUPT = "\x03"
_INTERRUPTED = 130
_LINE_MAX = 8_192
_TEXT_MAX = 1 << 16


def is_interactive(command: tuple[str, ...]) -> bool:
    """Whether a command is a shell that reads its commands from the terminal."""
    return (
        bool(command)
        and command[0].rpartition("/")[2] in _SHELLS
        and all(word.startswith("-") and "c" not in word.lstrip("-") for word in command[1:])
    )


def _is_complete(text: str) -> bool:
    """Whether a shell would run a text now, or wait for the rest of a quotation, a loop or a here-document."""
    try:
        parse(text)
    except SyntaxProblem as problem:
        return problem.found != _END and not problem.text.startswith(_OPEN_QUOTE)
    try:
        # What a here-document or a backslash at the end of the line would swallow makes no command of its own.
        return len(parse(f"{text}\n:").items) > len(parse(text).items)
    except SyntaxProblem:
        return True


class ShellSession:
    """What lasts from command to command: the directory, the last exit code, whether the shell itself has ended."""

    def __init__(self, request: HttpRequest, *, is_tty: bool) -> None:
        self._request = request
        self._is_tty = is_tty
        self._directory = ""
        self._pending = ""
        self.exit_code = 0
        self.is_over = False

    @property
    def prompt(self) -> bytes:
        """What the shell says when it waits."""
        return b"> " if self._pending else f"{self._directory or '/'} # ".encode()

    def request(self, said: str, *, is_last: bool = False) -> HttpRequest | None:
        """Return the request that runs what is complete with some more lines, None when nothing is, or says anything.

        Lines that only leave the shell end it here. After `is_last` nothing comes, so what there is is run.
        """
        text, self._pending = self._pending + said, ""
        if said == _INTERRUPT:
            self.exit_code = _INTERRUPTED
            return None
        if (left := _LEAVE.fullmatch(text)) is not None:
            self.is_over = True
            self.exit_code = self.exit_code if left[1] is None else int(left[1]) & 0xFF
            return None
        if not is_last and len(text) < _TEXT_MAX and not _is_complete(text):
            self._pending = f"{text}\n"
            return None
        return self._running(text, is_last=is_last) if _says_something(text) else None

    def _running(self, text: str, *, is_last: bool) -> HttpRequest:
        path, _, query = self._request.target.partition("?")
        kept = [(key, value) for key, value in parse_qsl(query) if key != "command"]
        enter = f"cd {shlex.quote(self._directory)}; " if self._directory else ""
        leave = "" if is_last else f'\ncode=$?; printf "{_MARK}%s" "$PWD"; exit $code'
        words = [("command", word) for word in ("sh", "-c", f"{enter}{text}{leave}")]
        return HttpRequest(
            method=self._request.method,
            target=f"{path}?{urlencode([*words, *kept], errors='surrogateescape')}",
            headers=self._request.headers,
        )

    def printed(self, output: Output) -> tuple[bytes, bytes]:
        """Return what a command has printed, and remember how and where it ended."""
        text, mark, directory = output.stdout.rpartition(_MARK)
        if mark:
            self._directory = directory
        else:
            # The shell never came to its last command: it has ended. A person's goes on after a line that is no shell.
            text = output.stdout
            self.is_over = not (self._is_tty and _SYNTAX in output.stderr)
        self.exit_code = output.exit_code
        return (
            text.encode("utf-8", "surrogateescape"),
            output.stderr.encode("utf-8", "surrogateescape"),
        )


def _says_something(text: str) -> bool:
    try:
        return bool(parse(text).items)
    except SyntaxProblem:
        return True


class LineEditor:
    """Makes lines of what comes: of each piece of a program's as many as are whole, of what a person types one by one.

    In a terminal the far end echoes, and understands the keys that rub out.
    """

    def __init__(self, *, has_echo: bool) -> None:
        self._has_echo = has_echo
        self._line = bytearray()

    def feed(self, data: bytes) -> tuple[bytes, list[str], bool]:
        """Return what to echo, the lines that are complete, and whether the input has ended."""
        if self._has_echo:
            return self._typed(data)
        whole, has_end, rest = bytes(self._line + data).rpartition(b"\n")
        self._line = bytearray(rest[:_TEXT_MAX])
        return b"", [whole.decode("utf-8", "surrogateescape")] if has_end else [], False

    def rest(self) -> str:
        """Return what has come since the last line, for when nothing else will."""
        return self._line.decode("utf-8", "surrogateescape")

    def _typed(self, data: bytes) -> tuple[bytes, list[str], bool]:
        echo, lines = bytearray(), []
        for byte in data:
            if byte in b"\r\n":
                lines.append(self._line.decode("utf-8", "replace"))
                self._line.clear()
                echo += b"\r\n"
            elif byte == 4 and not self._line:
                return bytes(echo), lines, True
            elif byte == 3:
                self._line.clear()
                echo += b"^C\r\n"
                lines.append(_INTERRUPT)
            elif byte in (8, 127):
                if self._line:
                    del self._line[-1]
                    echo += b"\b \b"
            elif byte >= 32 and len(self._line) < _LINE_MAX:
                self._line.append(byte)
                echo.append(byte)
        return bytes(echo), lines, False
