"""The append-only journal of a world and its chained digest."""

from __future__ import annotations

import hashlib

GENESIS = "0" * 64


class Trace:
    """Chains `sha256(previous digest + line)` over everything that happened.

    Lines are collected and folded when the digest is asked for, so that a line costs an append. They
    are kept for inspection only while `is_recording`.
    """

    __slots__ = ("_digest", "_pending", "is_recording", "lines")

    def __init__(self, digest: str = GENESIS) -> None:
        self._digest = digest
        self._pending: list[str] = []
        self.is_recording = False
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """Append one line."""
        self._pending.append(line)
        if self.is_recording:
            self.lines.append(line)
        if len(self._pending) >= 512:
            self.digest()

    def digest(self) -> str:
        """Fold the pending lines and return the digest, 64 hexadecimal digits."""
        if self._pending:
            # Chained, not one running hash object: a hash object cannot be copied by a fork. One link a
            # line, so that the digest does not depend on when it was asked for.
            digest = self._digest
            for line in self._pending:
                digest = hashlib.sha256(f"{digest}{line}".encode("utf-8", "surrogatepass")).hexdigest()
            self._digest = digest
            self._pending = []
        return self._digest

    def fork(self) -> Trace:
        """Return a trace that continues from the same digest."""
        copy = Trace(self.digest())
        copy.is_recording = self.is_recording
        return copy
