"""What passes between a Postgres client and server in one request: who asks, with how many connections, for what."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

PROTOCOL: Final = "postgres"
PING: Final = "ping"
"""The path of a request that only asks whether the server takes connections."""
ALIVE: Final = "SELECT 1"
"""The statement with which clients ask whether a server answers."""
SESSION: Final = ":session"
"""Pseudo header of a client that keeps its connection: the session's number, "" for a new one; and of the reply to it."""
GO_ON: Final = "go-on"
"""The path of a request that asks what has become of the session's statement."""
END: Final = "end"
"""The path of a request that ends a session."""
ONLY: Final = ":only"
"""Pseudo header of a new session's first statement, after which the client goes."""
PENDING: Final = ":pending"
"""Pseudo header of a reply without an answer yet: after how many milliseconds to ask again."""
RESULTS: Final = ":results"
"""Pseudo header of a reply to a query of a session: for each of its statements tag and columns, as JSON."""
ERROR: Final = ":error"
"""Pseudo header of a reply with an error: position, detail, hint and context, as JSON."""
CATALOGUE: Final = "catalogue"
"""The path of a request for what psql shows of a server: tables, databases."""
LOCAL: Final = ":local"
"""Pseudo header of a request over the Unix socket: the name of the user who sends it."""
NO_PASSWORD: Final = ":no-password"
"""Pseudo header of a request whose client has no password to give when it is asked for one."""
ASKS: Final = "password?"
"""The body of a reply to such a request, where a password is needed."""
COLUMNS: Final = ":columns"
"""Pseudo header of a reply with rows: names of columns, rows, and "number" or "text" for each column, as JSON."""


class Query(NamedTuple):
    """A statement sent over a connection of a client's pool."""

    user: str
    password: str
    database: str
    statement: str
    pool: int = 1
    """How many connections the client holds in all."""


def encode(query: Query) -> str:
    """Return the body of a request."""
    return json.dumps(query)


def decode(body: str) -> Query | None:
    """Return the query in a request's body, None when it is none."""
    try:
        words = json.loads(body)
    except json.JSONDecodeError:
        return None
    if not isinstance(words, list) or len(words) != len(Query._fields):
        return None
    user, password, database, statement, pool = words
    return Query(str(user), str(password), str(database), str(statement), int(pool))
