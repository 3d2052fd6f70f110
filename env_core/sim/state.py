"""The named tables in which components keep what is not an API object."""

from __future__ import annotations

from typing import Any

from env_core.sim.table import Table


class State:
    """One world's tables, made on first use; a fork shares every row until either side writes."""

    __slots__ = ("_epoch", "_inherited", "_tables")

    def __init__(self) -> None:
        self._epoch = [0, 0]
        self._tables: dict[str, Table[Any, Any]] = {}
        self._inherited: dict[str, dict[Any, Any]] = {}

    @property
    def writes(self) -> int:
        """How often tables of this world were written to, except quiet ones: while it stands, so does what was read of them."""
        return self._epoch[1]

    def table(self, name: str, *, is_quiet: bool = False) -> Table[Any, Any]:
        """Return the table called `name`. Writes to a quiet one are not counted: whoever remembers results does not read it, or looks anew."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = Table(
                self._epoch, self._inherited.pop(name, None), is_quiet=is_quiet
            )
        return found

    def fork(self) -> State:
        """Return tables with the same rows. Costs a few references, whatever the tables hold."""
        copy = State()
        copy._inherited = {**self._inherited, **{name: table.rows for name, table in self._tables.items()}}
        self._epoch[0] += 1
        return copy
