"""The declarations of our own web services: products, their releases, variables, endpoints and calls upstream.

Each is declared once, so that identity is equality: they are keys of caches, though they hold dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

GO = "go"
PYTHON = "python"
NODE = "node"
JAVA = "java"

HTTP = "http"
REDIS = "redis"
POSTGRES = "postgres"
AMQP = "amqp"

TEXT = "text"
NUMBER = "number"
FLAG = "flag"
URL = "url"
FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """An environment variable that a product reads once, at its start."""

    name: str
    kind: str = TEXT
    """TEXT, NUMBER, FLAG (true or false), URL or FILE (a path); what does not parse or is not there ends the process."""
    default: str | None = None
    """None: the product ends without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call to another server, made while a request is answered."""

    protocol: str = HTTP
    variable: str
    """HTTP: the variable with the base URL; REDIS, POSTGRES and AMQP: the prefix of the variables, "DB" for DB_HOST …"""
    target: str = "/"
    """The path, the Redis command (words), the SQL statement, or for AMQP what is done with a queue: "publish NAME", "drain NAME"
    (take and acknowledge what lies in it, up to a batch), "declare NAME"."""
    method: str = "GET"
    name: str = ""
    """The key under which the answer stands in the product's own answer; "" leaves it out."""
    is_optional: bool = False
    """Whether the answer goes without it when it fails."""
    attempts_max: int = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Endpoint:
    """What a product answers under a path (the longest that the request's path starts with wins)."""

    path: str
    methods: tuple[str, ...] = ("GET",)
    status: int = 200
    fields: Mapping[str, object] = field(default_factory=dict)
    """The answer's own fields, after `service` and `version`."""
    calls: tuple[Call, ...] = ()
    cpu_ms: int = 3
    memory_bytes: int = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """One release of a product, as its team would describe it afterwards."""

    tag: str
    growth_bytes_per_s: int = 0
    """Memory that it never gives back: with the traffic that nobody simulates …"""
    kept_bytes: int = 0
    """… and with each request that is sent to it."""
    failing_every: int = 0
    """Every so many requests one is answered with 500; 0 for none."""
    extra_start_ms: int = 0
    """How much longer than usual it starts: a migration at boot."""
    required: tuple[Variable, ...] = ()
    """Variables that it reads and its neighbours do not."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What a product's binary does when it is given a word as its argument: a batch run that ends by itself."""

    log: tuple[str, ...]
    took_ms: int
    required: tuple[str, ...] = ()
    memory_bytes: int = 48 << 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Product:
    """A service of ours. Its images are `<prefix>/<name>:<tag>` for each prefix under which teams push it."""

    name: str
    language: str
    releases: tuple[Release, ...]
    """Oldest first."""
    endpoints: tuple[Endpoint, ...] = ()
    variables: tuple[Variable, ...] = ()
    stores: tuple[tuple[str, str], ...] = ()
    """(protocol, prefix) of the servers that it holds connections to; `/readyz` asks them when told so."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    port: int = 8080
    """The default of PORT."""
    start_ms: int = 1_500
    start_cpu_ms: int = 120
    resting_bytes: int = 40 << 20
    cache_mb: int = 16
    """The default of CACHE_MB; the cache is full a minute after the start."""
    cpu_millis: int = 4
    is_broker: bool = False
    """Whether it keeps what it is sent until SUBSCRIBER_URL takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The services of one application and where teams push their images."""

    prefixes: tuple[str, ...]
    products: tuple[Product, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """A product's releases by how they turned out, newest first."""

    present: str
    earlier: tuple[str, ...]
    later: tuple[str, ...]
    leaking: tuple[str, ...]
    failing: tuple[str, ...]
    slow: tuple[str, ...]


_LEAK_BYTES_PER_S: Final = 72 << 10
_KEPT_BYTES: Final = 768 << 10
FAILING_EVERY: Final = 3
_MIGRATION_MS: Final = 48_000
_HISTORY: Final = 3
"""So many releases, the present one last, before those that come later."""


def url(name: str) -> Variable:
    """Return a variable that must hold the address of another service."""
    return Variable(name=name, kind=URL)


