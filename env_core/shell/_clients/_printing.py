"""What a client has printed, to both its streams, in the order in which it did."""

from __future__ import annotations

from env_core.shell.context import Interleaved
from env_core.world import Output


class Printing:
    """A client that writes at once whatever it has to say."""

    def __init__(self) -> None:
        self._parts: list[tuple[bool, str]] = []
        """Texts; the flag says that one is for standard error."""

    def out(self, text: str) -> None:
        """Print to standard output."""
        self._parts.append((False, text))

    def err(self, text: str) -> None:
        """Print to standard error."""
        self._parts.append((True, text))

    def output(self, code: int) -> Output:
        """Return all of it, and how the client ended."""
        out = "".join(text for is_error, text in self._parts if not is_error)
        err = "".join(text for is_error, text in self._parts if is_error)
        return Interleaved(out, err, code, parts=tuple(self._parts))
