"""What is known of the stores that applications run beside their own services: Postgres and Redis."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from env_core.scenarios._app import CREDENTIAL, SETTING, Need, Workload
from env_core.scenarios.apps._services import Setting, credential, upstream
from env_core.verify.data import POSTGRES, REDIS
from env_core.world import Object

POSTGRES_PORT = 5432
_RECORDS: Final = 4


def records(password: str) -> dict[str, str]:
    """Return what a database holds: entries that nobody guesses, the same whenever its world is built."""
    digest = hashlib.sha256(password.encode()).hexdigest()
    return {
        digest[8 * number : 8 * number + 8]: str(int(digest[-6 - number :], 16)) for number in range(_RECORDS)
    }


REDIS_PORT = 6379


def connection(
    role: str, name: str, *, user: str, password: str, database: str, pool: int
) -> dict[str, Setting]:
    """Return the variables of a service that holds connections to a Postgres server and says so when it cannot."""
    secret = f"{name}-credentials"
    return {
        "DB_HOST": upstream(name, role),
        "DB_NAME": Setting(database),
        "DB_POOL_SIZE": Setting(str(pool)),
        "DB_USER": credential(user, secret, "username"),
        "DB_PASSWORD": credential(password, secret, "password"),
        "READINESS_DEPENDENCIES": Setting("true"),
    }


_BATCH: Final = ("DB_HOST", "DB_NAME", "DB_USER", "DB_PASSWORD")
"""The variables of a batch run that connects once."""


def environment(settings: Mapping[str, Setting]) -> list[Object]:
    """Return the `env` of a batch run's container: literals, and references to the Secret."""
    env: list[Object] = []
    for variable in _BATCH:
        setting = settings[variable]
        if setting.kind == CREDENTIAL:
            reference = {"name": setting.name, "key": setting.key}
            env.append({"name": variable, "valueFrom": {"secretKeyRef": reference}})
        else:
            env.append({"name": variable, "value": setting.value})
    return env


def batch_needs(settings: Mapping[str, Setting]) -> tuple[Need, ...]:
    """Return what a batch run with the `environment` of these settings needs."""
    return tuple(
        Need(
            variable=variable, kind=settings[variable].kind, source="secrets" if settings[variable].kind == CREDENTIAL else "",
            name=settings[variable].name, key=settings[variable].key, value=settings[variable].value, target=settings[variable].target,
        )
        for variable in _BATCH
    )  # fmt: skip


def postgres(
    *, role: str, namespace: str, name: str, labels: Mapping[str, str], tag: str, user: str, password: str, database: str,
    claims: tuple[str, ...], container: str = "postgres", is_shared: bool = False, has_records: bool = True,
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
        protocol=POSTGRES,
        records=records(password) if has_records else {},
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
        claims=(f"{name}-data",),
        protocol=REDIS,
        records=records(password),
    )  # fmt: skip
