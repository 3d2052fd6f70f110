"""The services of the data pipeline: events come in, are buffered, transformed, stored, archived and asked for."""

from __future__ import annotations

from typing import Final

from env_core.programs._service_model import (
    GO,
    JAVA,
    NODE,
    NUMBER,
    POSTGRES,
    PYTHON,
    Call,
    Endpoint,
    Family,
    Product,
    Task,
    Variable,
    history,
    url,
)

PREFIXES: Final = (
    "registry.example.com/data",
    "registry.example.com/insights",
    "harbor.example.net/analytics",
)


INGEST: Final = Product(
    name="ingest",
    language=GO,
    releases=history(3, 5, turn=0),
    resting_bytes=26 << 20,
    cache_mb=12,
    variables=(url("BUFFER_URL"), url("ARCHIVE_URL"), Variable(name="INGEST_TOKEN"), Variable(name="BATCH_MAX", kind=NUMBER, default="500")),
    endpoints=(
        Endpoint(
            path="/events", methods=("POST",), status=202, fields={"accepted": 1}, cpu_ms=4,
            calls=(
                Call(variable="BUFFER_URL", target="/publish", method="POST", name="buffer"),
                Call(variable="ARCHIVE_URL", target="/store", method="POST", name="archive"),
            ),
        ),
    ),
)  # fmt: skip

BUFFER: Final = Product(
    name="buffer",
    language=GO,
    releases=history(1, 3, turn=1, prefix="v"),
    resting_bytes=30 << 20,
    cache_mb=24,
    variables=(url("SUBSCRIBER_URL"),),
    endpoints=(
        Endpoint(path="/publish", methods=("POST",), status=202, cpu_ms=2),
        Endpoint(path="/status", calls=(Call(variable="SUBSCRIBER_URL", target="/status", name="subscriber"),), cpu_ms=2),
    ),
    is_broker=True,
)  # fmt: skip

TRANSFORM: Final = Product(
    name="transform",
    language=PYTHON,
    releases=history(2, 8, turn=2),
    port=8000,
    start_ms=2_400,
    resting_bytes=74 << 20,
    cache_mb=24,
    stores=((POSTGRES, "DB"),),
    variables=(Variable(name="WINDOW_SECONDS", kind=NUMBER, default="60"), Variable(name="SCHEMA_VERSION", default="7")),
    endpoints=(
        Endpoint(
            path="/deliver", methods=("POST",), cpu_ms=15, memory_bytes=1 << 20,
            calls=(Call(protocol=POSTGRES, variable="DB", target="INSERT INTO events (kind) VALUES ('view')"),),
        ),
        Endpoint(path="/status", calls=(Call(protocol=POSTGRES, variable="DB", target="SELECT max(at) FROM events"),), cpu_ms=3),
    ),
)  # fmt: skip

ARCHIVER: Final = Product(
    name="archiver",
    language=PYTHON,
    releases=history(1, 12, turn=0),
    port=8000,
    resting_bytes=52 << 20,
    cache_mb=4,
    variables=(Variable(name="SPOOL_DIR"), Variable(name="ROTATE_MINUTES", kind=NUMBER, default="15")),
    endpoints=(Endpoint(path="/store", methods=("POST",), status=201, fields={"stored": 1}, cpu_ms=5),),
)

QUERY: Final = Product(
    name="query",
    language=JAVA,
    releases=history(4, 0, turn=1),
    start_ms=4_200,
    start_cpu_ms=380,
    resting_bytes=180 << 20,
    cache_mb=96,
    cpu_millis=7,
    stores=((POSTGRES, "DB"),),
    variables=(Variable(name="ROWS_MAX", kind=NUMBER, default="10000"),),
    endpoints=(
        Endpoint(
            path="/reports", fields={"rows": 24}, cpu_ms=22, memory_bytes=3 << 20,
            calls=(Call(protocol=POSTGRES, variable="DB", target="SELECT hour, count(*) FROM events GROUP BY hour"),),
        ),
    ),
)  # fmt: skip

DASHBOARD: Final = Product(
    name="dashboard",
    language=NODE,
    releases=history(6, 2, turn=2),
    port=3000,
    resting_bytes=60 << 20,
    cache_mb=8,
    variables=(url("QUERY_URL"), url("BUFFER_URL"), Variable(name="TITLE", default="Insights")),
    endpoints=(
        Endpoint(path="/", calls=(Call(variable="QUERY_URL", target="/reports", name="query"),), cpu_ms=6),
        Endpoint(path="/api/lag", calls=(Call(variable="BUFFER_URL", target="/status", name="buffer"),), cpu_ms=4),
    ),
)  # fmt: skip

COMPACT: Final = Product(
    name="compact",
    language=GO,
    releases=history(1, 6, turn=1),
    stores=((POSTGRES, "DB"),),
    tasks={
        "hourly": Task(
            log=("compacting events of the last hour", "31 segments into 4", "done"),
            took_ms=11_000,
            required=("DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD", "DB_NAME"),
            memory_bytes=72 << 20,
        ),
        "migrate": Task(
            log=("schema is at version 7", "nothing to do"),
            took_ms=3_000,
            required=("DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD", "DB_NAME"),
        ),
    },
)

FAMILY: Final = Family(
    prefixes=PREFIXES, products=(INGEST, BUFFER, TRANSFORM, ARCHIVER, QUERY, DASHBOARD, COMPACT)
)
