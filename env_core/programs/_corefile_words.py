"""What the setup functions of CoreDNS's plugins share: settings, surroundings, words read as Go reads them.

Source: github.com/coredns/coredns plugin/normalize.go, plugin/pkg/parse; Go net.SplitHostPort.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from env_core.objects.goint import IntegerError, atoi
from env_core.objects.problems import quoted
from env_core.programs._corefile_parser import Cursor
from env_core.programs._dns_names import full_name, is_domain_name
from env_core.sim.timefmt import DurationError, parse_go_duration

ONCE: Final = "this plugin can only be used once per Server Block"
HOSTNAMES_SINCE: Final = (1, 14)
"""The first release whose forward takes host names. Not recorded between 1.12 and 1.15."""
NODE_RESOLVER: Final = "169.254.169.253"
"""The name server of the nodes, which /etc/resolv.conf of a pod with dnsPolicy Default names."""
TRANSPORT: Final = re.compile(r"(tls|dns|quic|grpc|https3|https|unix)://")
_IPV4: Final = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\Z")
_IPV6: Final = re.compile(r"(?=.*:.*:)[0-9a-fA-F:]+\Z")
_RCODES: Final = (
    "NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH NOTZONE BADSIG"
)
RCODES: Final = frozenset(_RCODES.split())


@dataclass(frozen=True, slots=True)
class Forward:
    """One `forward` line."""

    zone: str
    upstreams: tuple[str, ...]
    """`[tls://]address:port`, in order."""
    policy: str = "random"
    max_fails: int = 2
    excepted: tuple[str, ...] = ()
    has_force_tcp: bool = False


@dataclass(slots=True)
class Facts:
    """What the plugins of one server block were told."""

    plugins: list[str] = field(default_factory=list)
    cluster_zones: tuple[str, ...] = ()
    pods: str = "disabled"
    endpoint: str = ""
    falls_through: tuple[str, ...] | None = None
    ttl_seconds: int = 5
    startup_ms: int = 5_000
    forwards: tuple[Forward, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    hosts_fall_through: bool = False
    hosts_ttl_seconds: int = 3_600
    rewrites: tuple[tuple[str, str, str], ...] = ()
    """(kind, from, to) of `rewrite name`."""
    zone_files: tuple[tuple[str, str], ...] = ()
    """(zone, path)."""
    blocks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(action, networks) of `acl`; no networks means all."""
    health: str = ""
    ready: str = ""
    metrics: str = ""
    lameduck: str = ""
    log_classes: tuple[str, ...] = ()
    consolidated: tuple[tuple[int, str, str], ...] = ()
    """(milliseconds, pattern, level)."""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plugin sees beside its own words."""

    files: Mapping[str, str]
    env: Mapping[str, str]
    keys: tuple[str, ...]
    version: tuple[int, int]
    name_server: str


class Refused(Exception):
    """A plugin's complaint without a place."""


Setup = Callable[[Cursor, Facts, Surroundings], None]


def is_ip(text: str) -> bool:
    """Whether a text is an IP address."""
    return bool(_IPV4.match(text) or _IPV6.match(text) or _IPV4.match(text.removeprefix("::ffff:")))


def zone_list(words: list[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the zones that a plugin names, or those of its server block; names that are none are left out."""
    return tuple(full_name(bare) for bare in (_host(word) for word in words or keys) if is_domain_name(bare))


def _host(key: str) -> str:
    bare = TRANSPORT.sub("", key, count=1)
    head, colon, port = bare.rpartition(":")
    return head if colon and port.isdigit() else bare


def number_of(text: str) -> int:
    try:
        return atoi(text)
    except IntegerError as error:
        raise Refused(str(error)) from None


def unsigned_of(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise Refused(f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax")
    if int(text) > 2**32 - 1:
        raise Refused(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)


def duration_of(text: str) -> int:
    try:
        return parse_go_duration(text)
    except DurationError as error:
        raise Refused(str(error)) from None


def check_address(address: str) -> None:
    """Complain as Go's net.SplitHostPort does."""
    rest = address
    if rest.startswith("["):
        _, bracket, rest = rest[1:].partition("]")
        if not bracket:
            raise Refused(f"address {address}: missing ']' in address")
        if not rest.startswith(":"):
            raise Refused(f"address {address}: missing port in address")
        return
    if ":" not in rest:
        raise Refused(f"address {address}: missing port in address")
    if rest.count(":") > 1:
        raise Refused(f"address {address}: too many colons in address")


class Turns:
    """The occurrences of a directive, numbered from 0; the cursor stands on its name."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._turn = -1

    def __iter__(self) -> Turns:
        return self

    def __next__(self) -> int:
        if not self._cursor.next():
            raise StopIteration
        self._turn += 1
        return self._turn
