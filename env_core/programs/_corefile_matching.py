"""What CoreDNS's template and acl plugins make of their words.

Source: github.com/coredns/coredns plugin/template/setup.go, plugin/acl/setup.go (1.14.7); tests/golden/promql/coredns.
"""

from __future__ import annotations

from typing import Final

from env_core.objects._re2_parser import Re2Error
from env_core.objects.problems import quoted
from env_core.objects.re2 import compiled
from env_core.programs._corefile_parser import Cursor
from env_core.programs._corefile_words import RCODES, Facts, Surroundings, Turns, is_ip

_CLASSES: Final = frozenset({"IN", "CS", "CH", "HS", "ANY", "NONE"})
_TYPE_NAMES: Final = (
    "A AAAA ANY CAA CNAME DNAME DNSKEY DS HINFO HTTPS MX NAPTR NS NSEC PTR RRSIG SOA SRV SVCB TLSA TXT"
)
_TYPES: Final = frozenset(_TYPE_NAMES.split())
_PROPERTY_NAMES: Final = "match answer additional authority rcode ederror fallthrough upstream var expr"
_PROPERTIES: Final = frozenset(_PROPERTY_NAMES.split())


def template(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    """Read `template` lines."""
    for _ in Turns(cursor):
        for known, what in ((_CLASSES, "query class"), (_TYPES, "RR class")):
            if not cursor.next_on_line():
                raise cursor.wrong_count()
            if cursor.value not in known:
                raise cursor.problem(f"invalid {what} {cursor.value}")
        cursor.rest_of_line()
        while cursor.next_in_block():
            name = cursor.value
            if name not in _PROPERTIES:
                raise cursor.wrong_count()
            words = cursor.rest_of_line()
            if name in ("match", "answer", "additional", "authority", "rcode") and not words:
                raise cursor.wrong_count()
            if name == "match":
                for word in words:
                    try:
                        compiled(word)
                    except Re2Error as error:
                        raise cursor.problem(f"could not parse regex: {word}, {error}") from None
            elif name == "rcode" and words[0] not in RCODES:
                raise cursor.problem(f"unknown rcode {words[0]}")


def acl(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    """Read `acl` lines."""
    for _ in Turns(cursor):
        cursor.rest_of_line()
        while cursor.next_in_block():
            action = cursor.value.lower()
            if action not in ("allow", "block", "filter", "drop"):
                raise cursor.problem(
                    f"unexpected token {quoted(cursor.value)}; expect 'allow', 'block', 'filter' or 'drop'"
                )
            facts.blocks = (*facts.blocks, (action, _networks(cursor)))


def _networks(cursor: Cursor) -> tuple[str, ...]:
    words = cursor.rest_of_line()
    found: list[str] = []
    while words:
        section = words.pop(0)
        if section.lower() not in ("type", "net"):
            raise cursor.problem(f"unexpected token {quoted(section)}; expect 'type | net'")
        values: list[str] = []
        while words and words[0].lower() not in ("type", "net"):
            values.append(words.pop(0))
        if not values:
            raise cursor.problem(f"no token specified in {quoted(section.lower())} section")
        for value in values:
            if value == "*":
                break
            if section.lower() == "type" and value not in _TYPES:
                raise cursor.problem(f"unexpected token {quoted(value)}; expect legal QTYPE")
            if section.lower() == "net":
                address, _, mask = value.partition("/")
                if not is_ip(address) or ("/" in value and not mask.isdigit()):
                    shown = value if "/" in value else f"{value}/32"
                    raise cursor.problem(f"illegal CIDR notation {quoted(shown)}")
                found.append(value)
    return tuple(found)
