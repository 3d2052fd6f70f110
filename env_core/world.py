"""The seam under everything above the API: what a world can be asked, whatever runs behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

Object = dict[str, Any]
"""A Kubernetes object: JSON-shaped, never mutated once stored or handed out."""

Objects = list[Object]
"""For annotations in classes that have a method called `list`."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a terminal command leaves behind."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


class Interrupted(Exception):
    """Raised where a program waits, when virtual time reaches its deadline.

    `output` is what the program, or a shell on the way, had printed so far.
    """

    def __init__(self, output: Output | None = None) -> None:
        """Record the output so far, if known."""
        super().__init__()
        self.output = output


class World(Protocol):
    """A cluster that answers API requests and lets time pass (simulated, or really running)."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the world's clock."""

    def call(self, request: Any) -> Any:
        """Answer one `ApiRequest` with an `ApiResponse`."""

    def advance(self, duration_ms: int) -> None:
        """Let `duration_ms` pass; everything due in between happens."""

    def fork(self) -> World:
        """Return an independent copy; a live world raises `ForkUnsupported`."""

    def digest(self) -> str:
        """Return the chained digest of everything that has happened so far."""


class ForkUnsupported(RuntimeError):
    """Raised by worlds that run for real and cannot be copied."""
