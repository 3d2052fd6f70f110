"""The log of Oracle's MySQL server, where it differs from MariaDB's. None of it is recorded.

Source: mysql/mysql-server share/messages_to_error_log.txt; the log quoted in https://github.com/chesslablab/chess-data/issues/38.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.programs._http import moment
from env_core.programs._mariadb_config import Read
from env_core.programs._model import Line

COMMENT = "MySQL Community Server - GPL"
SOCKET = "/var/run/mysqld/mysqld.sock"


_CLAUSES = {
    "'SELECT'": "'field list'", "'INSERT INTO'": "'field list'", "'SET'": "'field list'", "'VALUES'": "'field list'",
    "'WHERE'": "'where clause'", "'ORDER BY'": "'order clause'",
}  # fmt: skip


def worded(text: str) -> str:
    """Return an error in the words of MySQL, which MariaDB once had, too.

    Source: mysql/mysql-server share/messages_to_clients.txt, sql/sql_class.h.
    """
    if text.startswith("Unknown column "):
        for ours, theirs in _CLAUSES.items():
            text = text.replace(f" in {ours}", f" in {theirs}")
        return text
    if text.startswith("Incorrect ") and "`.`" in text:
        head, _, tail = text.partition(" for column `")
        column, _, end = tail.partition("` at row ")
        return f"{head} for column '{column.rpartition('`.`')[2]}' at row {end}"
    return text.replace("MariaDB server", "MySQL server").replace("version of MariaDB", "version of MySQL")


class Message(NamedTuple):
    """One message of the log."""

    level: str
    number: int
    part: str
    text: str
    thread: int = 0


def line(message: Message, at_ms: int, shown_ms: int) -> Line:
    """Return a line at a time of a log, with the moment that it shows."""
    head = f"{moment(shown_ms):%Y-%m-%dT%H:%M:%S}.{shown_ms % 1000:03d}000Z {message.thread}"
    return Line(
        at_ms, f"{head} [{message.level}] [MY-{message.number:06d}] [{message.part}] {message.text}", "stderr"
    )


def started(
    read: Read, version: str, directory: str, *, has_data: bool, problem: str, is_taken: bool
) -> tuple[tuple[Message, ...], int | None]:
    """Return what a server says until it takes connections, or gives up, and with which code; `problem` is an errno with its text."""
    begin = (
        *((Message("System", 15015, "Server", "MySQL Server - start."),) if version > "8.4" else ()),
        Message("System", 10116, "Server", f"/usr/sbin/mysqld (mysqld {version}) starting as process 1"),
    )
    end = Message("ERROR", 10119, "Server", "Aborting")
    if problem:
        number, _, text = problem.partition(" ")
        texts = (
            Message(
                "Warning",
                10091,
                "Server",
                f"Can't create test file {directory}/mysqld_tmp_file_case_insensitive_test.lower-test",
            ),
            Message(
                "ERROR",
                13276,
                "Server",
                f"Failed to set datadir to '{directory}/' (OS errno: {number} - {text.strip(chr(34))})",
            ),
        )
        return (*begin, *texts, end), 1
    if read.late is not None or read.early is not None:
        wrong = read.early or read.late
        assert wrong is not None
        texts_ = tuple(
            Message(
                "ERROR",
                67,
                "Server",
                text.removeprefix("Buffered error: ").removeprefix("mariadbd: ").rstrip(".") + ".",
            )
            for text in wrong.texts
        )
        return (*begin, *texts_, end), 1
    innodb = (
        Message("System", 13576, "InnoDB", "InnoDB initialization has started.", 1),
        Message("System", 13577, "InnoDB", "InnoDB initialization has ended.", 1),
    )
    if not has_data:
        return (
            *begin, innodb[0], Message("ERROR", 11011, "Server", "Failed to find valid data directory.", 1),
            Message("ERROR", 10020, "Server", "Data Dictionary initialization failed."), end,
        ), 1  # fmt: skip
    if is_taken:
        return (
            *begin, *innodb, Message("ERROR", 10262, "Server", "Can't start server: Bind on TCP/IP port: Address already in use"),
            Message("ERROR", 10257, "Server", f"Do you already have another mysqld server running on port: {read.get('port')} ?"), end,
        ), 1  # fmt: skip
    socket = read.settings.get("socket", SOCKET)
    ready = f"/usr/sbin/mysqld: ready for connections. Version: '{version}'  socket: '{socket}'  port: {read.get('port')}  {COMMENT}."
    return (
        *begin, *innodb, Message("Warning", 10068, "Server", "CA certificate ca.pem is self signed."),
        Message("System", 13602, "Server", "Channel mysql_main configured to support TLS. Encrypted connections are now supported for this channel."),
        Message("System", 10931, "Server", ready),
    ), None  # fmt: skip


def stopped(version: str) -> tuple[Message, ...]:
    """Return what a server says when it ends in order."""
    return (
        Message(
            "System",
            13172,
            "Server",
            f"Received SHUTDOWN from user <via user signal>. Shutting down mysqld (Version: {version}).",
        ),
        Message(
            "System", 10910, "Server", f"/usr/sbin/mysqld: Shutdown complete (mysqld {version})  {COMMENT}."
        ),
    )
