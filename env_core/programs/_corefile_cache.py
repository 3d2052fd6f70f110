"""What CoreDNS's cache plugin makes of its words.

Source: github.com/coredns/coredns plugin/cache/setup.go (1.14.7); tests/golden/promql/coredns.
"""

from __future__ import annotations

from typing import Final

from env_core.objects.goint import IntegerError, atoi
from env_core.programs._corefile_parser import Cursor
from env_core.programs._corefile_words import (
    ONCE,
    Facts,
    Refused,
    Surroundings,
    Turns,
    duration_of,
    number_of,
)

_PROPERTIES: Final = frozenset(
    {"success", "denial", "prefetch", "serve_stale", "servfail", "disable", "keepttl"}
)


def cache(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    """Read `cache` lines."""
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        words = cursor.rest_of_line()
        if words:
            try:
                ttl = atoi(words[0])
            except IntegerError:
                ttl = 1
            if ttl <= 0:
                raise Refused(f"cache TTL can not be zero or negative: {ttl}")
        while cursor.next_in_block():
            _cache_property(cursor)


def _cache_property(cursor: Cursor) -> None:
    name = cursor.value
    if name not in _PROPERTIES:
        raise cursor.wrong_count()
    words = cursor.rest_of_line()
    if name in ("success", "denial"):
        if not words:
            raise cursor.wrong_count()
        number_of(words[0])
        if len(words) > 1 and (ttl := number_of(words[1])) <= 0:
            raise Refused(f"cache TTL can not be zero or negative: {ttl}")
        if len(words) > 2 and (least := number_of(words[2])) < 0:
            raise Refused(f"cache min TTL can not be negative: {least}")
    elif name == "prefetch":
        if not 1 <= len(words) <= 3:
            raise cursor.wrong_count()
        if (amount := number_of(words[0])) < 0:
            raise Refused(f"prefetch amount should be positive: {amount}")
        if len(words) > 1:
            duration_of(words[1])
        if len(words) > 2:
            if not words[2].endswith("%"):
                raise Refused(f"last character of percentage should be `%`, but is: '{words[2][-1:]}'")
            if not 10 <= (share := number_of(words[2][:-1])) <= 90:
                raise Refused(f"percentage should fall in range [10, 90]: {share}")
    elif name == "serve_stale":
        if len(words) > 5:
            raise cursor.wrong_count()
        if words and duration_of(words[0]) < 0:
            raise Refused("invalid negative duration for serve_stale")
        if len(words) > 1 and words[1].lower() not in ("immediate", "verify"):
            raise Refused(f"invalid value for serve_stale refresh mode: {words[1].lower()}")
    elif name == "servfail":
        if len(words) != 1:
            raise cursor.wrong_count()
        ttl_ms = duration_of(words[0])
        if ttl_ms < 0:
            raise Refused("invalid negative ttl for servfail")
        if ttl_ms > 300_000:
            raise Refused("caching SERVFAIL responses over 5 minutes is not permitted")
    elif name == "disable":
        if not words:
            raise cursor.wrong_count()
        if words[0] not in ("success", "denial"):
            raise Refused('cache type for disable must be "success" or "denial"')
    elif words:
        raise cursor.wrong_count()
