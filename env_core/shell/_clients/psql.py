"""psql, pg_isready and pg_dump: what they ask a Postgres server, and what they print of its answers.

Source: postgres 15 src/bin/psql, src/bin/scripts/pg_isready.c; tests/golden/programs/postgres.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from env_core.programs._postgres_wire import ASKS, COLUMNS, PING
from env_core.shell._clients._libpq import (
    SOCKET_DIRECTORY,
    Failed,
    Target,
    ask,
    connected,
    environment,
    name_database,
    own_name,
    read_options,
    take,
)
from env_core.shell._clients._wire import Reply, Wire
from env_core.shell.context import Process
from env_core.world import Output

_VALUED: Final = "hpUdcfvtPFRLoT"
_FLAGS: Final = "wWAqXlnEeabsSHx10z"


@dataclass(slots=True)
class _Asked:
    """A command line of psql."""

    target: Target
    commands: list[str] = field(default_factory=list)
    asks_password: bool = True
    is_bare: bool = False
    """Whether rows are printed without head and count."""
    is_unaligned: bool = False


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run psql."""
    try:
        asked = _asked(process, argv)
    except Failed as failed:
        is_usage = "option" in failed.text and "connection option" not in failed.text
        if is_usage:
            return Output(
                "", f'psql: {failed.text}\npsql: hint: Try "psql --help" for more information.\n', 1
            )
        return Output("", f"psql: error: {failed.text}\n", 2)
    target = asked.target
    out: list[str] = []
    err: list[str] = []
    try:
        connection, where = connected(process, wire, target)
        statements = asked.commands or [line for line in process.stdin.split("\n") if line.strip()]
        code = 0
        for statement in statements or ["select 1"]:
            reply = ask(process, wire, connection, target, where, statement, "")
            text = reply.body
            if text == ASKS:
                if asked.asks_password:
                    err.append(f"Password for user {target.user or own_name(process)}: \n")
                raise Failed(f"{where} failed: fe_sendauth: no password supplied")
            if text.startswith("FATAL:"):
                raise Failed(f"{where} failed: {text}")
            if text.startswith("ERROR:"):
                err.append(text + "\n")
                code = 1
                continue
            out.append(_shown(asked, statement, reply))
    except Failed as failed:
        return Output("".join(out), "".join([*err, f"psql: error: {failed.text}\n"]), 2)
    return Output("".join(out), "".join(err), code)


def _asked(process: Process, argv: list[str]) -> _Asked:
    options, operands = read_options(process, argv, _VALUED.replace("t", ""), _FLAGS + "t")
    target = environment(process)
    if operands:
        name_database(target, operands[0])
    if len(operands) > 1:
        target.user = operands[1]
    take(target, options)
    return _Asked(
        target,
        options.get("c", []),
        asks_password="w" not in options,
        is_bare="t" in options,
        is_unaligned="A" in options,
    )


def _shown(asked: _Asked, statement: str, reply: Reply) -> str:
    """Return an answer as psql prints it."""
    columns = next((value for name, value in reply.headers if name == COLUMNS), None)
    if columns is None:
        return f"{_tag(statement) if reply.body == 'ok' else reply.body}\n"
    names, rows, kinds = json.loads(columns)
    if asked.is_unaligned:
        lines = ["|".join(row) for row in rows]
        if not asked.is_bare:
            lines = ["|".join(names), *lines, _count(rows)]
        return "".join(f"{line}\n" for line in lines)
    widths = [
        max(len(name), *(len(row[at]) for row in rows), 0) if rows else len(name)
        for at, name in enumerate(names)
    ]
    lines = []
    if not asked.is_bare:
        lines.append("|".join(f" {name:^{width}} " for name, width in zip(names, widths)))
        lines.append("+".join("-" * (width + 2) for width in widths))
    lines += [_row(row, widths, kinds) for row in rows]
    if not asked.is_bare:
        lines.append(_count(rows))
    return "".join(f"{line}\n" for line in lines) + "\n"


def _row(row: list[str], widths: list[int], kinds: list[str]) -> str:
    last = len(row) - 1
    cells = []
    for at, (cell, width, kind) in enumerate(zip(row, widths, kinds)):
        shown = f" {cell:>{width}}" if kind == "number" else f" {cell:<{width}}" if at < last else f" {cell}"
        cells.append(shown + (" " if at < last else ""))
    return "|".join(cells)


def _count(rows: list[list[str]]) -> str:
    return f"({len(rows)} row{'' if len(rows) == 1 else 's'})"


def _tag(statement: str) -> str:
    """Return what a good statement is answered with that is about no table of the server's."""
    words = statement.split(None, 2) or [""]
    verb = words[0].upper().rstrip(";")
    if verb == "INSERT":
        return "INSERT 0 1"
    if verb in ("UPDATE", "DELETE"):
        return f"{verb} 1"
    if verb in ("CREATE", "DROP", "ALTER") and len(words) > 1:
        return f"{verb} {words[1].upper()}"
    return verb


def run_isready(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run pg_isready."""
    try:
        options, _ = read_options(process, argv, "hpUdt", "q")
    except Failed as failed:
        return Output(
            "",
            f'pg_isready: {failed.text}\npg_isready: hint: Try "pg_isready --help" for more information.\n',
            3,
        )
    target = environment(process)
    given = options.get("t", ["3"])[-1]
    try:
        take(target, options)
        target.timeout_ms = (int(given) if given.isdigit() else 3) * 1000
        connection, where = connected(process, wire, target)
        reply = ask(process, wire, connection, target, where, "", PING)
        code = 1 if reply.body.startswith("FATAL:") else 0
    except Failed:
        code = 2
    if "q" in options:
        return Output("", "", code)
    told = ("accepting connections", "rejecting connections", "no response")[code]
    return Output(f"{target.host or SOCKET_DIRECTORY}:{target.port} - {told}\n", "", code)


def run_dump(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run pg_dump as far as the connection; what is dumped is not simulated."""
    try:
        options, operands = read_options(process, argv, "hpUdfFntTjZ", "wWaCcsOxv")
        target = environment(process)
        if operands:
            name_database(target, operands[0])
        take(target, options)
        connection, where = connected(process, wire, target)
        reply = ask(process, wire, connection, target, where, "select 1", "")
    except Failed as failed:
        return Output("", f"pg_dump: error: {failed.text}\n", 1)
    if reply.body.startswith("FATAL:"):
        return Output("", f"pg_dump: error: {where} failed: {reply.body}\n", 1)
    return Output("", "pg_dump: error: dumps are not simulated\n", 1)
