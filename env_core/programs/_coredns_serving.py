"""One query on its way through CoreDNS's plugins: the answer, the time it takes, and the lines of the log.

Source: github.com/coredns/coredns plugin/{acl,errors,forward,hosts,log,whoami}; tests/golden/promql/coredns,
tests/golden/programs/coredns.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from env_core.objects.re2 import compiled
from env_core.programs._corefile import Zone, forward_for, is_below
from env_core.programs._dns_names import full_name, question_bytes, record_bytes
from env_core.programs._model import TIMEOUT
from env_core.programs._zone_file import ZoneFile

Record = tuple[str, str, str]
"""(full name, type, value)."""
READ_MS: Final = 2_000
"""How long the forward plugin waits for an upstream's answer."""
_DEADLINE_MS: Final = 5_000
_CHECK_MS: Final = 1_000
"""How long a health check waits for an upstream's answer."""
_PAUSE_MS: Final = 500
"""Between two health checks of an upstream that has failed."""
_TRIES_EACH: Final = 2
_EDNS_BYTES: Final = 17
"""An OPT record with an extended error of no text."""
_LOGS_UNWRITTEN_SINCE: Final = (1, 14)
"""The first release that logs answers which the server makes up itself. Not recorded between 1.12 and 1.15."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as a client sends it."""

    name: str
    kind: str
    source: str = "127.0.0.1:43210"
    protocol: str = "udp"
    bufsize: int = 512
    extra_bytes: int = 0
    """What EDNS options add to the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An answer, or the code that the server makes one of (`is_written` False)."""

    rcode: str = "NOERROR"
    is_authoritative: bool = False
    is_recursive: bool = False
    answers: tuple[Record, ...] = ()
    authority: tuple[Record, ...] = ()
    additional: tuple[Record, ...] = ()
    extra_bytes: int = 0
    is_written: bool = True
    error: str = ""

    def size(self, name: str) -> int:
        """Return the bytes of the message, uncompressed, for a question about `name`."""
        records = (*self.answers, *self.authority, *self.additional)
        return question_bytes(name) + sum(record_bytes(*record) for record in records) + self.extra_bytes


class Asked(NamedTuple):
    """What asking an upstream yields: a message, or why there is none (REFUSED, TIMEOUT)."""

    message: Message | None
    failure: str = ""


class Outcome(NamedTuple):
    """A query's answer, and what became of it in the log."""

    message: Message
    took_ms: int
    lines: tuple[str, ...]
    errors: tuple[str, ...] = ()
    """What the errors plugin saw."""


Ask = Callable[[str, Query], Asked]
"""Asks an upstream address ("10.0.0.1:53")."""
Cluster = Callable[[Zone, Query], Message | None]
"""Answers for the kubernetes plugin; None when the name is none of its own."""

SOA: Final = "ns.dns.{zone} hostmaster.{zone} 1 7200 1800 86400 5"


def authority_of(zone: str) -> Record:
    """Return the SOA record that the kubernetes plugin adds to negative answers."""
    return zone, "SOA", SOA.format(zone=zone)


def unsynced(zone: Zone, query: Query) -> Message | None:
    """Answer as the kubernetes plugin does before it has seen the API."""
    for each in zone.facts.cluster_zones:
        if is_below(full_name(query.name), f"{each}."):
            return Message(rcode="SERVFAIL", is_authoritative=True, authority=(authority_of(f"{each}."),))
    return None


