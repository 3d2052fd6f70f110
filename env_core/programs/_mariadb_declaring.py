"""Reads the declaration of a table.

Source: https://mariadb.com/kb/en/create-table/, data-types/.
"""

from __future__ import annotations

from typing import Final

from env_core.programs._mariadb_errors import Problem, unsupported
from env_core.programs._mariadb_reader import Reader
from env_core.programs._mariadb_syntax import Column, Key, Statement

_COLUMNS_MAX: Final = 200
INTEGERS: Final = {
    "tinyint": (4, 8), "smallint": (6, 16), "mediumint": (9, 24), "int": (11, 32), "bigint": (20, 64),
}  # fmt: skip
"""Whole numbers: how wide they are shown, and how many bits they have."""
TEXTS: Final = {"tinytext": 255, "text": 65_535, "mediumtext": 16_777_215, "longtext": (1 << 32) - 1}
BLOBS: Final = {"tinyblob": 255, "blob": 65_535, "mediumblob": 16_777_215, "longblob": (1 << 32) - 1}
_SIZED: Final = ("varchar", "char", "varbinary", "binary")
TIMES: Final = ("date", "datetime", "timestamp", "time")
_NAMES: Final = {
    "integer": "int", "bool": "tinyint", "boolean": "tinyint", "numeric": "decimal", "dec": "decimal", "real": "double", "json": "longtext",
}  # fmt: skip


def create_table(reader: Reader) -> Statement:
    """Read CREATE TABLE after these words."""
    is_lenient = reader.take("if", "not", "exists")
    database, table = reader.table()
    if reader.is_next("like") or reader.is_next("as") or reader.is_next("select"):
        raise unsupported("CREATE TABLE FROM ANOTHER")
    columns: list[Column] = []
    keys: list[Key] = []
    reader.need("(")
    while True:
        if not _key(reader, keys):
            columns.append(_column(reader, keys))
        if len(columns) > _COLUMNS_MAX:
            raise Problem(1117, "Too many columns")
        if not reader.take(","):
            break
    reader.need(")")
    _options(reader)
    _check(columns, keys)
    return Statement(
        "create table",
        database=database,
        table=table,
        columns=_required(columns, keys),
        keys=tuple(keys),
        is_lenient=is_lenient,
    )


def _required(columns: list[Column], keys: list[Key]) -> tuple[Column, ...]:
    """Return the columns; those of the primary key take no NULL."""
    primary = next((key.columns for key in keys if key.name == "PRIMARY"), ())
    return tuple(each._replace(is_required=True) if each.name in primary else each for each in columns)


def _check(columns: list[Column], keys: list[Key]) -> None:
    names = [each.name.lower() for each in columns]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise Problem(1060, f"Duplicate column name '{columns[number].name}'")
    for key in keys:
        for name in key.columns:
            if name.lower() not in names:
                raise Problem(1072, f"Key column '{name}' doesn't exist in table")
    if not columns:
        raise Problem(1113, "A table must have at least 1 column")
    if sum(key.name == "PRIMARY" for key in keys) > 1:
        raise Problem(1068, "Multiple primary key defined")
    counted = [each.name for each in columns if each.is_counted]
    if len(counted) > 1 or (counted and not any(key.columns[0] == counted[0] for key in keys)):
        raise Problem(
            1075,
            "Incorrect table definition; there can be only one auto column and it must be defined as a key",
        )


def _key(reader: Reader, keys: list[Key]) -> bool:
    """Read a key that is declared apart; return whether there is one."""
    if (
        reader.take("constraint")
        and not reader.is_next("primary")
        and not reader.is_next("unique")
        and not reader.is_next("foreign")
    ):
        reader.name()
    if reader.take("primary", "key"):
        keys.append(Key("PRIMARY", _key_columns(reader)))
        return True
    for word in ("foreign", "check", "fulltext", "spatial"):
        if reader.is_next(word):
            raise unsupported(word.upper())
    is_unique = reader.take("unique")
    if not reader.take("key") and not reader.take("index") and not is_unique:
        return False
    name = "" if reader.is_next("(") else reader.name()
    columns = _key_columns(reader)
    keys.append(Key(name or _free_name(columns[0], keys), columns, is_unique))
    return True


def _key_columns(reader: Reader) -> tuple[str, ...]:
    reader.need("(")
    found = []
    while True:
        found.append(reader.name())
        if reader.take("("):
            reader.whole()
            reader.need(")")
        if not reader.take("desc"):
            reader.take("asc")
        if not reader.take(","):
            break
    reader.need(")")
    return tuple(found)


