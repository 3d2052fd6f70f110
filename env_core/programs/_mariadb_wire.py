"""What passes between a MariaDB client and server in one request: who asks, over which session, for what."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

PROTOCOL: Final = "mysql"
LOGIN: Final = "login"
"""The path of a request that only opens a session."""
PING: Final = "ping"
"""The path of a request that opens a session, asks whether the server answers, and goes."""
USE: Final = "use"
"""The path of a request for another default database."""
STATISTICS: Final = "statistics"
SHUTDOWN: Final = "shutdown"
GO_ON: Final = "go-on"
"""The path of a request that asks what has become of the session's statement."""
END: Final = "end"
"""The path of a request that ends a session."""
ABORTED: Final = ":aborted"
"""Pseudo header of such a request from a client that was killed: it says no farewell."""
SESSION: Final = ":session"
"""Pseudo header: the session's number, "" for a new one."""
PENDING: Final = ":pending"
"""Pseudo header of a reply without an answer yet: after how many milliseconds to ask again."""
RESULT: Final = ":result"
"""Pseudo header of a reply with rows: names of columns, rows (None for NULL), and whether each column is of numbers, as JSON."""
ERROR: Final = ":error"
"""Pseudo header of a reply with an error: number, SQL state, text, and whether it came after the result had begun, as JSON."""
LOCAL: Final = ":local"
"""Pseudo header of a request over the Unix socket: the name of the user who sends it."""


class Query(NamedTuple):
    """A statement, and what a new session is opened with."""

    user: str
    password: str
    database: str
    statement: str


def encode(query: Query) -> str:
    """Return the body of a request."""
    return json.dumps(query)


def decode(body: str) -> Query | None:
    """Return the query in a request's body, None when it is none."""
    try:
        words = json.loads(body)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(words, list) or len(words) != len(Query._fields):
        return None
    return Query(*map(str, words))
