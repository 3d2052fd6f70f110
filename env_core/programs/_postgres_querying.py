"""Reads SELECT, and what other statements have of it.

Source: https://www.postgresql.org/docs/15/sql-select.html.
"""

from __future__ import annotations

from env_core.programs._postgres_reader import Reader
from env_core.programs._postgres_syntax import RESERVED, Node, Statement


def select(reader: Reader) -> Statement:
    """Read what follows SELECT."""
    items: list[tuple[Node, str]] = []
    while True:
        token = reader.peek()
        if token is not None and token.kind == "sign" and reader.take("*"):
            items.append((Node("all", "*", token.at), ""))
        else:
            items.append(_item(reader))
        if not reader.take(","):
            break
    found = Statement("select", "", items=tuple(items))
    if reader.take("from"):
        found = _from(reader, found)
    return ordered(reader, found)


def _item(reader: Reader) -> tuple[Node, str]:
    node = reader.expression()
    token = reader.peek()
    if reader.take("as"):
        return node, reader.name().text
    if token is not None and token.kind == "name" and token.text not in RESERVED:
        return node, reader.name().text
    return node, _name_of(node)


def _name_of(node: Node) -> str:
    """Return the name of a result column that has none of its own: that of what it is taken from."""
    if node.kind == "cast":
        inner = _name_of(node.parts[0])
        return _type_name(node) if inner == "?column?" else inner
    return node.value if node.kind in ("column", "call") else "?column?"


def _type_name(node: Node) -> str:
    return {"int": "int4", "integer": "int4", "bigint": "int8", "boolean": "bool"}.get(node.value, node.value)


def _from(reader: Reader, found: Statement) -> Statement:
    name = reader.table()
    if reader.take("("):
        found = found._replace(call=reader.call(name), at=name.at)
    else:
        found = found._replace(table=name.text, at=name.at)
    reader.take("as")
    token = reader.peek()
    if token is not None and token.kind == "name" and token.text not in RESERVED:
        found = found._replace(alias=reader.name().text)
    return found


def ordered(reader: Reader, found: Statement) -> Statement:
    """Read which rows are meant, and in which order."""
    if reader.take("where"):
        found = found._replace(where=reader.expression())
    if reader.take("order", "by"):
        order = []
        while True:
            node = reader.expression()
            order.append((node, reader.take("desc")))
            reader.take("asc")
            if not reader.take(","):
                break
        found = found._replace(order=tuple(order))
    if reader.take("limit"):
        found = found._replace(limit=-1 if reader.take("all") else reader.whole())
    return found
