"""Name resolution as programs in a place see it: hosts file, search list, name server."""

from __future__ import annotations

from env_core.dataplane._model import Answer, Resolution, Source
from env_core.dataplane.connecting import DNS_ADDRESS, DNS_TRY_MS, NODE_RESOLVER, Connector, Place
from env_core.dataplane.names import CLUSTER_DOMAIN, is_address
from env_core.programs import (
    DNS_TIMEOUT,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
    coredns,
)
from env_core.programs._corefile import Zone


class Resolver(Connector):
    """Resolves names, on top of the connections that the name server is reached by."""

    __slots__ = ()

    def search_of(self, source: Source) -> tuple[tuple[str, ...], int, str]:
        """Return the search list, ndots and name server of a place's resolv.conf."""
        return self._place(source).resolver

    def hosts_of(self, source: Source) -> dict[str, str]:
        """Return the names in a place's /etc/hosts with their addresses."""
        return dict(self._place(source).hosts)

    def _place(self, source: Source) -> Place:
        self._refresh()
        found = self._places.get(source.uid)
        if found is None:
            found = self._places[source.uid] = Place(self._resolver_of(source), self._hosts_file(source))
        return found

    def _resolver_of(self, source: Source) -> tuple[tuple[str, ...], int, str]:
        if source.is_outside:
            return (f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN), 5, DNS_ADDRESS
        pod = self._store.get("pods", source.namespace, source.pod)
        config = ((pod["spec"].get("dnsConfig") or {}) if pod is not None else {}) or {}
        policy = source.dns_policy
        if policy == "ClusterFirst" and source.is_host_network:
            policy = "Default"
        search: tuple[str, ...] = ()
        server, ndots = NODE_RESOLVER, 1
        if policy in ("ClusterFirst", "ClusterFirstWithHostNet"):
            search = (f"{source.namespace}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)
            server, ndots = DNS_ADDRESS, 5
        if config:
            search = (*search, *(each for each in config.get("searches") or () if each not in search))
            servers = config.get("nameservers") or ()
            if servers and policy == "None":
                server = servers[0]
            for option in config.get("options") or ():
                if option.get("name") == "ndots" and str(option.get("value", "")).isdigit():
                    ndots = int(option["value"])
        return search, ndots, server

    def _hosts_file(self, source: Source) -> dict[str, str]:
        found = {"localhost": "127.0.0.1"}
        if source.is_outside:
            return found
        pod = self._store.get("pods", source.namespace, source.pod)
        spec = pod["spec"] if pod is not None else {}
        found[spec.get("hostname") or source.pod] = source.ip
        for alias in spec.get("hostAliases") or ():
            for name in alias.get("hostnames") or ():
                found.setdefault(name, alias["ip"])
        return found

    def resolve(self, source: Source, host: str, *, tries: int = 2) -> Resolution:
        """Resolve a name as a program at `source` does: /etc/hosts, search list, name server.

        `tries` is how many times 5 s a query waits for an answer: two for glibc, one for musl.
        """
        if is_address(host):
            return Resolution(addresses=(host,), name=host)
        lower = host.lower()
        if lower == "localhost" or (source.is_outside and lower.endswith(".localhost")):
            return Resolution(addresses=("127.0.0.1",), name=host, is_local=True)
        if not host or len(host) > 253:
            return Resolution(failure=NXDOMAIN)
        place = self._place(source)
        known = place.hosts.get(lower)
        if known is not None:
            return Resolution(addresses=(known,), name=host, is_local=True)
        if source.is_outside and self._routes.has_host(lower):
            return Resolution(addresses=("127.0.0.1",), name=host)
        search, ndots, server = place.resolver
        zones, failure = self._name_server(source, server, "UDP")
        if failure == TIMEOUT:
            return Resolution(failure=DNS_TIMEOUT, latency_ms=DNS_TRY_MS * tries, server=server)
        if failure:
            return Resolution(failure=SERVFAIL, latency_ms=1, server=server, is_refused=failure == REFUSED)
        if zones is None:
            answer = self._names.answer_outside(lower, "A")
            if answer.records:
                return Resolution(addresses=answer.values("A"), latency_ms=1, name=lower)
            failure = NXDOMAIN if answer.rcode == "NXDOMAIN" else SERVFAIL
            return Resolution(failure=failure, latency_ms=1, server=server)
        rcode, addresses, name, latency_ms = self._names.search(zones, lower, search, ndots)
        if addresses:
            return Resolution(addresses=addresses, latency_ms=latency_ms, name=name)
        failure = NXDOMAIN if rcode == "NXDOMAIN" else SERVFAIL
        return Resolution(failure=failure, latency_ms=latency_ms, server=server)

    def _name_server(self, source: Source, server: str, protocol: str) -> tuple[tuple[Zone, ...] | None, str]:
        """Return the zones that a name server serves (None for the nodes' resolver), or why it does not answer."""
        if server == NODE_RESOLVER:
            return None, "" if self._may_connect(source, server, None, 53, protocol) else TIMEOUT
        connection = self.connect(source, server, 53, protocol)
        if connection.failure:
            return None, TIMEOUT if connection.failure == UNREACHABLE else connection.failure
        run = connection.run
        if run is None or run.program != "coredns":
            return None, TIMEOUT
        # The reload plugin takes a changed Corefile over by itself, unless it is wrong.
        return coredns.zones(run.container) or coredns.zones(self.started_as(run)), ""

    def query(
        self, source: Source, name: str, kind: str, *, server: str = "", protocol: str = "UDP"
    ) -> Answer:
        """Ask one name server (the place's own when none is named) one question."""
        zones, failure = self._name_server(source, server or self.search_of(source)[2], protocol)
        if failure:
            return Answer(failure=failure)
        if zones is None:
            return self._names.answer_outside(name.lower(), kind)
        return self._names.answer(zones, name, kind)
