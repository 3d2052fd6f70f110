"""psql, pg_isready and pg_dump: what they ask a Postgres server, and what they print of its answers.

Source: postgres 15 src/bin/psql, src/bin/scripts/pg_isready.c; tests/golden/programs/postgres.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final

from env_core.programs._postgres_wire import (
    ASKS,
    CATALOGUE,
    COLUMNS,
    END,
    ERROR,
    GO_ON,
    ONLY,
    PENDING,
    PING,
    RESULTS,
    SESSION,
)
from env_core.shell._clients._libpq import (
    LOST,
    SOCKET_DIRECTORY,
    Failed,
    Target,
    ask,
    checked,
    connected,
    environment,
    name_database,
    own_name,
    read_options,
    sent,
    take,
)
from env_core.shell._clients._printing import Printing
from env_core.shell._clients._psql_output import Style, error, table
from env_core.shell._clients._wire import Connection, Reply, Wire
from env_core.shell.context import Process, ShellFileError, Talk, Talking
from env_core.world import Output

_VALUED: Final = "hpUdcfvPFRLoT"
_FLAGS: Final = "wWAqXlnEeabsSHx10zt"


@dataclass(slots=True)
class _Asked:
    """A command line of psql."""

    target: Target
    commands: list[str] = field(default_factory=list)
    """Queries and commands of psql's own, in order."""
    is_script: bool = False
    """Whether they come from a file or standard input, whose errors are no failure."""
    asks_password: bool = True
    style: Style = field(default_factory=Style)
    is_quiet: bool = False
    stops: bool = False
    """Whether the first error is the end (ON_ERROR_STOP)."""
    input: _Input | None = None
    """Where further queries come from."""


_READ_MS: Final = 10
"""After how long psql looks for more input, at the soonest."""
_READS: Final = 40
"""The longer nothing comes, the less often it looks: after a fortieth of the time so far."""


class _Input:
    """Standard input: what another command writes, or all there is."""

    def __init__(self, process: Process) -> None:
        self._pipe = process.pipe
        self._text = "" if process.pipe is not None else process.stdin

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._pipe is not None and self._pipe.is_open

    def taken(self) -> list[str]:
        """Return the queries that are complete; at the end, also what is left."""
        is_open = self.is_open
        if self._pipe is not None:
            self._text += self._pipe.take_all()
        found, self._text = statements(self._text, is_open=is_open)
        return found


