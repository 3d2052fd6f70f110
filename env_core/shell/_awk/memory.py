"""What an awk program remembers: variables, arrays, the record and its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from env_core.objects.regex import EXTENDED, Expression, RegexProblem, compile_expression
from env_core.shell._awk.lexer import AwkProblem
from env_core.shell._awk.values import Strnum, Value, to_string

FIELDS_MAX: Final = 20_000

Array = dict[str, Value]
Cell = Value | Array


class Memory:
    """Variables, and the present record."""

    def __init__(self, environment: Mapping[str, str], assignments: list[tuple[str, str]]) -> None:
        """Start with awk's own variables, ENVIRON from `environment`, and `-v` assignments."""
        self.globals: dict[str, Cell] = {
            "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "NR": 0.0, "FNR": 0.0, "NF": 0.0, "SUBSEP": "\x1c",
            "CONVFMT": "%.6g", "OFMT": "%.6g", "FILENAME": "", "RSTART": 0.0, "RLENGTH": -1.0,
            "ENVIRON": {name: Strnum(value) for name, value in environment.items()},
        }  # fmt: skip
        for name, value in assignments:
            self.globals[name] = Strnum(value)
        self.frames: list[dict[str, Cell]] = []
        self.record = ""
        self._fields: list[Value] | None = []

    def split_records(self, text: str) -> Iterator[str]:
        """Return the records of a file, as RS says."""
        separator = to_string(self.scalar("RS"))
        if not text:
            return iter(())
        if separator == "\n":
            return iter(text.removesuffix("\n").split("\n"))
        if separator == "":
            return iter([each for each in re.split(r"\n{2,}", text.strip("\n")) if each])
        if len(separator) == 1:
            return iter(text.removesuffix("\n").removesuffix(separator).split(separator))
        records = compiled(separator).regex.split(text.removesuffix("\n"))
        return iter([each or "" for each in (records[:-1] if records and not records[-1] else records)])

    def set_record(self, text: str) -> None:
        """Make `text` the present record; its fields are split when they are asked for."""
        self.record = text
        self._fields = None
        self.globals["NF"] = 0.0

    def fields(self) -> list[Value]:
        """Return the fields of the record, split now if they were not yet."""
        if self._fields is None:
            separator = to_string(self.scalar("FS"))
            self._fields = list(self.split_text(self.record, separator))
            self.globals["NF"] = float(len(self._fields))
        return self._fields

    def split_text(self, text: str, separator: str) -> list[Value]:
        """Return the pieces of `text`: a blank splits at white space, one character at itself, more as an ERE."""
        if separator == " ":
            pieces = text.split()
        elif not text:
            pieces = []
        elif separator == "\t" or (len(separator) == 1 and separator not in "\\|^$.[]()*+?{}"):
            pieces = text.split(separator)
        elif separator == "":
            pieces = list(text)
        elif len(separator) == 1:
            pieces = text.split(separator)
        else:
            found = compiled(separator)
            found.search(text)
            pieces = [piece or "" for piece in re.split(f"(?:{_uncaptured(found.regex.pattern)})", text)]
        if self.scalar("RS") == "" and separator != " ":
            pieces = [part for piece in pieces for part in piece.split("\n")]
        return [Strnum(piece) for piece in pieces[:FIELDS_MAX]]

    def field(self, index: int) -> Value:
        """Return `$index`."""
        if index == 0:
            return Strnum(self.record)
        fields = self.fields()
        return fields[index - 1] if index <= len(fields) else Strnum("")

    def set_field(self, index: int, value: Value) -> None:
        """Assign to `$index`; the record is joined anew by OFS."""
        if index == 0:
            self.set_record(to_string(value, self.template()))
            return
        if index > FIELDS_MAX:
            raise AwkProblem(f"program limit exceeded: maximum number of fields size={FIELDS_MAX}")
        fields = self.fields()
        fields += [""] * (index - len(fields))
        fields[index - 1] = Strnum(value) if isinstance(value, Strnum) else to_string(value, self.template())
        self.globals["NF"] = float(len(fields))
        self._join()

    def _join(self) -> None:
        joiner = to_string(self.scalar("OFS"))
        self.record = joiner.join(to_string(value) for value in self._fields or [])

    def template(self) -> str:
        """Return CONVFMT."""
        return to_string(self.scalar("CONVFMT"))

    def scalar(self, name: str) -> Value:
        """Return a variable's value; unset ones are the empty Strnum (0 as a number)."""
        if name == "NF":
            self.fields()
        cell = self.scope(name).get(name, Strnum(""))
        if isinstance(cell, dict):
            raise AwkProblem(f"type error in use of array {name}")
        return cell

    def cell(self, name: str) -> Cell | None:
        """Return what a name holds, if anything."""
        return self.scope(name).get(name)

    def scope(self, name: str) -> dict[str, Cell]:
        """Return where a name lives: the frame of the function that runs, or the globals."""
        if self.frames and name in self.frames[-1]:
            return self.frames[-1]
        return self.globals

    def array(self, name: str) -> Array:
        """Return an array, made on first use."""
        scope = self.scope(name)
        cell = scope.get(name)
        if cell is None or (isinstance(cell, str) and cell == "" and scope is not self.globals):
            cell = {}
            scope[name] = cell
        if not isinstance(cell, dict):
            raise AwkProblem(f"type error in use of {name}: not an array")
        return cell

    def resize(self, count: int) -> None:
        """Assign to NF."""
        if not 0 <= count <= FIELDS_MAX:
            raise AwkProblem(f"program limit exceeded: maximum number of fields size={FIELDS_MAX}")
        fields = self.fields()
        del fields[count:]
        fields += [""] * (count - len(fields))
        self.globals["NF"] = float(count)
        self._join()


def compiled(source: str) -> Expression:
    """Return a regular expression of awk, compiled.

    Raises:
        AwkProblem: if it is malformed.
    """
    try:
        return compile_expression(source, EXTENDED, escapes=True)
    except RegexProblem as problem:
        raise AwkProblem(_bad_regex(source, problem), f"regex {source}: {problem.text}") from None


def _bad_regex(source: str, problem: RegexProblem) -> str:
    reason = "missing ')'" if "(" in problem.text else problem.text
    return f"line 1: regular expression compile failed ({reason})\n{source}"


@lru_cache(maxsize=256)
def _uncaptured(source: str) -> str:
    """Return a translated expression with its groups no longer capturing, for splitting."""
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", source)
