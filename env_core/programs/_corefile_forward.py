"""What CoreDNS's forward plugin makes of its words: upstreams, and the complaints about them.

Source: github.com/coredns/coredns plugin/forward/setup.go (1.14.7), plugin/pkg/parse/host.go; tests/golden/promql/coredns.
"""

from __future__ import annotations

import re
from typing import Final

from env_core.objects.problems import quoted
from env_core.programs._corefile_parser import Cursor
from env_core.programs._corefile_words import (
    HOSTNAMES_SINCE,
    RCODES,
    TRANSPORT,
    Facts,
    Forward,
    Refused,
    Surroundings,
    Turns,
    duration_of,
    is_ip,
    number_of,
    unsigned_of,
    zone_list,
)
from env_core.programs._dns_names import full_name, is_domain_name

_UPSTREAMS_MAX: Final = 15
_DEFAULT_PORTS: Final = {
    "dns": "53",
    "tls": "853",
    "quic": "853",
    "grpc": "443",
    "https": "443",
    "https3": "443",
}


def forward(cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    """Read `forward` lines."""
    for _ in Turns(cursor):
        facts.forwards = (*facts.forwards, _stanza(cursor, around))


def _stanza(cursor: Cursor, around: Surroundings) -> Forward:
    if not cursor.next_on_line():
        raise cursor.wrong_count()
    source = cursor.value
    zones = zone_list([source], ())
    if not zones:
        raise Refused(f"unable to normalize '{source}'")
    targets = cursor.rest_of_line()
    if not targets:
        raise cursor.wrong_count()
    is_modern = around.version >= HOSTNAMES_SINCE
    upstreams = () if is_modern else _upstreams(targets, around)
    options: dict[str, list[str]] = {}
    while cursor.next_in_block():
        name = cursor.value
        options[name] = _forward_property(cursor, name)
    if is_modern:
        upstreams = _upstreams(targets, around)
    if len(targets) > _UPSTREAMS_MAX:
        raise Refused(f"more than {_UPSTREAMS_MAX} TOs configured: {len(targets)}")
    return Forward(
        zone=zones[0], upstreams=upstreams, policy=(options.get("policy") or ["random"])[0],
        max_fails=int((options.get("max_fails") or ["2"])[0]),
        excepted=tuple(full_name(word) for word in options.get("except") or ()), has_force_tcp="force_tcp" in options,
    )  # fmt: skip


def _upstreams(targets: list[str], around: Surroundings) -> tuple[str, ...]:
    is_modern = around.version >= HOSTNAMES_SINCE
    found: list[str] = []
    unresolved = ""
    for target in targets:
        scheme = TRANSPORT.match(target)
        transport = scheme[1] if scheme else "dns"
        host = target[scheme.end() :] if scheme else target
        if not host:
            raise Refused(f"invalid address: {quoted(target)}")
        prefix = "" if transport == "dns" else f"{transport}://"
        address, port = host.strip("[]"), _DEFAULT_PORTS.get(transport, "53")
        if not is_ip(address.partition("%")[0]):
            head, colon, tail = host.rpartition(":")
            if colon and is_ip(head.strip("[]").partition("%")[0]):
                address, port = head.strip("[]"), tail
            elif host == "/etc/resolv.conf" or host in around.files:
                servers = re.findall(r"(?m)^nameserver\s+(\S+)", around.files.get(host, ""))
                found += [f"{each}:53" for each in servers] or [host]
                continue
            elif not is_modern:
                raise Refused(f"not an IP address or file: {quoted(host)}")
            elif transport not in ("dns", "tls", "https") or not is_domain_name(head if colon else host):
                raise Refused(f"not an IP address, file, or valid domain: {quoted(target)}")
            else:
                unresolved = unresolved or (head if colon else host)
                continue
        found.append(f"{prefix}[{address}]:{port}" if ":" in address else f"{prefix}{address}:{port}")
        if transport not in ("dns", "tls", "https"):
            raise Refused(f"'{transport}' is not supported as a destination protocol in forward: {found[-1]}")
    if unresolved:
        raise Refused(
            f"failed to resolve {quoted(unresolved)}: lookup {full_name(unresolved)} on {around.name_server}:53: no such host"
        )
    if not found:
        raise Refused("no valid upstream addresses found")
    return tuple(dict.fromkeys(found)) if is_modern else tuple(found)


_FORWARD_WORDS: Final = frozenset(
    {"except", "tls", "next", "failover", "resolver", "failfast_all_unhealthy_upstreams"}
)
_FORWARD_FLAGS: Final = frozenset({"force_tcp", "prefer_udp", "next_on_nodata"})
_FORWARD_NUMBERS: Final = frozenset({"max_concurrent", "max_idle_conns"})
_FORWARD_UNSIGNED: Final = frozenset({"max_fails", "max_connect_attempts"})
_FORWARD_TIMES: Final = frozenset({"expire", "max_age", "read_timeout", "health_check"})
_FORWARD_TEXTS: Final = frozenset({"tls_servername", "policy", "doh_method", "source_address"})


def _forward_property(cursor: Cursor, name: str) -> list[str]:
    if name in _FORWARD_WORDS:
        return _forward_words(cursor, name)
    if name in _FORWARD_FLAGS:
        if cursor.next_on_line():
            raise cursor.wrong_count()
        return []
    if name not in _FORWARD_NUMBERS | _FORWARD_UNSIGNED | _FORWARD_TIMES | _FORWARD_TEXTS:
        raise cursor.problem(f"unknown property '{name}'")
    if not cursor.next_on_line():
        raise cursor.wrong_count()
    value = cursor.value
    if name in _FORWARD_UNSIGNED:
        unsigned_of(value)
    elif name in _FORWARD_NUMBERS:
        if (number := number_of(value)) < 0:
            raise Refused(f"{name} can't be negative: {number}")
    elif name in _FORWARD_TIMES:
        duration_ms = duration_of(value)
        if name == "read_timeout" and duration_ms <= 0:
            raise Refused(f"read_timeout must be positive: {value}")
        if duration_ms < 0:
            shown = str(duration_ms * 1_000_000) if name == "health_check" else value
            raise Refused(f"{name} can't be negative: {shown}")
        _health_check_options(cursor) if name == "health_check" else None
    elif name == "policy" and value not in ("random", "round_robin", "sequential"):
        raise cursor.problem(f"unknown policy '{value}'")
    elif name == "doh_method" and value not in ("POST", "GET"):
        raise Refused("doh_method must be either POST or GET")
    elif name == "source_address" and not is_ip(value):
        raise cursor.problem(f"invalid IP address: {value}")
    return [value]


def _health_check_options(cursor: Cursor) -> None:
    while cursor.next_on_line():
        if cursor.value == "domain":
            if not cursor.next_on_line():
                raise cursor.wrong_count()
            if not is_domain_name(cursor.value):
                raise Refused(f"health_check: invalid domain name {cursor.value}")
        elif cursor.value != "no_rec":
            raise Refused(f"health_check: unknown option {cursor.value}")


def _forward_words(cursor: Cursor, name: str) -> list[str]:
    words = cursor.rest_of_line()
    if name == "tls":
        if len(words) > 3:
            raise cursor.wrong_count()
    elif name == "failfast_all_unhealthy_upstreams":
        if words:
            raise cursor.wrong_count()
    elif not words:
        raise cursor.wrong_count()
    if name in ("next", "failover"):
        for word in words:
            if word.upper() not in RCODES:
                raise Refused(f"{word} is not a valid rcode")
            if name == "failover" and word.upper() == "NOERROR":
                raise Refused("NoError cannot be used in failover")
    return words
