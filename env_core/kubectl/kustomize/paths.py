"""Fields by their paths: members, items by number or by the value of a member, all items, and making what is missing.

Source: sigs.k8s.io/kustomize/kyaml yaml (fns.go PathGetter, match.go PathMatcher).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from env_core.kubectl.kustomize.merging import wrong_kind
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.values import is_null, is_scalar, text_of

_PAIR = re.compile(r"\[(.*?)=(.*)\]")
_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Slot:
    """A node's place in its map or list."""

    container: Any
    key: Any

    @property
    def value(self) -> Any:
        """The node."""
        return self.container[self.key]

    def set(self, value: Any) -> None:
        """Replace the node."""
        self.container[self.key] = value


def looked_up(tree: Any, parts: list[str]) -> Slot | None:
    """Return the place that a path means, None when it is not there.

    Raises:
        KustomizeError: when the way is of another kind.
    """
    slot = Slot([tree], 0)
    for part in parts:
        node = slot.value
        if is_null(node):
            return None
        found: Slot | None
        if part == "-" and isinstance(node, list):
            found = Slot(node, len(node) - 1) if node else None
        elif _NUMBER.fullmatch(part) and isinstance(node, list):
            found = Slot(node, int(part)) if 0 <= int(part) < len(node) else None
        elif (pair := _PAIR.fullmatch(part)) is not None:
            if not isinstance(node, list):
                raise KustomizeError(wrong_kind("SequenceNode", node))
            found = next(iter(_with_member(node, *pair.groups())), None)
        else:
            if not isinstance(node, dict):
                raise KustomizeError(wrong_kind("MappingNode", node))
            found = Slot(node, part) if part in node else None
        if found is None:
            return None
        slot = found
    return slot


def matched(tree: Any, parts: list[str], created: Any) -> list[Slot]:
    """Return all places that a path means; `created` is put where a member is missing, None to leave it.

    Raises:
        KustomizeError: when the way is of another kind.
    """
    return _matched(Slot([tree], 0), parts, created)


def _matched(slot: Slot, parts: list[str], created: Any) -> list[Slot]:
    if not parts:
        return [slot]
    part, rest = parts[0], parts[1:]
    node = slot.value
    if part == "*":
        return _every(node, rest, created)
    if (pair := _PAIR.fullmatch(part)) is not None:
        return _items(slot, pair, rest, created)
    if part == "-" or (_NUMBER.fullmatch(part) and not isinstance(node, dict)):
        return _item(node, part, rest, created)
    if is_null(node) and created is not None:
        node = {}
        slot.set(node)
    if is_null(node):
        return []
    if not isinstance(node, dict):
        raise KustomizeError(wrong_kind("MappingNode", node))
    if part not in node or is_null(node[part]):
        if created is None:
            return []
        node[part] = _made(rest, created)
    return _matched(Slot(node, part), rest, created)


def _made(rest: list[str], created: Any) -> Any:
    if not rest:
        return "" if is_scalar(created) else type(created)()
    is_list = rest[0] in ("-", "*") or _PAIR.fullmatch(rest[0]) or _NUMBER.fullmatch(rest[0])
    return [] if is_list else {}


def _every(node: Any, rest: list[str], created: Any) -> list[Slot]:
    keys: Any
    if isinstance(node, dict):
        keys = list(node)
    elif isinstance(node, list):
        keys = range(len(node))
    else:
        return []
    return [slot for key in keys for slot in _matched(Slot(node, key), rest, created)]


def _item(node: Any, part: str, rest: list[str], created: Any) -> list[Slot]:
    if not isinstance(node, list):
        raise KustomizeError(wrong_kind("SequenceNode", node))
    index = len(node) if part == "-" and created is not None else len(node) - 1 if part == "-" else int(part)
    if index < 0:
        return []
    if index > len(node) or (index == len(node) and created is None):
        if created is None:
            return []
        raise KustomizeError(f"index {index} specified but only {len(node)} elements found")
    if index == len(node):
        node.append(_made(rest, created))
    return _matched(Slot(node, index), rest, created)


def _items(slot: Slot, pair: re.Match[str], rest: list[str], created: Any) -> list[Slot]:
    name, value = pair.groups()
    node = slot.value
    if is_null(node):
        if created is None:
            return []
        node = []
        slot.set(node)
    if not isinstance(node, list):
        raise KustomizeError(wrong_kind("SequenceNode", node))
    found = _with_member(node, name, value)
    if not found and created is not None:
        node.append({name: value} if name else value)
        found = [Slot(node, len(node) - 1)]
    return [one for item in found for one in _matched(item, rest, created)]


def _with_member(items: list[Any], name: str, value: str) -> list[Slot]:
    """Return the items with a member of this value, or of this value themselves when there is no name."""
    found = []
    for index, item in enumerate(items):
        if name == "":
            if is_scalar(item) and text_of(item) == value:
                found.append(Slot(items, index))
        elif isinstance(item, dict) and name in item and _fits(item[name], value):
            found.append(Slot(items, index))
    return found


def _fits(node: Any, value: str) -> bool:
    text = text_of(node)
    return text == value
