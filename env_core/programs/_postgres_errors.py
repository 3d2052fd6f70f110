"""How a Postgres server refuses a statement: the fields of an error, for the client and for the log.

Source: https://www.postgresql.org/docs/15/protocol-error-fields.html; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Fields(NamedTuple):
    """What a server says of an error."""

    text: str
    position: int = 0
    """Where in the query, counted in characters from 1; 0 for nowhere."""
    detail: str = ""
    hint: str = ""
    context: str = ""
    severity: str = "ERROR"
    log_detail: str = ""
    """What the log says further in the detail's place."""

    def encode(self) -> str:
        """Return what goes to the client."""
        return json.dumps([self.position, self.detail, self.hint, self.context])

    @property
    def body(self) -> str:
        """The first line, as clients print it."""
        return f"{self.severity}:  {self.text}"

    def logged(self, statement: str) -> tuple[str, ...]:
        """Return the log's lines without their heads; a line that goes on another one begins with a tab."""
        place = f" at character {self.position}" if self.position else ""
        lines = [f"{self.severity}:  {self.text}{place}"]
        for name, text in (
            ("DETAIL", self.log_detail or self.detail), ("HINT", self.hint), ("CONTEXT", self.context), ("STATEMENT", statement),
        ):  # fmt: skip
            if text:
                first, *others = text.split("\n")
                lines += [f"{name}:  {first}", *(f"\t{each}" for each in others)]
        return tuple(lines)


class Problem(Exception):
    """A statement fails."""

    def __init__(
        self, text: str, position: int = 0, detail: str = "", hint: str = "", context: str = ""
    ) -> None:
        super().__init__(text)
        self.fields = Fields(text, position, detail, hint, context)


class UnknownTable(Problem):
    """A statement names a table that there is not."""
