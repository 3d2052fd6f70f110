"""What is known of the stores that applications run beside their own services: Postgres and Redis."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.scenarios._app import CREDENTIAL, SETTING, Need, Workload

POSTGRES_PORT = 5432
REDIS_PORT = 6379


def postgres(
    *, role: str, namespace: str, name: str, labels: Mapping[str, str], tag: str, user: str, password: str, database: str,
    claims: tuple[str, ...], container: str = "postgres", is_shared: bool = False,
) -> Workload:  # fmt: skip
    """Return a Postgres server under a StatefulSet, its credentials in `<name>-credentials`."""
    secret = f"{name}-credentials"
    return Workload(
        role=role,
        namespace=namespace,
        name=name,
        resource="statefulsets.apps",
        container=container,
        image=f"postgres:{tag}",
        labels=labels,
        service=name,
        service_port=POSTGRES_PORT,
        container_port=POSTGRES_PORT,
        port_name="postgres",
        needs=(
            Need(variable="POSTGRES_USER", kind=CREDENTIAL, source="secrets", name=secret, key="username", value=user, is_required=False),
            Need(variable="POSTGRES_PASSWORD", kind=CREDENTIAL, source="secrets", name=secret, key="password", value=password),
            Need(variable="POSTGRES_DB", kind=SETTING, source="", value=database, is_required=False),
        ),
        working_set_bytes=40 << 20,
        peak_millis=300,
        start_ms=600,
        earlier_tags=("16.10-alpine",) if "alpine" in tag else ("16.10",),
        claims=claims,
        is_shared=is_shared,
    )  # fmt: skip


def redis(
    *,
    role: str,
    namespace: str,
    name: str,
    labels: Mapping[str, str],
    tag: str,
    password: str,
    container: str = "redis",
) -> Workload:
    """Return a Redis server, its password in `<name>-auth`."""
    return Workload(
        role=role,
        namespace=namespace,
        name=name,
        container=container,
        image=f"redis:{tag}",
        labels=labels,
        service=name,
        service_port=REDIS_PORT,
        container_port=REDIS_PORT,
        port_name="redis",
        needs=(
            Need(variable="REDIS_PASSWORD", kind=CREDENTIAL, source="secrets", name=f"{name}-auth", key="password", value=password),
        ),
        working_set_bytes=12 << 20,
        peak_millis=60,
        start_ms=40,
        earlier_tags=("7.2-alpine",),
        later_tags=("8.0-alpine",),
    )  # fmt: skip