def talk(process: Process, argv: list[str], wire: Wire) -> Talk:
    """Run psql, which lets its caller wait: each value is so many milliseconds."""
    try:
        asked = _asked(process, argv)
    except Failed as failed:
        is_usage = "option" in failed.text and "connection option" not in failed.text
        if is_usage:
            return Output(
                "", f'psql: {failed.text}\npsql: hint: Try "psql --help" for more information.\n', 1
            )
        return Output("", f"psql: error: {failed.text}\n", 1 if failed.text.endswith(_NO_FILE) else 2)
    session = _Session(process, wire, asked)
    try:
        return (yield from session.run())
    finally:
        session.leave()


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run psql to its end."""
    return Talking(lambda own, words: talk(own, words, wire))(process, argv)


_NO_FILE: Final = "No such file or directory"


class _Session:
    """One connection, and what was printed over it."""

    def __init__(self, process: Process, wire: Wire, asked: _Asked) -> None:
        self._process = process
        self._wire = wire
        self._asked = asked
        self._connection = Connection()
        self._where = ""
        self._number = ""
        """That of the server's session, "" for none."""
        self._is_known = False
        """Whether the server has let one in."""
        self._printed = Printing()

    def run(self) -> Talk:
        """Do all that was asked."""
        asked = self._asked
        code = 0
        try:
            self._connection, self._where = connected(self._process, self._wire, asked.target)
            queue = list(asked.commands) or ([] if asked.input is not None else [""])
            heard_ms = self._process.now_ms()
            while True:
                if asked.input is not None:
                    queue += asked.input.taken()
                    if not queue and asked.input.is_open:
                        waited_ms = self._process.now_ms() - heard_ms
                        yield max(_READ_MS, waited_ms // _READS)
                        continue
                    heard_ms = self._process.now_ms()
                if not queue:
                    break
                is_last = len(queue) == 1 and (asked.input is None or not asked.input.is_open)
                is_good = yield from self._one(queue.pop(0), is_only=is_last and not self._is_known)
                code = 0 if is_good or asked.is_script else 1
                if not is_good and asked.stops:
                    code = 3 if asked.is_script else 1
                    break
        except Failed as failed:
            self._printed.err(f"psql: error: {failed.text}\n")
            return self._printed.output(2)
        except _Lost:
            return self._printed.output(2)
        return self._printed.output(code)

    def leave(self) -> None:
        """Say farewell to a server that still listens."""
        if self._number:
            self._sent("", END, is_only=False)
            self._number = ""

    def _sent(self, statement: str, path: str, *, is_only: bool) -> Reply:
        more = {SESSION: self._number, ONLY: ""} if is_only else {SESSION: self._number}
        asked, place = self._asked.target, self._where
        return sent(self._process, self._wire, self._connection, asked, place, statement, path, more)

    def _ask(self, statement: str, path: str, *, is_only: bool) -> Generator[int, None, Reply]:
        """Send something, and wait until there is an answer."""
        while True:
            reply = self._sent(statement, path, is_only=is_only)
            headers = dict(reply.headers)
            if PENDING in headers:
                # Whenever it goes on, it asks anew.
                self._is_known, self._number = True, headers[SESSION]
                yield int(headers[PENDING])
                statement, path = "", GO_ON
                continue
            yield reply.latency_ms
            if self._is_known and (reply.failure or reply.status):
                raise self._lost("")
            checked(reply, self._asked.target, self._where)
            if reply.body == ASKS:
                if self._asked.asks_password:
                    user = self._asked.target.user or own_name(self._process)
                    self._printed.err(f"Password for user {user}: \n")
                raise Failed(f"{self._where} failed: fe_sendauth: no password supplied")
            if reply.body.startswith(("FATAL:", "PANIC:")):
                if SESSION not in headers:
                    raise Failed(f"{self._where} failed: {reply.body}")
                raise self._lost(f"{reply.body}\n")
            self._is_known = True
            self._number = headers.get(SESSION, "")
            return reply

    def _lost(self, text: str) -> _Lost:
        self._number = ""
        self._printed.err(f"{text}{LOST}\nconnection to server was lost\n")
        return _Lost()

    def _one(self, command: str, *, is_only: bool) -> Generator[int, None, bool]:
        """Do one query, or one command of psql's own; return whether it is good."""
        if command.startswith("\\"):
            return (yield from self._own(command, is_only=is_only))
        reply = yield from self._ask(command, "", is_only=is_only)
        headers = dict(reply.headers)
        results = json.loads(headers[RESULTS]) if RESULTS in headers else None
        if results is None:
            results = [["", headers[COLUMNS]]] if COLUMNS in headers else []
        for tag, columns in results:
            if columns:
                self._printed.out(table(columns, self._asked.style))
            elif not self._asked.is_quiet:
                self._printed.out(f"{tag}\n")
        if ERROR in headers:
            self._printed.err(error(reply.body, headers[ERROR], command))
        return ERROR not in headers

    def _own(self, command: str, *, is_only: bool) -> Generator[int, None, bool]:
        """Do a command of psql's own."""
        name = command.split(maxsplit=1)[0][1:].rstrip("+")
        if name in _LISTS:
            what, title, none = _LISTS[name]
            reply = yield from self._ask(what, CATALOGUE, is_only=is_only)
            columns = dict(reply.headers).get(COLUMNS)
            if columns is None:
                self._printed.err(f"{none}\n")
            else:
                self._printed.out(table(columns, self._asked.style, title))
            return True
        yield from self._ask("", "", is_only=is_only)
        if name == "conninfo":
            self._printed.out(self._connected_to())
            return True
        if name in ("q", "echo", "set", "pset", "timing", "x", "t", "a"):
            if name == "echo":
                self._printed.out(" ".join(command.split()[1:]) + "\n")
            return True
        self._printed.err(f"invalid command \\{name}\nTry \\? for help.\n")
        return False

    def _connected_to(self) -> str:
        target = self._asked.target
        user = target.user or own_name(self._process)
        place = f'on host "{target.host}"'
        if not target.host or target.host.startswith("/"):
            place = f'via socket in "{target.host or SOCKET_DIRECTORY}"'
        elif (found := re.search(r" \(([\da-f.:]+)\), port", self._where)) is not None:
            place += f' (address "{found[1]}")'
        whom = f'You are connected to database "{target.database or user}" as user "{user}"'
        return f'{whom} {place} at port "{target.port}".\n'


class _Lost(Exception):
    """The server has ended the connection."""


_LISTS: Final = {
    "dt": ("tables", "List of relations", "Did not find any relations."),
    "d": ("tables", "List of relations", "Did not find any relations."),
    "l": ("databases", "List of databases", ""),
    "list": ("databases", "List of databases", ""),
}


def _asked(process: Process, argv: list[str]) -> _Asked:
    options, operands = read_options(process, argv, _VALUED, _FLAGS)
    target = environment(process)
    if operands:
        name_database(target, operands[0])
    if len(operands) > 1:
        target.user = operands[1]
    take(target, options)
    commands, is_script = list(options.get("c", [])), False
    if "l" in options:
        commands.append("\\l")
    for name in options.get("f", []):
        is_script = True
        try:
            text = process.stdin if name == "-" else process.fs.read(process.path(name))
            commands += statements(text, is_open=False)[0]
        except ShellFileError as refused:
            raise Failed(f"{name}: {refused.reason}") from None
    is_reading = not commands and not is_script
    return _Asked(
        target,
        commands,
        is_script=is_script or is_reading,
        input=_Input(process) if is_reading else None,
        asks_password="w" not in options,
        style=Style("t" in options, "A" in options),
        is_quiet="q" in options,
        stops=any(
            value in ("ON_ERROR_STOP", "ON_ERROR_STOP=1", "ON_ERROR_STOP=on")
            for value in options.get("v", [])
        ),
    )


_PART: Final = re.compile(
    r"[^;'\"\\\n/-]+|(?P<end>;)|(?P<own>\\[^\n]*)|(?P<whole>'(?>[^']*)'|\"(?>[^\"]*)\"|--[^\n]*|/\*.*?\*/)|(?P<open>['\"]|/\*)|.",
    re.DOTALL,
)
"""A piece of a script: a text, a comment, the end of a query, a command of psql's own, or what is not complete."""


def statements(text: str, *, is_open: bool) -> tuple[list[str], str]:
    """Return what a script asks, one query or command after the other, and what is not complete yet."""
    found: list[str] = []
    start = place = 0
    while (part := _PART.match(text, place)) is not None:
        if part["open"] is not None:
            break
        is_own = part["own"] is not None and not text[start:place].strip()
        if is_own and part.end() == len(text) and is_open:
            break
        place = part.end()
        if part["end"] is not None or is_own:
            found.append(text[start:place].strip())
            start = place
    rest = text[start:]
    if not is_open and rest.strip():
        found.append(rest.strip())
        rest = ""
    return found, rest.lstrip()


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
