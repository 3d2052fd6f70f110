"""Runs a script on a data directory whose server nobody else uses yet: what entry points do with the files that they are given.

Source: MariaDB/mariadb-docker docker-entrypoint.sh (docker_process_init_files, docker_process_sql).
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _mariadb_running as running
from env_core.programs._mariadb_administering import used
from env_core.programs._mariadb_config import Read
from env_core.programs._mariadb_errors import Problem
from env_core.programs._mariadb_sessions import Session
from env_core.programs._mariadb_splitting import Splitter
from env_core.programs._mariadb_tables import Stored
from env_core.programs._mariadb_types import shown
from env_core.programs._mariadb_world import World

_SCRIPT_MAX: Final = 1 << 20
_STATEMENTS_MAX: Final = 2_000


def run_script(
    kept: Stored, text: str, database: str, options: Read, version: str
) -> tuple[Stored, list[str], str]:
    """Return a data directory after a script, what its queries printed, and the error with which it broke off ("" for none)."""
    session = Session(1, "root", "root@localhost", "localhost", 0, database, 0)
    world = World(options, version, "", kept, {}, 0, 0, is_super=True)
    printed: list[str] = []
    for piece in Splitter().take(text[:_SCRIPT_MAX], is_open=False)[:_STATEMENTS_MAX]:
        try:
            if piece.command == "use":
                session = used(session, world, piece.text.strip("`; "))
                continue
            if piece.command:
                continue
            turn = running.go_on(running.began(session, piece.text, world.now_ms), world)
            if turn.problem is not None:
                raise turn.problem
        except Problem as problem:
            number, state = problem.number, problem.state
            return (
                world.kept,
                printed,
                f"--------------\n{piece.text}\n--------------\n\nERROR {number} ({state}) at line {piece.line}: {problem.text}",
            )
        if turn.pending_ms is not None:
            world = world._replace(now_ms=world.now_ms + turn.pending_ms)
            continue
        session, world = turn.session, turn.world
        if turn.result is not None and turn.result.rows:
            printed += [
                "\t".join(turn.result.names),
                *("\t".join(map(shown, row)) for row in turn.result.rows),
            ]
    return world.kept, printed, ""
