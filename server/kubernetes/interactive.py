"""An interactive shell in a container, line by line: what the person types, and one command for each line.

The simulator runs a command to its end, so a session is a row of `sh -c`, each of which begins where the last one left off.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from env_core.rest.message import HttpRequest
from env_core.world import Output

_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_MARK = "\x1e"
_LINE_MAX = 8_192


def is_interactive(command: tuple[str, ...]) -> bool:
    """Whether a command is a shell that reads its commands from the terminal."""
    return (
        bool(command)
        and command[0].rpartition("/")[2] in _SHELLS
        and all(word.startswith("-") and "c" not in word.lstrip("-") for word in command[1:])
    )


class ShellSession:
    """What lasts from line to line: the working directory and the last exit code."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._directory = ""
        self.exit_code = 0

    @property
    def prompt(self) -> bytes:
        """What the shell says when it waits."""
        return f"{self._directory or '/'} # ".encode()

    def request(self, line: str) -> HttpRequest:
        """Return the request that runs one line."""
        path, _, query = self._request.target.partition("?")
        kept = [(key, value) for key, value in parse_qsl(query) if key != "command"]
        enter = f"cd '{self._directory}' && " if self._directory else ""
        script = f'{enter}{{ {line}\n}}; code=$?; printf "{_MARK}%s" "$PWD"; exit $code'
        words = [("command", word) for word in ("sh", "-c", script)]
        return HttpRequest(
            method=self._request.method,
            target=f"{path}?{urlencode([*words, *kept])}",
            headers=self._request.headers,
        )

    def printed(self, output: Output) -> tuple[bytes, bytes]:
        """Return what a line has printed, and remember how and where it ended."""
        text, mark, directory = output.stdout.rpartition(_MARK)
        if mark:
            self._directory = directory
        else:
            text = output.stdout
        self.exit_code = output.exit_code
        return (
            text.encode("utf-8", "surrogateescape"),
            output.stderr.encode("utf-8", "surrogateescape"),
        )


class LineEditor:
    """Makes lines of what is typed; in a terminal the far end echoes, and understands the keys that rub out."""

    def __init__(self, *, has_echo: bool) -> None:
        self._has_echo = has_echo
        self._line = bytearray()

    def feed(self, data: bytes) -> tuple[bytes, list[str], bool]:
        """Return what to echo, the lines that are complete, and whether the input has ended."""
        echo, lines = bytearray(), []
        for byte in data:
            if byte in b"\r\n":
                lines.append(self._line.decode("utf-8", "replace"))
                self._line.clear()
                echo += b"\r\n"
            elif byte == 4 and not self._line:
                return bytes(echo) if self._has_echo else b"", lines, True
            elif byte == 3:
                self._line.clear()
                echo += b"^C\r\n"
                lines.append("")
            elif byte in (8, 127):
                if self._line:
                    del self._line[-1]
                    echo += b"\b \b"
            elif byte >= 32 and len(self._line) < _LINE_MAX:
                self._line.append(byte)
                echo.append(byte)
        return bytes(echo) if self._has_echo else b"", lines, False
