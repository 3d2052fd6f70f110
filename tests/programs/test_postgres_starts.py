"""How a Postgres server starts in its image: with the entry point or without, with what its data directory holds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from env_core.programs import Container, postgres
from env_core.programs._commands import final_argv
from env_core.programs._disks import place_of
from env_core.programs._postgres_config import _ENUMS, _RANGES, _SIZED, _SWITCHES, _TIMED
from tests.dataplane.world import NOW_MS, World

DATA = "/var/lib/postgresql/data"
FILLED = {"PG_VERSION": "16", "role postgres": "x"}
_WRONG = {
    "max_connections=6O": ['FATAL:  invalid value for parameter "max_connections": "6O"'],
    "max_connections=0": [
        'FATAL:  0 is outside the valid range for parameter "max_connections" (1 .. 262143)'
    ],
    "wal_level=hot": [
        'FATAL:  invalid value for parameter "wal_level": "hot"',
        "HINT:  Available values: minimal, replica, logical.",
    ],
    "fsync=perhaps": ['FATAL:  parameter "fsync" requires a Boolean value'],
    "max_conections=60": ['FATAL:  unrecognized configuration parameter "max_conections"'],
    "max_connections": ["FATAL:  -c max_connections requires a value"],
}


class Started:
    """A server's start over a data directory."""

    def __init__(self, *argv, env=None, files=None, kept=None, user=0):
        world = World()
        container = Container(
            namespace="shop", pod="postgres-0", pod_uid="1", name="postgres", image="postgres:16.11-alpine", argv=argv,
            env={"POSTGRES_PASSWORD": "x"} if env is None else env, files=files or {}, pod_ip="10.244.0.9", node="node-a",
            cpu_limit_millis=None, cpu_request_millis=0, memory_limit_bytes=None, started_ms=NOW_MS, restarts=0, user=user,
        )  # fmt: skip
        self.container = container
        disks = world.runtime.disks
        if kept:
            disks.write(place_of(container, DATA), kept)
        self.launch = world.network.settled(
            None, postgres.PROGRAM, container, postgres.PROGRAM.launch(container)
        )
        self.kept = disks.read(place_of(container, DATA))

    @property
    def texts(self):
        return [line.text.partition(" [1] ")[2] or line.text for line in self.launch.log]

    @property
    def port(self):
        (listener,) = self.launch.listeners
        return listener.port


def official(*args, **given):
    return Started("docker-entrypoint.sh", "postgres", *args, **given)


def bare(*args, user=70, **given):
    return Started("postgres", *args, user=user, **given)


@pytest.mark.parametrize(("setting", "texts"), _WRONG.items(), ids=_WRONG)
def test_a_setting_that_it_cannot_use_ends_it_before_it_knows_its_time_zone(setting, texts):
    start = official("-c", setting, kept=FILLED)
    assert start.launch.exit.code == 1
    assert not start.launch.listeners
    assert start.texts[3:] == texts
    assert all(line.text.startswith("2026-01-05 09:00:00.030 GMT ") for line in start.launch.log[3:])


@pytest.mark.parametrize(
    "arguments",
    ["-c max_connections=60", "-c wal_level=Replica", "-c shared_buffers=64MB", "-N 60.4", "--log-statement=all", "-c app.x=1"],
)  # fmt: skip
def test_settings_that_it_can_use_start_it(arguments):
    start = official(*arguments.split())
    assert start.launch.exit is None
    assert start.port == 5432
    assert start.texts[-1] == "LOG:  database system is ready to accept connections"


def test_another_port_is_the_one_it_listens_on():
    start = official("-p", "5433")
    assert start.port == 5433
    assert 'LOG:  listening on IPv4 address "0.0.0.0", port 5433' in start.texts


def test_the_first_start_fills_the_directory_and_a_later_one_says_that_it_does_not():
    first = official()
    assert first.kept == FILLED
    assert "PostgreSQL init process complete; ready for start up." in first.texts
    again = official(env={}, kept=FILLED)
    assert (
        again.texts[1]
        == "PostgreSQL Database directory appears to contain a database; Skipping initialization"
    )
    assert again.port == 5432


def test_an_empty_directory_wants_a_password():
    start = official(env={})
    assert start.launch.exit.code == 1
    assert start.texts[0] == "Error: Database is uninitialized and superuser password is not specified."
    assert not start.kept


def test_without_the_entry_point_nobody_fills_the_directory():
    start = bare()
    assert start.launch.exit.code == 2
    assert start.texts == [
        f'postgres: could not access the server configuration file "{DATA}/postgresql.conf": No such file or directory'
    ]
    assert bare(kept=FILLED).port == 5432


def test_without_the_entry_point_root_may_not_start_it():
    start = bare(user=0, kept=FILLED)
    assert start.launch.exit.code == 1
    assert start.texts[0] == '"root" execution of the PostgreSQL server is not permitted.'


def test_files_of_another_release_are_refused():
    start = official(kept={**FILLED, "PG_VERSION": "15"})
    assert start.launch.exit.code == 1
    assert start.texts[3:] == [
        "FATAL:  database files are incompatible with server",
        "DETAIL:  The data directory was initialized by PostgreSQL version 15, which is not compatible with this version 16.11.",
    ]


def test_a_configuration_file_that_is_named_counts():
    config = {"/etc/postgres/postgresql.conf": "max_connections = 40\nlisten_addresses = '*\n"}
    start = official("-c", "config_file=/etc/postgres/postgresql.conf", files=config, kept=FILLED)
    assert start.launch.exit.code == 1
    assert start.texts[-1] == ('FATAL:  configuration file "/etc/postgres/postgresql.conf" contains errors')


def test_quotes_in_an_argument_are_the_settings_own():
    """No shell takes them off, and one that stands alone ends nothing."""
    start = official("-c", "app.name='it''s", "-c", "app.other='$HOME'", kept=FILLED)
    assert start.port == 5432
    assert final_argv(start.container, "postgres")[2:5:2] == ("app.name='it''s", "app.other='$HOME'")


def test_its_version_can_be_asked():
    start = bare("--version")
    assert start.texts == ["postgres (PostgreSQL) 16.11"]
    assert start.launch.exit.code == 0


_NAMES = st.sampled_from([*_ENUMS, *_RANGES, *_SIZED, *_TIMED, *_SWITCHES, "listen_addresses", "nonsense"])
_VALUES = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"-?[0-9]{1,6}(\.[0-9]{1,2})?(kB|MB|ms|min)?", fullmatch=True),
    st.sampled_from(["on", "OFF", "'x'", "replica"]),
)


@example(settings=[("listen_addresses", "'")], is_file=False)
@given(settings=st.lists(st.tuples(_NAMES, _VALUES), max_size=4), is_file=st.booleans())
def test_any_settings_either_start_it_or_end_it_with_a_reason(settings, is_file):
    lines = [f"{name}={value}" for name, value in settings]
    if is_file:
        start = official(files={f"{DATA}/postgresql.conf": "\n".join(lines)}, kept=FILLED)
    else:
        start = official(*(word for line in lines for word in ("-c", line)), kept=FILLED)
    if start.launch.exit is None:
        assert 1 <= start.port <= 65535
    else:
        assert start.launch.exit.code
        assert len(start.texts) > 3
