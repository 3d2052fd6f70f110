"""A Postgres server that is started with a setting it cannot use says so, in GMT as it does so early, and ends."""

from __future__ import annotations

import pytest

from env_core.programs import Container, postgres

_WRONG = {
    "max_connections=6O": ['FATAL:  invalid value for parameter "max_connections": "6O"'],
    "wal_level=hot": [
        'FATAL:  invalid value for parameter "wal_level": "hot"',
        "HINT:  Available values: minimal, replica, logical.",
    ],
}


def launched(*args):
    container = Container(
        namespace="shop", pod="postgres-0", pod_uid="1", name="postgres", image="postgres:16.11-alpine",
        argv=("docker-entrypoint.sh", *args), env={"POSTGRES_PASSWORD": "x"}, files={}, pod_ip="10.244.0.9", node="node-a",
        cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=None, started_ms=1_767_600_000_000, restarts=0,
    )  # fmt: skip
    return postgres.PROGRAM.launch(container)


@pytest.mark.parametrize(("setting", "texts"), _WRONG.items(), ids=_WRONG)
def test_a_setting_that_it_cannot_use_ends_it(setting, texts):
    launch = launched("postgres", "-c", setting)
    assert launch.exit.code == 1
    assert not launch.listeners
    assert [line.text.partition(" [1] ")[2] for line in launch.log] == texts
    assert all(line.text.startswith("2026-01-05 08:00:00.030 GMT ") for line in launch.log)


@pytest.mark.parametrize("setting", ["max_connections=60", "wal_level=Replica", "shared_buffers=64MB"])
def test_settings_that_it_can_use_start_it(setting):
    launch = launched("postgres", "-c", setting)
    assert launch.exit is None
    assert launch.listeners