@dataclass(slots=True)
class Server:
    """The plugin chains of a running CoreDNS."""

    zones: tuple[Zone, ...]
    zone_files: Mapping[str, ZoneFile]
    ask: Ask
    cluster: Cluster = unsynced
    version: tuple[int, int] = (1, 12)
    own_address: str = "127.0.0.1"
    down_from: dict[str, int] = field(default_factory=dict)
    """When health checks find an upstream dead: milliseconds on the clock of `answer`."""

    def answer(self, query: Query, port: int = 53, at_ms: int = 0) -> Outcome:
        """Answer a query to a port; `at_ms` counts from the server's start."""
        zone = self._zone(full_name(query.name), port)
        if zone is None:
            return Outcome(Message(rcode="REFUSED", is_written=False), 0, ())
        passing = _Passing(self, zone, query, at_ms)
        message = passing.answer(full_name(query.name))
        lines = list(self._access_lines(zone, query, message, passing))
        errors: tuple[str, ...] = ()
        if message.error and zone.has("errors"):
            text = f"{_RCODES.get(message.rcode, 2)} {full_name(query.name)} {query.kind}: {message.error}"
            errors = (text,)
            if not any(_matches(pattern, message.error) for _, pattern, _ in zone.facts.consolidated):
                lines.append(f"[ERROR] plugin/errors: {text}")
        return Outcome(message, passing.took_ms, tuple(lines), errors)

    def _zone(self, name: str, port: int) -> Zone | None:
        best: Zone | None = None
        for zone in self.zones:
            if zone.port == port and is_below(name, zone.name):
                if best is None or len(zone.name) > len(best.name):
                    best = zone
        return best

    def _access_lines(self, zone: Zone, query: Query, message: Message, passing: _Passing) -> Iterator[str]:
        if not zone.has("log"):
            return
        classes = zone.facts.log_classes or ("all",)
        if "all" not in classes and _class_of(message) not in classes:
            return
        size = question_bytes(passing.name) + query.extra_bytes
        asked = f'"{query.kind} IN {full_name(query.name)} {query.protocol} {size} false {query.bufsize}"'
        start = f"[INFO] {query.source} - 4660 {asked}"
        seconds = _seconds(passing.took_ms)
        if not message.is_written and self.version < _LOGS_UNWRITTEN_SINCE:
            yield f"{start} - - 0 {seconds}"
            return
        flags = ["qr", *(["aa"] if message.is_authoritative else []), "rd"]
        flags += ["ra"] if message.is_recursive else []
        yield f"{start} {message.rcode} {','.join(flags)} {message.size(query.name)} {seconds}"


_RCODES: Final = {"NOERROR": 0, "FORMERR": 1, "SERVFAIL": 2, "NXDOMAIN": 3, "NOTIMP": 4, "REFUSED": 5}


def _seconds(took_ms: int) -> str:
    return f"{took_ms / 1000 + 0.000125:.9f}".rstrip("0") + "s"


def _class_of(message: Message) -> str:
    if message.rcode == "NXDOMAIN" or (message.rcode == "NOERROR" and not message.answers):
        return "denial"
    return "success" if message.rcode == "NOERROR" else "error"


def _matches(pattern: str, text: str) -> bool:
    return compiled(pattern).search(text)


def level_of(zone: Zone, error: str) -> tuple[int, str, str] | None:
    """Return the period in milliseconds, pattern and level of the first rule that gathers an error."""
    for period_ms, pattern, level in zone.facts.consolidated:
        if _matches(pattern, error):
            return period_ms, pattern, level
    return None


