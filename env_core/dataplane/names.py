"""Names: what the cluster's DNS knows, computed from Services, endpoints and pods."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from env_core.apiserver.store import Store
from env_core.dataplane._model import Answer, OutsideName
from env_core.dataplane.services import SLICES
from env_core.programs._corefile import Zone
from env_core.sim.table import Table
from env_core.world import Object

CLUSTER_DOMAIN: Final = "cluster.local"
REVERSE: Final = "in-addr.arpa"
_CNAMES_MAX: Final = 8
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z", re.ASCII)


@lru_cache(maxsize=4096)
def is_address(text: str) -> bool:
    """Whether a host is written as an IPv4 address."""
    return bool(_ADDRESS.match(text)) and all(int(part) < 256 for part in text.split("."))


@lru_cache(maxsize=4096)
def candidates(host: str, search: tuple[str, ...], ndots: int) -> tuple[str, ...]:
    """Return the names that a resolver library asks for, in order.

    Source: resolv.conf(5); tests/golden/programs/dns (dig.search.*).
    """
    if host.endswith("."):
        return (host[:-1],)
    expanded = tuple(f"{host}.{domain}" for domain in search)
    return (host, *expanded) if host.count(".") >= ndots else (*expanded, host)


class Names:
    """The records of the cluster's zones, looked up in a store; `refresh` comes before use.

    `outside` holds what the world outside knows: a name, or a whole zone by its name with a dot in front.
    """

    __slots__ = ("_answers", "_found", "_outside", "_stamp", "_store")

    def __init__(self, store: Store, outside: Table[Any, Any]) -> None:
        self._store = store
        self._outside = outside
        self._stamp = -1
        self._answers: dict[tuple[str, str, tuple[Zone, ...]], Answer] = {}
        self._found: dict[
            tuple[str, tuple[str, ...], int, tuple[Zone, ...]], tuple[str, tuple[str, ...], str, int]
        ] = {}

    def refresh(self) -> None:
        """Drop what changes to Services, endpoints and namespaces have outdated."""
        store = self._store
        stamp = store.last_write("services") + store.last_write(SLICES) + store.last_write("namespaces")
        if stamp != self._stamp:
            self._answers.clear()
            self._found.clear()
            self._stamp = stamp

    def declare(self, name: str, known: OutsideName) -> None:
        """Let the world outside know a name, or all names of a zone (".example.com")."""
        self._outside[name.lower()] = known
        self._answers.clear()
        self._found.clear()

    def answer(self, zones: tuple[Zone, ...], name: str, kind: str) -> Answer:
        """Answer one query as a CoreDNS with these server blocks does. `name` has no final dot."""
        key = (name, kind, zones)
        found = self._answers.get(key)
        if found is None:
            found = self._computed(zones, name.lower(), kind)
            if len(self._answers) > 4096:
                self._answers.clear()
            self._answers[key] = found
        return found

    def search(
        self, zones: tuple[Zone, ...], name: str, domains: tuple[str, ...], ndots: int
    ) -> tuple[str, tuple[str, ...], str, int]:
        """Look a host up along a search list: the response code, addresses, the name that had them, milliseconds."""
        key = (name, domains, ndots, zones)
        found = self._found.get(key)
        if found is None:
            if len(self._found) > 4096:
                self._found.clear()
            found = self._found[key] = self._searched(zones, name, domains, ndots)
        return found

    def _searched(
        self, zones: tuple[Zone, ...], name: str, domains: tuple[str, ...], ndots: int
    ) -> tuple[str, tuple[str, ...], str, int]:
        rcode = "NXDOMAIN"
        latency_ms = 0
        for candidate in candidates(name, domains, ndots):
            answer = self.answer(zones, candidate, "A")
            latency_ms += answer.latency_ms
            if answer.rcode == "NOERROR":
                addresses = answer.values("A")
                if addresses:
                    return "NOERROR", addresses, answer.records[-1][0], latency_ms
            elif answer.rcode != "NXDOMAIN":
                rcode = answer.rcode
        return rcode, (), "", latency_ms

    def _computed(self, zones: tuple[Zone, ...], name: str, kind: str) -> Answer:
        zone = _zone_for(zones, name)
        if zone is None:
            return Answer(rcode="REFUSED", is_authoritative=False)
        for exact, target in zone.rewrites:
            if name == exact:
                name = target
        for host, address in zone.answers:
            if host == name and kind in ("A", "ANY"):
                return Answer(records=((name, "A", address),), ttl_seconds=3600)
        if zone.ends_at_hosts:
            is_known = any(host == name for host, _ in zone.answers)
            return Answer() if is_known else Answer(rcode="SERVFAIL", is_authoritative=False)
        domain = next((each for each in zone.cluster_zones if name == each or name.endswith(f".{each}")), "")
        if domain and domain.endswith(REVERSE):
            found = self._pointer(name)
            if found:
                return Answer(records=((name, "PTR", found),), ttl_seconds=zone.ttl_seconds)
        elif domain:
            return self._in_cluster(zone, zones, name, kind, domain)
        if not zone.forwards:
            return Answer(rcode="REFUSED", is_authoritative=False)
        return self._forwarded(zone, name, kind)

    def _forwarded(self, zone: Zone, name: str, kind: str) -> Answer:
        """The world outside: its resolver answers, and knows the names that are declared."""
        if any(is_address(each.rpartition("://")[2].partition(":")[0]) for each in zone.forwards):
            # An upstream that is no resolver of this world never answers.
            return Answer(rcode="SERVFAIL", is_authoritative=False, latency_ms=4_000)
        return self.answer_outside(name, kind)

    def answer_outside(self, name: str, kind: str) -> Answer:
        """Answer one query as the resolvers outside the cluster do."""
        known = self._known_outside(name)
        is_own = known is not None and known.is_own
        if known is None or (known.rcode == "NOERROR" and name not in self._outside):
            zone_name = known.zone if known is not None else "."
            return Answer(
                rcode="NXDOMAIN", is_authoritative=is_own, is_recursive=not is_own, authority=zone_name
            )
        if known.rcode != "NOERROR":
            authority = known.zone if known.rcode == "NXDOMAIN" else ""
            return Answer(
                rcode=known.rcode, is_authoritative=is_own, is_recursive=not is_own, authority=authority
            )
        if kind != "A":
            return Answer(is_authoritative=is_own, is_recursive=not is_own, authority=known.zone)
        records = tuple((name, "A", address) for address in known.addresses)
        return Answer(records=records, is_authoritative=is_own, is_recursive=not is_own)

    def _known_outside(self, name: str) -> OutsideName | None:
        """Return what is declared of a name, or of the nearest zone above it."""
        if not self._outside:
            return None
        found: OutsideName | None = self._outside.get(name)
        rest = name
        while found is None and rest:
            found = self._outside.get(f".{rest}")
            rest = rest.partition(".")[2]
        return found

    def _in_cluster(self, zone: Zone, zones: tuple[Zone, ...], name: str, kind: str, domain: str) -> Answer:
        labels = name[: -len(domain) - 1].split(".") if name != domain else []
        missing = Answer(rcode="NXDOMAIN", authority=domain)
        empty = Answer(authority=domain)
        if not labels:
            return empty
        if labels[-1] == "pod" and len(labels) == 3:
            return self._pod(zone, name, labels, kind, missing, empty)
        if labels[-1] != "svc":
            return missing
        if len(labels) == 1:
            return empty
        if self._store.get("namespaces", "", labels[-2]) is None:
            return missing
        if len(labels) == 2:
            return empty
        service = self._store.get("services", labels[-2], labels[-3])
        if service is None:
            return missing
        return self._service(zone, zones, name, kind, labels[:-3], service, missing, empty)

    def _pod(
        self, zone: Zone, name: str, labels: list[str], kind: str, missing: Answer, empty: Answer
    ) -> Answer:
        address = labels[0].replace("-", ".")
        if zone.pods == "disabled" or not is_address(address):
            return missing
        if self._store.get("namespaces", "", labels[1]) is None:
            return missing
        return Answer(records=((name, "A", address),), ttl_seconds=zone.ttl_seconds) if kind == "A" else empty

    def _service(
        self, zone: Zone, zones: tuple[Zone, ...], name: str, kind: str, front: list[str], service: Object,
        missing: Answer, empty: Answer,
    ) -> Answer:  # fmt: skip
        spec = service["spec"]
        ttl = zone.ttl_seconds
        if spec.get("type") == "ExternalName":
            if front:
                return missing
            target = spec.get("externalName", "").rstrip(".").lower()
            records: tuple[tuple[str, str, str], ...] = ((name, "CNAME", target),)
            if kind != "CNAME":
                deeper = self.answer(zones, target, kind) if target != name else Answer()
                records += deeper.records[:_CNAMES_MAX]
            return Answer(records=records, ttl_seconds=ttl)
        is_headless = spec.get("clusterIP") == "None"
        if len(front) == 2 and front[0].startswith("_") and front[1].startswith("_"):
            return self._srv(name, front, service, ttl, missing) if kind == "SRV" else empty
        if front and (len(front) > 1 or not is_headless):
            return missing
        if not is_headless:
            address = spec.get("clusterIP", "")
            if not address:
                return missing
            return Answer(records=((name, "A", address),), ttl_seconds=ttl) if kind == "A" else empty
        rows = self._endpoints(service)
        if front:
            rows = [row for row in rows if row[0] == front[0]]
        if not rows:
            return missing
        addresses = dict.fromkeys(address for _, address in rows)
        records = tuple((name, "A", address) for address in addresses)
        return Answer(records=records, ttl_seconds=ttl) if kind == "A" else empty

    def _endpoints(self, service: Object) -> list[tuple[str, str]]:
        """Return (host name, address) of a headless Service's ready endpoints."""
        metadata = service["metadata"]
        takes_all = bool(service["spec"].get("publishNotReadyAddresses"))
        rows: list[tuple[str, str]] = []
        for entry in self._store.indexed("service", f"{metadata['namespace']}/{metadata['name']}"):
            for endpoint in entry.get("endpoints") or ():
                if takes_all or (endpoint.get("conditions") or {}).get("ready", True) is not False:
                    rows += [
                        (endpoint.get("hostname") or address.replace(".", "-"), address)
                        for address in endpoint.get("addresses") or ()
                    ]
        return sorted(
            rows, key=lambda row: [int(part) if part.isdigit() else 0 for part in row[1].split(".")]
        )

    def _srv(self, name: str, front: list[str], service: Object, ttl: int, missing: Answer) -> Answer:
        wanted, protocol = front[0][1:], front[1][1:].upper()
        base = name.split(".", 2)[2]
        records: list[tuple[str, str, str]] = []
        for port in service["spec"].get("ports") or ():
            if port.get("name", "") != wanted or port.get("protocol", "TCP") != protocol:
                continue
            if service["spec"].get("clusterIP") != "None":
                records.append((name, "SRV", f"0 100 {port['port']} {base}."))
                continue
            rows = self._endpoints(service)
            weight = 100 // len(rows) if rows else 0
            records += [(name, "SRV", f"0 {weight} {port['port']} {host}.{base}.") for host, _ in rows]
        return Answer(records=tuple(records), ttl_seconds=ttl) if records else missing

    def _pointer(self, name: str) -> str:
        address = ".".join(reversed(name.removesuffix(f".{REVERSE}").split(".")))
        for service in self._store.list("services"):
            metadata = service["metadata"]
            base = f"{metadata['name']}.{metadata['namespace']}.svc.{CLUSTER_DOMAIN}"
            spec = service["spec"]
            if spec.get("clusterIP") == address:
                return base
            if spec.get("clusterIP") == "None":
                for host, each in self._endpoints(service):
                    if each == address:
                        return f"{host}.{base}"
        return ""


def _zone_for(zones: tuple[Zone, ...], name: str) -> Zone | None:
    best: Zone | None = None
    for zone in zones:
        bare = zone.name.rstrip(".").lower()
        if (not bare or name == bare or name.endswith(f".{bare}")) and zone.port == 53:
            if best is None or len(bare) > len(best.name.rstrip(".")):
                best = zone
    return best
