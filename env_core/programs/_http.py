"""HTTP as programs speak it: reason phrases, dates in headers and logs, reading of header maps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from env_core.programs._model import Request
from env_core.sim.timefmt import time_of_day

REASONS: Final = {
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed",
    407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 413: "Request Entity Too Large",
    414: "Request-URI Too Large", 418: "I'm a teapot", 422: "Unprocessable Entity", 429: "Too Many Requests",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout",
}  # fmt: skip
REASON: Final = ":reason"
"""Pseudo header of a reply: the reason phrase on its status line, where it is not the usual one."""
VERSION: Final = ":version"
"""Pseudo header: the HTTP version of the message ("1.0") where it is not 1.1."""
PORT: Final = ":port"
"""Pseudo header of a request: the port on which it came in."""
FOREIGN: Final = ":foreign"
"""Pseudo header of a reply: what came instead of HTTP (its first bytes)."""

CUT_SHORT: Final = ":cut-short"
"""Pseudo header of a request of which the client sent only a part: "headers" or "body", by where it breaks off."""
LONG: Final = ":long"
"""Pseudo header of a request one of whose headers is longer than `LONG_MIN`: others need not be looked at for that."""
LONG_MIN: Final = 1_000
CONTINUE: Final = ":continue"
"""Pseudo header of a reply before which the server sent "100 Continue", as the client expected."""
CONTINUE_TEXT: Final = "HTTP/1.1 100 Continue\r\n\r\n"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def moment(at_ms: int) -> datetime:
    """Return a time as a UTC datetime, cut to whole milliseconds."""
    return _EPOCH + timedelta(milliseconds=at_ms)


@lru_cache(maxsize=1024)
def _header_date(second: int) -> str:
    return f"{_header_day(second // 86_400)} {time_of_day(second)} GMT"


@lru_cache(maxsize=16)
def _header_day(day: int) -> str:
    at = _EPOCH + timedelta(days=day)
    return f"{_DAYS[at.weekday()]}, {at.day:02d} {_MONTHS[at.month - 1]} {at.year}"


def header_date(at_ms: int) -> str:
    """Return the value of a Date header."""
    return _header_date(at_ms // 1000)


@lru_cache(maxsize=1024)
def _access_date(second: int) -> str:
    return f"{_access_day(second // 86_400)}:{time_of_day(second)} +0000"


@lru_cache(maxsize=16)
def _access_day(day: int) -> str:
    at = _EPOCH + timedelta(days=day)
    return f"{at.day:02d}/{_MONTHS[at.month - 1]}/{at.year}"


def access_date(at_ms: int) -> str:
    """Return a time as access logs in the combined format have it."""
    return _access_date(at_ms // 1000)


@lru_cache(maxsize=1024)
def _slash_date(second: int) -> str:
    at = _EPOCH + timedelta(seconds=second)
    return f"{at:%Y/%m/%d %H:%M:%S}"


def slash_date(at_ms: int) -> str:
    """Return a time as nginx's error log and Go's log package have it."""
    return _slash_date(at_ms // 1000)


def month_name(month: int) -> str:
    """Return the English abbreviation of a month (1 to 12)."""
    return _MONTHS[month - 1]


def header(request: Request, name: str, default: str = "") -> str:
    """Return a request header, whatever the case of its name."""
    headers = request.headers
    found = headers.get(name)
    if found is not None:
        return found
    lower, length = name.lower(), len(name)
    for key, value in headers.items():
        if len(key) == length and key.lower() == lower:
            return value
    return default


def version(request: Request) -> str:
    """Return the HTTP version that the client speaks."""
    return request.headers.get(VERSION, "1.1")


def split_target(target: str) -> tuple[str, str]:
    """Return the path and the query (without "?") of a request target."""
    path, _, query = target.partition("?")
    return path or "/", query