@dataclass(slots=True)
class _Passing:
    """A query inside one chain."""

    server: Server
    zone: Zone
    query: Query
    at_ms: int
    name: str = ""
    """The name as rewrite rules have made it."""
    took_ms: int = 0

    def answer(self, name: str) -> Message:
        self.name = name
        facts = self.zone.facts
        for plugin in ("rewrite", "acl", "hosts", "kubernetes", "file", "forward", "whoami"):
            if plugin not in facts.plugins:
                continue
            found = _STEPS[plugin](self)
            if found is not None:
                return self._renamed(found, name)
        return Message(rcode="REFUSED", is_written=False)

    def _renamed(self, message: Message, name: str) -> Message:
        """Give the answers the name that was asked for, as name rules do."""
        if self.name == name:
            return message
        answers = tuple(
            (name if each == self.name else each, kind, value) for each, kind, value in message.answers
        )
        return Message(
            rcode=message.rcode, is_authoritative=message.is_authoritative, is_recursive=message.is_recursive, answers=answers,
            authority=message.authority, additional=message.additional, extra_bytes=message.extra_bytes,
            is_written=message.is_written, error=message.error,
        )  # fmt: skip

    def rewrite(self) -> Message | None:
        for kind, source, target in self.zone.facts.rewrites:
            name = self.name
            if kind == "exact" and name == source:
                self.name = target
            elif kind == "prefix" and name.startswith(source):
                self.name = target + name.removeprefix(source)
            elif kind == "suffix" and name.endswith(source):
                self.name = name.removesuffix(source) + target
            elif kind == "substring" and source in name:
                self.name = name.replace(source, target)
            elif kind == "regex" and _matches(source, name):
                self.name = full_name(_substituted(source, target, name))
            else:
                continue
            break
        return None

    def acl(self) -> Message | None:
        address = self.query.source.rpartition(":")[0].strip("[]")
        for action, networks in self.zone.facts.blocks:
            if networks and not any(_is_in(address, network) for network in networks):
                continue
            if action == "allow":
                return None
            if action == "drop":
                return Message(is_written=False)
            return Message(rcode="REFUSED" if action == "block" else "NOERROR", extra_bytes=_EDNS_BYTES)
        return None

    def hosts(self) -> Message | None:
        bare = self.name.rstrip(".")
        known = [address for host, address in self.zone.facts.answers if host == bare]
        wanted = [each for each in known if (":" in each) == (self.query.kind == "AAAA")]
        if self.query.kind in ("A", "AAAA") and wanted:
            answers = tuple((self.name, self.query.kind, address) for address in wanted)
            return Message(is_authoritative=True, answers=answers)
        if known:
            return Message(is_authoritative=True)
        if self.zone.facts.hosts_fall_through:
            return None
        return Message(rcode="SERVFAIL", is_written=False)

    def kubernetes(self) -> Message | None:
        own = Query(
            name=self.name, kind=self.query.kind, source=self.query.source, protocol=self.query.protocol
        )
        return self.server.cluster(self.zone, own)

    def file(self) -> Message | None:
        for origin, path in self.zone.facts.zone_files:
            if not is_below(self.name, origin):
                continue
            held = self.server.zone_files.get(path)
            if held is None:
                return Message(rcode="SERVFAIL", is_written=False)
            rcode, answers, authority, additional = held.lookup(self.name, self.query.kind)
            return Message(
                rcode=rcode,
                is_authoritative=True,
                answers=answers,
                authority=authority,
                additional=additional,
            )
        return None

    def whoami(self) -> Message | None:
        name, protocol = self.name, self.query.protocol
        address, _, port = self.query.source.rpartition(":")
        kind = "AAAA" if ":" in address else "A"
        service = f"_{protocol}.{name}" if name != "." else f"_{protocol}."
        records = ((name, kind, address), (service, "SRV", f"0 0 {port} ."))
        return Message(is_authoritative=True, additional=records)

    def _is_down(self, upstream: str) -> bool:
        from_ms = self.server.down_from.get(upstream)
        return from_ms is not None and self.at_ms + self.took_ms >= from_ms

    def forward(self) -> Message | None:
        line = forward_for(self.zone, self.name)
        if line is None:
            return None
        upstreams, server = line.upstreams, self.server
        fails = attempts = index = 0
        error = "no healthy proxies"
        while self.took_ms < _DEADLINE_MS and attempts < _TRIES_EACH * len(upstreams):
            if index >= len(upstreams):
                index = fails = 0
            upstream = upstreams[index]
            index += 1
            if line.max_fails and self._is_down(upstream):
                fails += 1
                if fails < len(upstreams):
                    continue
                # Health checks must be broken: any of them is tried, which one is left to chance.
                upstream = upstreams[-1]
            scheme, _, address = upstream.rpartition("://")
            asked = server.ask(
                upstream, Query(name=self.name, kind=self.query.kind, source=self.query.source)
            )
            if asked.message is not None:
                return asked.message
            is_tcp = scheme == "tls" or line.has_force_tcp
            error = _failure(asked.failure, address, server.own_address, is_tcp=is_tcp)
            if asked.failure == TIMEOUT:
                self.took_ms += READ_MS
            if line.max_fails:
                check_ms = _CHECK_MS if asked.failure == TIMEOUT else 0
                dead_ms = line.max_fails * (check_ms + _PAUSE_MS) - _PAUSE_MS
                server.down_from.setdefault(upstream, self.at_ms + self.took_ms + dead_ms)
            attempts += 1
            if fails >= len(upstreams):
                break
        return Message(rcode="SERVFAIL", is_written=False, error=error)


_STEPS: Final[dict[str, Callable[[_Passing], Message | None]]] = {
    "rewrite": _Passing.rewrite, "acl": _Passing.acl, "hosts": _Passing.hosts, "kubernetes": _Passing.kubernetes,
    "file": _Passing.file, "forward": _Passing.forward, "whoami": _Passing.whoami,
}  # fmt: skip


def _failure(failure: str, address: str, own: str, *, is_tcp: bool) -> str:
    """Return Go's text for an upstream that does not answer."""
    if is_tcp:
        why = "i/o timeout" if failure == TIMEOUT else "connect: connection refused"
        return f"dial tcp {address}: {why}"
    here = "127.0.0.1" if address.startswith("127.") else own
    why = "i/o timeout" if failure == TIMEOUT else "read: connection refused"
    return f"read udp {here}:43210->{address}: {why}"


def _is_in(address: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _substituted(pattern: str, target: str, name: str) -> str:
    return compiled(pattern).expand(re.sub(r"\{(\d+)\}", r"${\1}", target), name) or name
