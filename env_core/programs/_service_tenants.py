"""The services of the multi-tenant platform: what tenants run, and what the platform runs for all of them."""

from __future__ import annotations

from typing import Final

from env_core.programs._service_model import (
    GO,
    JAVA,
    NODE,
    NUMBER,
    PYTHON,
    REDIS,
    Call,
    Endpoint,
    Family,
    Product,
    Variable,
    history,
    url,
)

PREFIXES: Final = ("registry.example.com/tenants", "registry.example.com/apps", "harbor.example.net/platform")


PORTAL: Final = Product(
    name="portal",
    language=NODE,
    releases=history(2, 6, turn=1),
    port=3000,
    resting_bytes=58 << 20,
    cache_mb=8,
    variables=(url("API_URL"), Variable(name="THEME", default="plain")),
    endpoints=(Endpoint(path="/", calls=(Call(variable="API_URL", target="/items", name="api"),), cpu_ms=6),),
)

API: Final = Product(
    name="api",
    language=GO,
    releases=history(1, 15, turn=0, prefix="v"),
    resting_bytes=24 << 20,
    cache_mb=24,
    stores=((REDIS, "REDIS"),),
    variables=(url("IDENTITY_URL"), Variable(name="TENANT"), Variable(name="PAGE_SIZE", kind=NUMBER, default="50")),
    endpoints=(
        Endpoint(
            path="/items", methods=("GET", "POST"), fields={"items": 50}, cpu_ms=5,
            calls=(
                Call(variable="IDENTITY_URL", target="/verify", name="identity"),
                Call(protocol=REDIS, variable="REDIS", target="GET items:first", name="cache"),
            ),
        ),
    ),
)  # fmt: skip

IDENTITY: Final = Product(
    name="identity",
    language=JAVA,
    releases=history(7, 1, turn=2),
    start_ms=3_800,
    start_cpu_ms=300,
    resting_bytes=150 << 20,
    cache_mb=48,
    cpu_millis=6,
    variables=(Variable(name="SIGNING_KEY"), Variable(name="TOKEN_MINUTES", kind=NUMBER, default="30")),
    endpoints=(Endpoint(path="/verify", fields={"subject": "service"}, cpu_ms=6),),
)

BULLETIN: Final = Product(
    name="bulletin",
    language=PYTHON,
    releases=history(1, 2, turn=0),
    port=8000,
    resting_bytes=50 << 20,
    cache_mb=4,
    variables=(Variable(name="TENANT"), Variable(name="REFRESH_SECONDS", kind=NUMBER, default="60")),
    endpoints=(Endpoint(path="/bulletin", fields={"notices": 2}, cpu_ms=4),),
)

SYNC: Final = Product(
    name="config-sync",
    language=GO,
    releases=history(0, 9, turn=1, prefix="v"),
    resting_bytes=28 << 20,
    cache_mb=8,
    variables=(Variable(name="INTERVAL_SECONDS", kind=NUMBER, default="60"),),
    endpoints=(Endpoint(path="/status", cpu_ms=1),),
)

FAMILY: Final = Family(prefixes=PREFIXES, products=(PORTAL, API, IDENTITY, BULLETIN, SYNC))