def _free_name(column: str, keys: list[Key]) -> str:
    taken = {key.name for key in keys}
    return next(
        name
        for number in range(1, len(keys) + 3)
        if (name := column if number == 1 else f"{column}_{number}") not in taken
    )


def _column(reader: Reader, keys: list[Key]) -> Column:
    column = _typed(reader, Column(reader.name(), ""))
    while (token := reader.peek()) is not None and not reader.is_next(",") and not reader.is_next(")"):
        if reader.take("not", "null"):
            column = column._replace(is_required=True)
        elif reader.take("null"):
            column = column._replace(is_required=False)
        elif reader.take("auto_increment"):
            column = column._replace(is_counted=True, is_required=True)
        elif reader.take("primary", "key") or reader.take("key"):
            keys.append(Key("PRIMARY", (column.name,)))
            column = column._replace(is_required=True)
        elif reader.take("unique"):
            reader.take("key")
            keys.append(Key(_free_name(column.name, keys), (column.name,)))
        elif reader.take("default"):
            column = _default(reader, column)
        elif reader.take("comment"):
            reader.literal()
        elif reader.take("collate") or reader.take("charset") or reader.take("character", "set"):
            reader.word()
        elif reader.take("on", "update", "current_timestamp"):
            _brackets(reader)
        elif token.text in ("check", "references", "generated", "as"):
            raise unsupported(token.text.upper())
        else:
            raise reader.refused()
    return column


def _brackets(reader: Reader) -> None:
    if reader.take("("):
        if not reader.is_next(")"):
            reader.whole()
        reader.need(")")


def _default(reader: Reader, column: Column) -> Column:
    if reader.take("null"):
        return column._replace(has_default=True)
    if reader.take("current_timestamp") or reader.take("now"):
        _brackets(reader)
        return column._replace(default="current_timestamp()", has_default=True)
    sign = "-" if reader.take("-") else ""
    token = reader.peek()
    if token is not None and token.text in ("true", "false"):
        reader.place += 1
        return column._replace(default=str(int(token.text == "true")), has_default=True)
    if token is None or token.kind not in ("number", "text"):
        raise reader.refused()
    reader.place += 1
    return column._replace(default=sign + token.text, has_default=True)


def _typed(reader: Reader, column: Column) -> Column:
    token = reader.peek()
    if token is None or token.kind != "name":
        raise reader.refused()
    word = token.text
    kind = _NAMES.get(word, word)
    if kind in ("enum", "set", "bit", "year", "uuid", "inet6", "inet4", "geometry", "point"):
        raise unsupported(kind.upper())
    if kind not in (*INTEGERS, *TEXTS, *BLOBS, *_SIZED, *TIMES, "decimal", "double", "float"):
        raise reader.refused()
    reader.place += 1
    if word == "double":
        reader.take("precision")
    size = scale = 0
    if reader.take("("):
        size = reader.whole()
        scale = reader.whole() if reader.take(",") else 0
        reader.need(")")
    elif kind in ("varchar", "varbinary"):
        raise reader.refused()
    if size > 65_535 and kind in _SIZED:
        raise Problem(
            1074, f"Column length too big for column '{column.name}' (max = 16383); use BLOB or TEXT instead"
        )
    if kind == "decimal":
        if size > 65 or scale > 38:
            raise Problem(1426, f"Too big precision specified for '{column.name}'. Maximum is 65")
        size = size or 10
    elif kind in ("char", "binary"):
        size = size or 1
    elif kind in INTEGERS:
        size = 1 if word.startswith("bool") else size or INTEGERS[kind][0]
    elif kind not in _SIZED:
        size = 0
    is_unsigned = reader.take("unsigned")
    reader.take("signed")
    reader.take("zerofill")
    if is_unsigned and size == INTEGERS.get(kind, (0, 0))[0] and kind not in ("bigint", "decimal"):
        size -= 1
    return column._replace(type=kind, size=size, scale=scale, is_unsigned=is_unsigned)


_OPTIONS: Final = (
    "engine",
    "auto_increment",
    "charset",
    "collate",
    "comment",
    "row_format",
    "default",
    "character",
    "set",
)


def _options(reader: Reader) -> None:
    """Read what a table is declared with after its columns: nothing here depends on it."""
    while any(reader.take(word) for word in _OPTIONS):
        if reader.take("=") or not any(reader.is_next(word) for word in _OPTIONS):
            token = reader.peek()
            if token is None or token.kind not in ("name", "text", "number"):
                raise reader.refused()
            reader.place += 1
        reader.take(",")
