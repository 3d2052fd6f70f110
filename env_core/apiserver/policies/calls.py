"""How the API server calls a webhook: the hook that the cluster's network fills in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One POST to a webhook: to a Service, or to `url` where there is none."""

    url: str
    service: tuple[str, str, int] | None = None
    """Namespace, name and port."""
    authorities: str = ""
    """The certificates (PEM) that the server's is checked against."""
    body: str = ""
    timeout_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: an HTTP status with a body, or why nothing did, as Go words it behind `Post "…": `."""

    status: int = 0
    body: str = ""
    error: str = ""


class Caller(Protocol):
    """Whoever carries calls to webhooks."""

    def call(self, call: Call) -> Answer:
        """Send a request and return the answer."""
