"""CoreDNS's configuration: what the servers of a Corefile answer, from where, and why one is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from env_core.programs._corefile_parser import CorefileProblem, Cursor, ServerBlock, blocks_of
from env_core.programs._corefile_plugins import DIRECTIVES, ORDER, set_up
from env_core.programs._corefile_words import HOSTNAMES_SINCE, TRANSPORT, Facts, Forward, Surroundings
from env_core.programs._dns_names import full_name, is_domain_name

__all__ = ["HOSTNAMES_SINCE", "CorefileProblem", "Zone", "read"]

Items = tuple[tuple[str, str], ...]
DEFAULT: Final = ".:53 {\nwhoami\nlog\n}\n"
"""What CoreDNS serves when it has no configuration, or an empty one."""
_PORT_MAX: Final = 65_535
_NAMED_PORT: Final = re.compile(r"(.*):(\d+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Zone:
    """A server block: what it answers for, from where."""

    name: str
    port: int
    cluster_zones: tuple[str, ...] = ()
    """The zones of the kubernetes plugin, without the final dot; none when the plugin is missing."""
    pods: str = "disabled"
    forwards: tuple[str, ...] = ()
    """Where the rest goes; none means REFUSED."""
    ttl_seconds: int = 5
    answers: tuple[tuple[str, str], ...] = ()
    """(name, address) of the hosts plugin."""
    rewrites: tuple[tuple[str, str], ...] = ()
    """(exact name, name) of `rewrite name`."""
    ends_at_hosts: bool = False
    """Whether the hosts plugin lets nothing through to those after it."""
    transport: str = "dns"
    facts: Facts = field(default_factory=Facts, compare=False)
    """What each plugin was told."""

    def has(self, plugin: str) -> bool:
        """Whether the server block uses a plugin."""
        return plugin in self.facts.plugins


def _split_key(key: str) -> tuple[str, str, int]:
    """Return the transport, zone and port of a server block's key.

    Source: github.com/coredns/coredns plugin/normalize.go SplitHostPort.
    """
    scheme = TRANSPORT.match(key)
    transport = scheme[1] if scheme else "dns"
    bare = key[scheme.end() :] if scheme else key
    if bare.endswith(":"):
        raise CorefileProblem(f'error inspecting server blocks: expecting data after last colon: "{bare}"')
    found = _NAMED_PORT.match(bare)
    port = {"tls": 853, "quic": 853, "grpc": 443, "https": 443, "https3": 443}.get(transport, 53)
    name = bare
    if found is not None:
        name, port = found[1], int(found[2])
    if not is_domain_name(name):
        raise CorefileProblem(f"error inspecting server blocks: zone is not a valid domain name: {name}")
    return transport, full_name(name), port


def _zones(blocks: list[ServerBlock], around: Surroundings, path: str, built: frozenset[str]) -> list[Zone]:
    keys = [[_split_key(key) for key in block.keys] for block in blocks]
    told = [Facts() for _ in blocks]
    for name in ORDER:
        for block, facts, of in zip(blocks, told, keys, strict=True):
            if name not in block.directives:
                continue
            if name not in built:
                raise CorefileProblem(
                    f"no action found for directive '{name}' with server type 'dns' (missing a plugin?)"
                )
            shown = tuple(f"{transport}://{zone}:{port}" for transport, zone, port in of)
            own = Surroundings(
                around.files, around.env, shown, version=around.version, name_server=around.name_server
            )
            set_up(name, Cursor(block.directives[name], path), facts, own)
    zones = [_zone(key, facts) for of, facts in zip(keys, told, strict=True) for key in of]
    for zone in zones:
        if zone.port > _PORT_MAX:
            raise CorefileProblem(f"address {zone.port}: invalid port")
    seen: set[tuple[str, str, int]] = set()
    for zone in zones:
        key = (zone.transport, zone.name, zone.port)
        if key in seen:
            raise CorefileProblem(
                f"cannot serve {zone.transport}://{zone.name}:{zone.port} - it is already defined"
            )
        seen.add(key)
    return zones


def _zone(key: tuple[str, str, int], facts: Facts) -> Zone:
    transport, name, port = key
    return Zone(
        name=name,
        port=port,
        cluster_zones=facts.cluster_zones,
        pods=facts.pods,
        forwards=tuple(each for forward in facts.forwards for each in forward.upstreams),
        ttl_seconds=facts.ttl_seconds,
        answers=facts.answers,
        rewrites=tuple(
            (source.rstrip("."), target.rstrip("."))
            for kind, source, target in facts.rewrites
            if kind == "exact"
        ),
        ends_at_hosts="hosts" in facts.plugins and not facts.hosts_fall_through,
        transport=transport,
        facts=facts,
    )


def forward_for(zone: Zone, name: str) -> Forward | None:
    """Return the forward line that takes a full name, or None."""
    for each in zone.facts.forwards:
        if is_below(name, each.zone) and not any(is_below(name, out) for out in each.excepted):
            return each
    return None


def is_below(name: str, zone: str) -> bool:
    """Whether a full name is a zone's own or one inside it."""
    return zone == "." or name == zone or name.endswith(f".{zone}")


@lru_cache(maxsize=64)
def read(
    path: str, text: str, files: Items = (), env: Items = (), version: tuple[int, int] = (1, 12),
    name_server: str = "", built: frozenset[str] = DIRECTIVES,
) -> tuple[tuple[Zone, ...], tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """Return the server blocks of a Corefile, the warnings of its imports and those of its plugins.

    `built` are the plugins that the binary holds; `name_server` is the one of the container's resolv.conf.

    Raises:
        CorefileProblem: if CoreDNS refuses it.

    Source: github.com/coredns/caddy caddyfile/parse.go, caddy.go; tests/golden/programs/coredns (config_error),
    tests/golden/promql/coredns (syntax).
    """
    names, variables = dict(files), dict(env)
    blocks, imports = blocks_of(path, text if text else DEFAULT, names, variables, DIRECTIVES)
    around = Surroundings(names, variables, (), version=version, name_server=name_server)
    zones = _zones(blocks, around, path, built)
    warnings = dict.fromkeys(warning for zone in zones for warning in zone.facts.warnings)
    return tuple(zones), tuple(imports), tuple(warnings)
