"""In what a statement of MariaDB runs: its session, the data directory, the server's functions and variables, and the waits.

Source: https://mariadb.com/kb/en/sleep/, information-functions/, server-system-variables/; tests/golden/programs/mariadb
(mariadb.timeouts, mariadb.deadlock).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _mariadb_sessions as sessions
from env_core.programs._http import moment
from env_core.programs._mariadb_config import Read, fraction, is_number, whole
from env_core.programs._mariadb_errors import Meter, Problem
from env_core.programs._mariadb_functions import Function
from env_core.programs._mariadb_names import DEFAULTS
from env_core.programs._mariadb_sessions import Session
from env_core.programs._mariadb_tables import Stored
from env_core.programs._mariadb_types import Value, number
from env_core.programs._mariadb_values import Scope

POLL_MS: Final = 50
"""After how long a client asks again, at the soonest, whose statement waits for another session."""
_POLLS: Final = 40
"""The longer it waits, the less often it asks: after a fortieth of the time so far."""
_SLEEP_MAX_S: Final = 1e9


class World(NamedTuple):
    """What a session runs in."""

    options: Read
    version: str
    comment: str
    kept: Stored
    memory: dict[str, str]
    now_ms: int
    started_ms: int
    """When the server started."""
    is_super: bool
    room_bytes: int | None = None
    """What the volume has left for tables; None where no size is known."""


class Waiting(Exception):
    """A statement cannot go on yet."""

    def __init__(
        self, pending_ms: int, holder: Session | None = None, row: tuple[str, int] = ("", 0)
    ) -> None:
        super().__init__()
        self.row = row
        self.pending_ms = pending_ms
        self.holder = holder


class NoSpace(Exception):
    """A table's file finds no more space."""

    def __init__(self, table: str, size: int) -> None:
        super().__init__(table)
        self.table = table
        self.size = size


class Reached:
    """What one statement's functions and rows have asked for."""

    def __init__(self, session: Session, world: World, meter: Meter | None = None) -> None:
        self.session = session
        self.world = world
        self.rows: list[tuple[str, int]] = []
        self.meter = Meter() if meter is None else meter
        self._slept_ms = 0
        self._held: dict[tuple[str, int], Session] | None = None

    def take(self, table: str, place: int) -> None:
        """Take a row for the transaction.

        Raises:
            Waiting: another one has it.
        """
        if self._held is None:
            self._held = sessions.held_by_others(self.world.memory, self.session)
        holder = self._held.get((table, place))
        if holder is not None:
            raise Waiting(poll_ms(self.session, self.world), holder, (table, place))
        self.rows.append((table, place))

    def sleep(self, values: list[Value]) -> Value:
        """Come back when the time is over: the next call's time begins then."""
        seconds = number(values[0])
        if seconds is None or seconds < 0:
            raise Problem(1210, "Incorrect arguments to sleep.", is_late=True)
        self._slept_ms += int(min(float(min(seconds, 10**9)), _SLEEP_MAX_S) * 1000)
        left_ms = self.session.since_ms + self._slept_ms - self.world.now_ms
        if left_ms > 0:
            raise Waiting(left_ms)
        return 0

    def scope(self, columns: Mapping[str, Value] | None = None) -> Scope:
        """Return what an expression sees."""
        session, world = self.session, self.world
        now = f"{moment(world.now_ms):%Y-%m-%d %H:%M:%S}"
        texts: dict[str, Value] = {
            "version": world.version, "user": f"{session.user}@{session.host}", "session_user": f"{session.user}@{session.host}",
            "system_user": f"{session.user}@{session.host}", "current_user": session.account, "database": session.database or None,
            "schema": session.database or None, "connection_id": session.number, "last_insert_id": session.last_id, "now": now,
            "current_timestamp": now, "localtime": now, "localtimestamp": now, "sysdate": now, "utc_timestamp": now, "curdate": now[:10],
            "current_date": now[:10], "unix_timestamp": world.now_ms // 1000,
        }  # fmt: skip
        functions = {name: _telling(value) for name, value in texts.items()}
        functions["sleep"] = Function(self.sleep, 1, 1)
        return Scope(columns or {}, functions, self.variable, self.meter, session.database)

    def variable(self, written: str) -> Value:
        """Return a variable: of the user's own, or of the server's.

        Raises:
            Problem: the server has none of that name.
        """
        if not written.startswith("@@"):
            kept = dict(self.session.variables).get(written[1:].lower())
            return kept if isinstance(kept, int | float | str) else None
        scope, _, name = written[2:].lower().rpartition(".")
        shown = variables(self.session, self.world, is_global=scope == "global").get(name)
        if shown is None:
            raise Problem(1193, f"Unknown system variable '{name}'")
        if is_number(name):
            return whole(shown)
        return int(shown == "ON") if shown in ("ON", "OFF") else shown


def _telling(value: Value) -> Function:
    return Function(lambda _values: value, 0, 1)


def poll_ms(session: Session, world: World) -> int:
    """Return after how long to look again for a row that another session holds."""
    return max(POLL_MS, (world.now_ms - session.since_ms) // _POLLS)


def variables(session: Session, world: World, *, is_global: bool) -> dict[str, str]:
    """Return all variables as they are now, by name."""
    found = dict(DEFAULTS)
    found |= {name: value for name, value in world.options.settings.items() if name in DEFAULTS}
    found |= {"version": world.version, "version_comment": world.comment, "hostname": "localhost"}
    for name in found:
        if is_number(name):
            found[name] = str(whole(found[name]))
    found |= {
        key.removeprefix(sessions.GLOBAL): value
        for key, value in world.memory.items()
        if key.startswith(sessions.GLOBAL)
    }
    if not is_global:
        found |= dict(session.settings)
    return {name: fraction(name, value) for name, value in sorted(found.items())}


def status(world: World) -> dict[str, str]:
    """Return what the server counts, by name: as far as it is simulated."""
    memory = world.memory
    all_now = sessions.sessions_of(memory)
    running = sum(each.state == sessions.RUNNING for each in all_now)
    waiting = sum(each.waits_for > 0 for each in all_now)
    return {
        "Aborted_connects": memory.get(sessions.ABORTED, "0"), "Connections": str(sessions.connections(memory) + 1),
        "Innodb_row_lock_current_waits": str(waiting), "Questions": memory.get(sessions.QUESTIONS, "0"),
        "Queries": memory.get(sessions.QUESTIONS, "0"), "Slow_queries": "0", "Threads_cached": "0",
        "Threads_connected": str(max(len(all_now), 1)), "Threads_running": str(max(running, 1)),
        "Uptime": str((world.now_ms - world.started_ms) // 1000),
    }  # fmt: skip
