"""mysqladmin, MariaDB's client for administrators.

Source: MariaDB/server client/mysqladmin.cc; tests/golden/programs/mariadb (mariadb.ok, mysqladmin.*).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from env_core.programs import _mariadb_wire as protocol
from env_core.shell._clients._mysql_connection import (
    CONNECTION,
    MARIADB,
    ORACLE,
    UNKNOWN_HOST,
    Answer,
    Link,
    Texts,
)
from env_core.shell._clients._mysql_options import Failed, Options, read
from env_core.shell._clients._mysql_output import boxed
from env_core.shell._clients._wire import Wire
from env_core.shell.context import Process, Talk, Talking
from env_core.world import Output

_VERSION: Final = "{name}  Ver 9.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu on x86_64\n"
_COMMANDS: Final = (
    "ping", "status", "version", "processlist", "variables", "extended-status", "shutdown", "create", "drop", "kill", "password",
    "flush-privileges", "flush-tables", "flush-hosts", "flush-logs", "flush-status", "reload", "refresh",
)  # fmt: skip
_TAKE_ONE: Final = ("create", "drop", "kill", "password")
_QUERIES: Final = {
    "processlist": "show processlist", "variables": "show global variables", "extended-status": "show global status",
    "flush-privileges": "flush privileges", "flush-tables": "flush tables", "flush-hosts": "flush hosts", "flush-logs": "flush logs",
    "flush-status": "flush status", "reload": "flush privileges", "refresh": "flush tables",
}  # fmt: skip
_WORDS_MAX: Final = 100


def talk(process: Process, argv: list[str], wire: Wire, texts: Texts = MARIADB) -> Talk:
    """Run mysqladmin."""
    try:
        options = read(process, argv)
    except Failed as failed:
        return Output("", f"{failed.text}\n", failed.code)
    name = argv[0].rpartition("/")[2]
    if "version" in options.flags:
        return Output(_VERSION.format(name=name))
    if not options.words or "help" in options.flags:
        return Output(
            f"{_VERSION.format(name=name)}Usage: {name} [OPTIONS] command command....\n",
            "",
            0 if "help" in options.flags else 1,
        )
    words = options.words[:_WORDS_MAX]
    link = Link(process, wire, options, texts)
    head = "Enter password: \n" if options.asks_password else ""
    if options.is_password_shown:
        head = texts.warning.format(name=name)
    is_ping = all(word == "ping" for word in words)
    try:
        link.open("", protocol.PING if is_ping else protocol.LOGIN)
    except Failed as failed:
        return Output("", head + _unreached(failed, options, name, texts), _code(failed, is_ping=is_ping))
    out: list[str] = []
    err = head
    code = 0
    try:
        while words:
            command = words.pop(0)
            argument = words.pop(0) if command in _TAKE_ONE and words else ""
            if command not in _COMMANDS:
                err, code = f"{err}\a{name}: Unknown command: '{command[:60]}'\n", 1
                break
            failure = yield from _do(link, command, argument, out)
            if failure:
                err, code = f"{err}\a{name}: {failure}\n", 1
                break
    finally:
        link.close()
    return Output("".join(out), err, code)


def talk_oracle(process: Process, argv: list[str], wire: Wire) -> Talk:
    """Run mysqladmin as Oracle's images have it."""
    return talk(process, argv, wire, ORACLE)


def run_oracle(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run Oracle's mysqladmin to its end."""
    return Talking(lambda own, words: talk_oracle(own, words, wire))(process, argv)


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run mysqladmin to its end."""
    return Talking(lambda own, words: talk(own, words, wire))(process, argv)


def _code(failed: Failed, *, is_ping: bool) -> int:
    """Return the exit code of a connection that failed: a server that turns one away is alive."""
    return 0 if is_ping and failed.number < 2000 else 1


def _unreached(failed: Failed, options: Options, name: str, texts: Texts) -> str:
    if "silent" in options.flags:
        return ""
    host = options.host or "localhost"
    why = failed.text.partition("): ")[2]
    text = f"\a{name}: connect to server at '{host}' failed\nerror: '{why}'\n"
    if failed.number == CONNECTION:
        return f"{text}Check that {texts.daemon} is running and that the socket: '{options.socket or texts.socket}' exists!\n"
    if failed.number in (UNKNOWN_HOST, 2003):
        return (
            f"{text}Check that {texts.daemon} is running on {host} and that the port is {options.port}.\n"
            f"You can check this by doing 'telnet {host} {options.port}'\n"
        )
    return text


def _do(link: Link, command: str, argument: str, out: list[str]) -> Generator[int, None, str]:
    """Do one command; return why it failed, "" when it did not."""
    if command == "ping":
        out.append("mysqld is alive\n")
        return ""
    if command in ("status", "version"):
        answer = yield from link.ask("", protocol.STATISTICS)
        if answer.error is None:
            out.append(f"{answer.affected}\n")
    elif command == "shutdown":
        answer = yield from link.ask("", protocol.SHUTDOWN)
        if answer.error is not None:
            return f"shutdown failed; error: '{answer.error.text}'"
    else:
        answer = yield from link.ask(_query(command, argument))
        if answer.error is None and answer.has_rows:
            out.append(boxed(answer, has_names=True))
        elif answer.error is None and command == "drop":
            out.append(f'Database "{argument}" dropped\n')
    return "" if answer.error is None else _told(command, argument, answer)


def _query(command: str, argument: str) -> str:
    quoted = argument.replace("\\", "\\\\").replace("'", "\\'")
    if command == "password":
        return f"set password = password('{quoted}')"
    if command == "kill":
        return f"kill {argument if argument.isdigit() else 0}"
    if command in ("create", "drop"):
        name = argument.replace("`", "``")
        return f"{command} database `{name}`"
    return _QUERIES[command]


def _told(command: str, argument: str, answer: Answer) -> str:
    assert answer.error is not None
    why = answer.error.text
    if command == "create":
        return f"CREATE DATABASE failed; error: '{why}'"
    if command == "drop":
        return f"DROP DATABASE {argument} failed;\nerror: '{why}'"
    if command == "processlist":
        return f"process list failed; error: '{why}'"
    if command == "password":
        return f"unable to change password; error: '{why}'"
    return f"{command} failed; error: '{why}'"
