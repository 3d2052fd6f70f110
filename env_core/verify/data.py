"""DATA: what a database holds, asked over its own protocol from its own pod, so that no policy or Service stands between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.objects.conditions import is_pod_ready
from env_core.programs import Reply, Request
from env_core.programs._postgres_wire import Query
from env_core.programs._postgres_wire import encode as encode_query
from env_core.programs._redis_session import encode
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

POSTGRES: Final = "postgres"
REDIS: Final = "redis"
_TABLE: Final = "ledger"
_BACK_MS: Final = 180_000
"""How long a database may need to be back after its pods were deleted."""
_TRIAL: Final = ("trial-entry", "5120")


class Database(NamedTuple):
    """A Postgres or Redis server, as its pods are found."""

    protocol: str
    namespace: str
    labels: Mapping[str, str]
    container: str
    port: int


Records = Mapping[str, str]
"""Entries by key."""


def write(cluster: Cluster, database: Database, records: Records) -> str:
    """Write records to a database's first ready pod; return why they were not taken, "" if they were."""
    statements = [_statement(database, key, value) for key, value in records.items()]
    if database.protocol == POSTGRES:
        statements.insert(0, f"CREATE TABLE IF NOT EXISTS {_TABLE} (entry text, amount text)")
    for statement in statements:
        reply = _asked(cluster, database, statement)
        if reply.failure or "ERROR" in reply.body or "FATAL" in reply.body or reply.body.startswith("-"):
            return f"{database.protocol} answers {reply.failure or reply.body}"
    return ""


def _statement(database: Database, key: str, value: str) -> str:
    if database.protocol == POSTGRES:
        return f"INSERT INTO {_TABLE} (entry, amount) VALUES ('{key}', '{value}')"
    return encode("SET", f"{_TABLE}:{key}", value)


def read(cluster: Cluster, database: Database, key: str) -> str:
    """Return the value of a record, "" when there is none or nobody answers."""
    return _value(database, _asked(cluster, database, _question(database, key)).body)


def _question(database: Database, key: str) -> str:
    if database.protocol == POSTGRES:
        return f"SELECT amount FROM {_TABLE} WHERE entry = '{key}'"
    return encode("GET", f"{_TABLE}:{key}")


class Store(NamedTuple):
    """A database and what it holds."""

    database: Database
    records: Records


def held(cluster: Cluster, known: Iterable[tuple[Database, Records]]) -> list[Store]:
    """Return the databases that answer, with those of their records that they still have; nothing changes."""
    trial = cluster.fork()
    return [
        Store(database, {key: value for key, value in records.items() if read(trial, database, key) == value})
        for database, records in known
    ]


def lost(cluster: Cluster, stores: Sequence[Store]) -> list[str]:
    """Return which databases answer that they do not have their records any more; nothing changes.

    Of one that does not answer nothing is known.
    """
    trial = cluster.fork()
    found = []
    for database, records in stores:
        gone = sum(_is_gone(trial, database, key, value) for key, value in records.items())
        if gone:
            found.append(
                f"{gone} of {len(records)} records of {database.protocol} in {database.namespace} are lost"
            )
    return found


def nothing_lost(stores: Sequence[Store]) -> Check:
    """No database answers that it does not have its records any more."""
    return Check("no data are lost", lambda view: "; ".join(lost(view.cluster, stores)))


def _is_gone(cluster: Cluster, database: Database, key: str, value: str) -> bool:
    reply = _asked(cluster, database, _question(database, key))
    if reply.failure or (_is_error(reply.body) and "does not exist" not in reply.body):
        return False
    return _value(database, reply.body) != value


def _is_error(body: str) -> bool:
    return "ERROR" in body or "FATAL" in body or body.startswith("-")


def _value(database: Database, body: str) -> str:
    if database.protocol == POSTGRES:
        return "" if body == "ok" else body.partition("\n")[0]
    parts = body.split("\r\n")
    return parts[1] if parts[0].startswith("$") and parts[0] != "$-1" and len(parts) > 1 else ""


def records_kept(database: Database, records: Records) -> Check:
    """Every record is where it was written."""

    def fails(view: View) -> str:
        trial = view.fork()
        lost = [key for key, value in records.items() if read(trial, database, key) != value]
        return f"{len(lost)} of {len(records)} records are lost" if lost else ""

    return Check("data are kept", fails)


def writes_outlast_pods(database: Database) -> Check:
    """What is written now is still there after every pod of the database was deleted."""

    def fails(view: View) -> str:
        trial = view.fork()
        key, value = _TRIAL
        why = write(trial, database, {key: value})
        if why:
            return why
        before = {pod["metadata"]["uid"] for pod in _pods(trial, database)}
        admin = trial.client()
        for pod in _pods(trial, database):
            try:
                name = pod["metadata"]["name"]
                admin.delete("pods", database.namespace, name, Options(grace_period_seconds=5))
            except StatusError as error:
                return f"a pod cannot be deleted: {error.message}"

        def is_back() -> bool:
            return any(pod["metadata"]["uid"] not in before for pod in _ready(trial, database))

        if not trial.advance_until(is_back, _BACK_MS):
            return "it does not come back"
        return "" if read(trial, database, key) == value else "what was written is lost with its pod"

    return Check("what is written outlasts its pod", fails)


def _pods(cluster: Cluster, database: Database) -> list[Object]:
    return [
        pod
        for pod in cluster.store.list("pods", database.namespace)
        if database.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]


def _ready(cluster: Cluster, database: Database) -> list[Object]:
    return [
        pod
        for pod in _pods(cluster, database)
        if is_pod_ready(pod) and "deletionTimestamp" not in pod["metadata"]
    ]


def _asked(cluster: Cluster, database: Database, statement: str) -> Reply:
    for pod in _ready(cluster, database):
        metadata = pod["metadata"]
        run = cluster.runtime.run(metadata["uid"], database.container)
        source = cluster.network.source_of_pod(metadata["namespace"], metadata["name"])
        if run is None or source is None:
            continue
        env = run.container.env
        if database.protocol == POSTGRES:
            user = env.get("POSTGRES_USER") or "postgres"
            query = Query(user, env.get("POSTGRES_PASSWORD", ""), env.get("POSTGRES_DB") or user, statement)
            body = encode_query(query)
        else:
            password = env.get("REDIS_PASSWORD", "")
            body = (encode("AUTH", password) if password else "") + statement
        request = Request(method="", path="", host="127.0.0.1", body=body, protocol=database.protocol)
        reply = cluster.network.send(source, "127.0.0.1", database.port, request)
        if database.protocol == REDIS and password and not reply.failure:
            return reply._replace(body=reply.body.removeprefix("+OK\r\n"))
        return reply
    return Reply(failure="no ready pod")
