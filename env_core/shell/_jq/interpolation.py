"""Strings of jq with filters in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from env_core.shell._jq.formats import formatted
from env_core.shell._jq.nodes import Interpolated, Node
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.values import Json

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator, Found, Path


def interpolated(jq: Evaluator, node: Interpolated, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
    """Yield the texts of a string with filters in it."""
    for text in _joined(jq, node, len(node.parts), scope, value):
        yield text, jq.off(path)


def _joined(jq: Evaluator, node: Interpolated, count: int, scope: Scope, value: Json) -> Iterator[str]:
    """Yield the text of the first `count` parts, the last ones varying slowest."""
    if count == 0:
        yield ""
        return
    part = node.parts[count - 1]
    texts = iter((part,)) if isinstance(part, str) else _part_texts(jq, part, node.format, scope, value)
    for text in texts:
        for before in _joined(jq, node, count - 1, scope, value):
            yield before + text


def _part_texts(jq: Evaluator, part: Node, name: str, scope: Scope, value: Json) -> Iterator[str]:
    for found in jq.values(part, scope, value):
        yield formatted(name, found)
