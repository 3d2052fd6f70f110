"""Timestamps as the client's clock has them: its tools work out ages by their own clock, and an episode lives in another year.

Only strings that are a timestamp and nothing else are moved; logs and messages stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from env_core.rest.message import HttpRequest, HttpResponse

_STAMP = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{6})?Z"')
_LAYOUT = "%Y-%m-%dT%H:%M:%S"


class Shift:
    """A fixed distance between the episode's clock and the client's."""

    def __init__(self, seconds: int) -> None:
        self._distance = timedelta(seconds=seconds)

    def out(self, data: bytes) -> bytes:
        """Return what the episode says, in the client's time."""
        return self._moved(data, self._distance)

    def answer(self, answer: HttpResponse) -> HttpResponse:
        """Return an answer in the client's time."""
        return replace(answer, body=self.out(answer.body))

    def request(self, request: HttpRequest) -> HttpRequest:
        """Return a request in the episode's time."""
        return replace(request, body=self._moved(request.body, -self._distance))

    @staticmethod
    def _moved(data: bytes, distance: timedelta) -> bytes:
        def move(found: re.Match[bytes]) -> bytes:
            try:
                at = datetime.strptime(found[1].decode(), _LAYOUT).replace(tzinfo=UTC) + distance
            except (ValueError, OverflowError):
                return found[0]
            return b'"' + at.strftime(_LAYOUT).encode() + (found[2] or b"") + b'Z"'

        return _STAMP.sub(move, data)
