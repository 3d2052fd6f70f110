"""The named tables in which components keep what is not an API object."""

from __future__ import annotations

from typing import Any

from env_core.sim.table import Table


class State:
    """One world's tables, made on first use; a fork shares every row until it writes."""

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        self._tables: dict[str, Table[Any, Any]] = {}

    def table(self, name: str) -> Table[Any, Any]:
        """Return the table called `name`."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = Table()
        return found

    def fork(self) -> State:
        """Return tables with the same rows."""
        copy = State()
        copy._tables = {name: table.fork() for name, table in self._tables.items()}
        return copy