def history(major: int, minor: int, *, turn: int, prefix: str = "") -> tuple[Release, ...]:
    """Return eight releases of a product, oldest first; `turn` says in which order the later ones turned out badly.

    Three good ones (the last is what runs), then per minor version: one that leaks, one that fails, one that migrates at
    its start; the leaking and the failing one each with a good patch release after it.
    """
    name = f"{prefix}{major}."
    found = [
        Release(tag=f"{name}{minor - 1}.{turn + 2}"),
        Release(tag=f"{name}{minor}.0"),
        Release(tag=f"{name}{minor}.1"),
    ]
    kinds = ("leaking", "failing", "slow")
    for offset in range(3):
        kind = kinds[(turn + offset) % 3]
        tag = f"{name}{minor + 1 + offset}"
        if kind == "leaking":
            found.append(
                Release(tag=f"{tag}.0", growth_bytes_per_s=_LEAK_BYTES_PER_S, kept_bytes=_KEPT_BYTES)
            )
            found.append(Release(tag=f"{tag}.1"))
        elif kind == "failing":
            found += [Release(tag=f"{tag}.0", failing_every=FAILING_EVERY), Release(tag=f"{tag}.1")]
        else:
            found.append(Release(tag=f"{tag}.0", extra_start_ms=_MIGRATION_MS))
    return tuple(found)  # fmt: skip


def tags(product: Product) -> Tags:
    """Return a product's tags as those who know how each release turned out would list them."""
    before, after = product.releases[:_HISTORY], product.releases[_HISTORY:]

    def good(release: Release) -> bool:
        return not (release.growth_bytes_per_s or release.failing_every or release.extra_start_ms)

    def chosen(attribute: str) -> tuple[str, ...]:
        return tuple(release.tag for release in reversed(after) if getattr(release, attribute))

    return Tags(
        present=before[-1].tag,
        earlier=tuple(release.tag for release in reversed(before[:-1])),
        later=tuple(release.tag for release in reversed(after) if good(release)),
        leaking=chosen("growth_bytes_per_s"),
        failing=chosen("failing_every"),
        slow=chosen("extra_start_ms"),
    )


TIMEOUT_VARIABLE: Final = "UPSTREAM_TIMEOUT_MS"
RETRIES_VARIABLE: Final = "UPSTREAM_RETRIES"
MIGRATE_VARIABLE: Final = "MIGRATE_ON_START"
"""Whether a server migrates its data before it listens; else somebody must have run its command `migrate`."""
MIGRATE: Final = "migrate"
CACHE_FILL_S: Final = 60


def password_of(prefix: str) -> str:
    """Return the variable with the password of a store."""
    return f"{prefix}_PASSWORD"


def password_file_of(prefix: str) -> str:
    """Return the variable with the path of a file from which a store's password is read instead, for each connection."""
    return f"{prefix}_PASSWORD_FILE"


def common(product: Product) -> tuple[Variable, ...]:
    """Return the variables that every product knows, then those of its stores, then its own."""
    found = [
        Variable(name="PORT", kind=NUMBER, default=str(product.port)),
        Variable(name="CACHE_MB", kind=NUMBER, default=str(product.cache_mb)),
        Variable(name=TIMEOUT_VARIABLE, kind=NUMBER, default="2000"),
        Variable(name=RETRIES_VARIABLE, kind=NUMBER, default="0"),
        Variable(name="READINESS_DEPENDENCIES", kind=FLAG, default="false"),
        Variable(name="LIVENESS_DEPENDENCIES", kind=FLAG, default="false"),
        Variable(name="SHUTDOWN_DELAY_MS", kind=NUMBER, default="0"),
        Variable(name=MIGRATE_VARIABLE, kind=FLAG, default="true"),
    ]
    for protocol, prefix in product.stores:
        found.append(Variable(name=f"{prefix}_HOST"))
        port = {REDIS: "6379", AMQP: "5672"}.get(protocol, "5432")
        found.append(Variable(name=f"{prefix}_PORT", kind=NUMBER, default=port))
        if protocol == POSTGRES:
            found += [
                Variable(name=f"{prefix}_USER"),
                Variable(name=password_of(prefix)),
                Variable(name=f"{prefix}_NAME"),
                Variable(name=f"{prefix}_POOL_SIZE", kind=NUMBER, default="5"),
            ]
        elif protocol == AMQP:
            found += [
                Variable(name=f"{prefix}_USER"),
                Variable(name=password_of(prefix)),
                Variable(name=f"{prefix}_VHOST", default="/"),
            ]
        else:
            found.append(Variable(name=password_of(prefix), default=""))
        found.append(Variable(name=password_file_of(prefix), kind=FILE, default=""))
    return (*found, *product.variables)
