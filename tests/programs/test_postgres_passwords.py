"""Which password a Postgres server wants: the one of its first start, until a role is altered."""

import pytest

from env_core.programs import Request, _postgres_wire
from env_core.scenarios.apps import base

SHOP = base("shop", 0)
SERVER = SHOP.workloads["postgres"]
KNOWN = {need.variable: need.value for need in SERVER.needs}
USER, FIRST = KNOWN["POSTGRES_USER"], KNOWN["POSTGRES_PASSWORD"]
REFUSED = f'FATAL:  password authentication failed for user "{USER}"'


def asked(cluster, password, statement="SELECT 1"):
    """Ask the server as its own user, from its own pod."""
    pod = cluster.store.get("pods", SERVER.namespace, f"{SERVER.name}-0")
    query = _postgres_wire.Query(USER, password, KNOWN["POSTGRES_DB"], statement)
    request = Request(method="", path="", body=_postgres_wire.encode(query), protocol=_postgres_wire.PROTOCOL)
    address = pod["status"]["podIP"]
    return cluster.network.request_pod(address, SERVER.container_port, request, address).body


@pytest.fixture
def cluster():
    return SHOP.cluster.fork()


def restart_with(cluster, password):
    body = {"stringData": {"password": password}}
    cluster.client().patch("secrets", SERVER.namespace, f"{SERVER.name}-credentials", body)
    cluster.client().delete("pods", SERVER.namespace, f"{SERVER.name}-0")
    cluster.advance(120_000)


def test_a_later_secret_changes_nothing_in_a_filled_directory(cluster):
    restart_with(cluster, "another")
    assert asked(cluster, FIRST) == "ok"
    assert asked(cluster, "another") == REFUSED


def test_an_altered_role_has_another_password_also_after_a_restart(cluster):
    assert asked(cluster, FIRST, f"ALTER ROLE {USER} WITH PASSWORD 'it''s next'") == "ALTER ROLE"
    assert asked(cluster, FIRST) == REFUSED
    assert asked(cluster, "it's next") == "ok"
    restart_with(cluster, FIRST)
    assert asked(cluster, "it's next") == "ok"


def test_a_role_that_is_not_there_cannot_be_altered(cluster):
    said = asked(cluster, FIRST, "alter user nobody password 'x'")
    assert said == 'ERROR:  role "nobody" does not exist'
    assert asked(cluster, FIRST) == "ok"
