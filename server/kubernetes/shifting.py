"""Timestamps as the client's clock has them: its tools work out ages by their own clock, and an episode lives in another year.

Only what the API itself says of times is moved: strings that are a timestamp and nothing else, the stamps in front of a log's lines
when they are asked for, and the time since which a log is wanted. What programs print, in logs and messages, stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlencode

from env_core.rest.message import HttpRequest, HttpResponse

_STAMP = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{6})?Z"')
_LINE_STAMP = re.compile(rb"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z(?= )", re.MULTILINE)
_LAYOUT = "%Y-%m-%dT%H:%M:%S"


class Shift:
    """A fixed distance between the episode's clock and the client's."""

    def __init__(self, seconds: int) -> None:
        self._distance = timedelta(seconds=seconds)

    def out(self, data: bytes, target: str = "") -> bytes:
        """Return what the episode says to a request for `target`, in the client's time."""
        path, _, query = target.partition("?")
        if path.endswith("/log"):
            is_stamped = parse_qs(query).get("timestamps", ["false"])[0].lower() in ("true", "1")
            return self._moved(_LINE_STAMP, data, self._distance, b"") if is_stamped else data
        return self._moved(_STAMP, data, self._distance, b'"')

    def answer(self, answer: HttpResponse, target: str) -> HttpResponse:
        """Return the answer to a request for `target`, in the client's time."""
        return replace(answer, body=self.out(answer.body, target))

    def request(self, request: HttpRequest) -> HttpRequest:
        """Return a request in the episode's time."""
        path, mark, query = request.target.partition("?")
        if path.endswith("/log") and "sinceTime=" in query:
            pairs = [
                (name, self._since(value) if name == "sinceTime" else value)
                for name, value in parse_qsl(query, keep_blank_values=True)
            ]
            request = replace(request, target=path + mark + urlencode(pairs))
        return replace(request, body=self._moved(_STAMP, request.body, -self._distance, b'"'))

    def _since(self, value: str) -> str:
        try:
            return (datetime.fromisoformat(value) - self._distance).astimezone(UTC).strftime(f"{_LAYOUT}Z")
        except (ValueError, OverflowError):
            return value

    @staticmethod
    def _moved(stamp: re.Pattern[bytes], data: bytes, distance: timedelta, mark: bytes) -> bytes:
        def move(found: re.Match[bytes]) -> bytes:
            try:
                at = datetime.strptime(found[1].decode(), _LAYOUT).replace(tzinfo=UTC) + distance
            except (ValueError, OverflowError):
                return found[0]
            return mark + at.strftime(_LAYOUT).encode() + (found[2] or b"") + b"Z" + mark

        return stamp.sub(move, data)
