"""What is wrong with constants although the types fit: patterns, durations, mixed lists, formats.

Source: github.com/google/cel-go v0.29 cel/validator.go and ext/formatting.go, in the order in which k8s.io/apiserver
v0.37 pkg/cel/environment registers them.
"""

from __future__ import annotations

from typing import Any

from env_core.cel import _types
from env_core.cel._ast import Call, ListOf, Literal, MapOf, Node, children, walk
from env_core.cel._conversions import to_duration, to_timestamp
from env_core.cel._format import FormatProblem, check_format
from env_core.cel._source import Issues
from env_core.cel._types import Type
from env_core.cel._values import CelError, Duration, Timestamp
from env_core.objects.re2 import Re2Error, compiled


def validate(node: Node, issues: Issues) -> None:
    """Add to `issues` what the constants of a checked tree do not mean."""
    nodes = walk(node)
    calls = [each for each in nodes if isinstance(each, Call)]
    _mixed(node, issues)
    for function, is_meant in (
        ("duration", _is_duration),
        ("timestamp", _is_timestamp),
        ("matches", _is_pattern),
    ):
        for call in calls:
            if call.function == function and call.args and isinstance(call.args[0], Literal):
                value = call.args[0].value
                if not is_meant(value):
                    issues.add(call.args[0].offset, f"invalid {function} argument")
    for call in calls:
        _formatted(call, issues)


def _is_duration(value: Any) -> bool:
    return isinstance(value, Duration) or not isinstance(to_duration(value), CelError)


def _is_timestamp(value: Any) -> bool:
    return isinstance(value, Timestamp) or not isinstance(to_timestamp(value), CelError)


def _is_pattern(value: Any) -> bool:
    try:
        compiled(value)
    except Re2Error:
        return False
    return True


def _mixed(root: Node, issues: Issues) -> None:
    """Refuse literals whose elements have different types, but in what is formatted."""
    lists: list[ListOf] = []
    maps: list[MapOf] = []
    left = [root]
    while left:
        node = left.pop()
        if isinstance(node, Call) and node.function == "format":
            continue
        if isinstance(node, ListOf):
            lists.append(node)
        elif isinstance(node, MapOf):
            maps.append(node)
        left += reversed(children(node))
    for each in lists:
        _mixed_list(each, issues)
    for mapping in maps:
        _mixed_map(mapping, issues)


def _mixed_list(node: ListOf, issues: Issues) -> None:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        type_ = _types.unwrap_optional(element.type)[0] if index in node.optionals else element.type
        if first is None:
            first = type_
        elif not _types.is_equivalent(first, type_):
            _mismatch(issues, element, first, type_)
            break


def _mixed_map(node: MapOf, issues: Issues) -> None:
    first: tuple[Type, Type] | None = None
    for entry in node.entries:
        key, value = entry.key.type, entry.value.type
        if entry.is_optional:
            value = _types.unwrap_optional(value)[0]
        if first is None:
            first = key, value
            continue
        if not _types.is_equivalent(first[0], key):
            _mismatch(issues, entry.key, first[0], key)
        if not _types.is_equivalent(first[1], value):
            _mismatch(issues, entry.value, first[1], value)


def _mismatch(issues: Issues, node: Node, expected: Type, found: Type) -> None:
    issues.add(node.offset, f"expected type '{expected.shown()}' but found '{found.shown()}'")


def _formatted(call: Call, issues: Issues) -> None:
    target = call.target
    if call.function != "format" or not isinstance(target, Literal) or not isinstance(target.value, str):
        return
    if len(call.args) != 1 or not isinstance(call.args[0], ListOf):
        return
    elements = call.args[0].elements
    try:
        used = check_format(target.value, elements)
    except FormatProblem as problem:
        offset = problem.node.offset if problem.node is not None else call.offset
        issues.add(offset, str(problem))
        return
    if len(elements) > used:
        text = f"too many arguments supplied to string.format (expected {used}, got {len(elements)})"
        issues.add(call.offset, text)
