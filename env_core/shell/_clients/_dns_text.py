"""DNS messages as text and as sizes: columns of master files, lengths on the wire."""

from __future__ import annotations

from typing import Final

from env_core.shell._clients._wire import Answer

SOA: Final = {
    "cluster.local": "ns.dns.cluster.local. hostmaster.cluster.local. 1767603600 7200 1800 86400 30",
    ".": "a.root-servers.net. nstld.verisign-grs.com. 2025030100 1800 900 604800 86400",
    "example.com": "ns1.example.com. hostmaster.example.com. 1 60 60 60 60",
}
"""Start of authority of the zones that negative answers come from."""

TYPES: Final = (
    "A",
    "AAAA",
    "ANY",
    "CNAME",
    "MX",
    "NS",
    "PTR",
    "SOA",
    "SRV",
    "TXT",
    "CAA",
    "HINFO",
    "NAPTR",
    "DS",
    "DNSKEY",
    "AXFR",
    "IXFR",
)
_HEADER_BYTES: Final = 12
_OPT_BYTES: Final = 11
_COOKIE_BYTES: Final = 12


def soa_of(zone: str) -> str:
    """Return the SOA data of a zone."""
    return SOA.get(zone, f"ns.dns.{zone}. hostmaster.{zone}. 1767603600 7200 1800 86400 30")


def dotted(name: str) -> str:
    """Return a name with its final dot."""
    return name if name.endswith(".") else name + "."


def wire_length(name: str) -> int:
    """Return how many bytes an uncompressed name takes."""
    bare = name.rstrip(".")
    return len(bare) + 2 if bare else 1


def _data_length(kind: str, value: str) -> int:
    if kind == "A":
        return 4
    if kind == "AAAA":
        return 16
    words = value.split()
    if kind == "SRV":
        return 6 + wire_length(words[3])
    if kind == "SOA":
        return wire_length(words[0]) + wire_length(words[1]) + 20
    return wire_length(value)


def size(name: str, answer: Answer, *, has_cookie: bool) -> int:
    """Return the size of a response. CoreDNS compresses no names."""
    total = _HEADER_BYTES + wire_length(name) + 4 + _OPT_BYTES + (_COOKIE_BYTES if has_cookie else 0)
    for owner, kind, value in answer.records:
        total += wire_length(owner) + 10 + _data_length(kind, value)
    if answer.authority and not answer.records:
        total += wire_length(answer.authority) + 10 + _data_length("SOA", soa_of(answer.authority))
    return total


def _indent(at: int, column: int) -> tuple[str, int]:
    """Return the white space from `at` to `column` (one at least) and the column reached, tabs every eight."""
    column = max(column, at + 1)
    tabs = column // 8 - at // 8
    return ("\t" * tabs + " " * (column % 8) if tabs else " " * (column - at)), column


def question_line(name: str, kind: str) -> str:
    """Return a line of a question section."""
    text = dotted(name)
    first, at = _indent(len(text), 32)
    second, _ = _indent(at + 2, 40)
    return f";{text}{first}IN{second}{kind}\n"


def record_line(name: str, ttl: int, kind: str, value: str) -> str:
    """Return a line of an answer or authority section.

    Source: bind9 lib/dns/masterdump.c, style of dig; tests/golden/programs/dns.
    """
    text = dotted(name)
    out = text
    at = len(text)
    for column, word in ((24, str(ttl)), (32, "IN"), (40, kind), (48, value)):
        space, at = _indent(at, column)
        out += space + word
        at += len(word)
    return out + "\n"


def value_text(kind: str, value: str) -> str:
    """Return a record's data as dig prints it."""
    return dotted(value) if kind in ("CNAME", "PTR", "NS") else value


def candidates(host: str, search: tuple[str, ...], ndots: int) -> list[str]:
    """Return the names that a bind tool asks for in turn when it uses the search list."""
    if host.endswith("."):
        return [host[:-1]]
    expanded = [f"{host}.{domain}" for domain in search]
    return [host, *expanded] if host.count(".") >= ndots else [*expanded, host]


def reverse(address: str) -> str:
    """Return the name of an address's PTR record."""
    return ".".join(reversed(address.split("."))) + ".in-addr.arpa"


def is_address(text: str) -> bool:
    """Whether a word is an IPv4 address."""
    parts = text.split(".")
    return len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts)
