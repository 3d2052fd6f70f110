"""An applied configuration: whether it fits its type, and what it makes of the live object.

Source: structured-merge-diff typed/validate.go, typed/merge.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from env_core.apiserver.managedfields.mergetypes import MergeType, Shape
from env_core.apiserver.managedfields.paths import element_text
from env_core.apiserver.managedfields.walking import ABSENT, is_list, is_map, item_element
from env_core.objects.goformat import syntax_text, type_name, value_text
from env_core.world import Object


def problems_text(kind: MergeType, config: Object) -> str:
    """Return what is wrong with a configuration, "" when it fits."""
    found = list(_problems(kind, config, ""))
    if len(found) <= 1:
        return "".join(found)
    return "\n".join(["errors:", *(f"  {problem}" for problem in found)])


def _problems(kind: MergeType, value: Any, path: str) -> Iterator[str]:
    if value is None:
        return
    if kind.shape is Shape.LEAF:
        text = _scalar_problem(kind.scalar, value)
        if text:
            yield _at(path, text)
    elif kind.shape is Shape.MAP:
        if not isinstance(value, dict):
            yield _at(path, f"expected map, got &{{{value_text(value)}}}")
            return
        for name, item in value.items():
            if kind.declared(name) is None and kind.element is None:
                yield _at(f"{path}.{name}", "field not declared in schema")
                return
            yield from _problems(kind.below(name), item, f"{path}.{name}")
    elif kind.shape is not Shape.DEDUCED:
        if not isinstance(value, list):
            yield _at(path, f"expected list, got &{{{value_text(value)}}}")
            return
        yield from _item_problems(kind, value, path)


def _item_problems(kind: MergeType, items: list[Any], path: str) -> Iterator[str]:
    assert kind.element is not None
    seen: set[str] = set()
    for index, item in enumerate(items):
        text = _key_problem(kind, item)
        if text:
            yield _at(path, f"element {index}: {text}")
            return
        element = item_element(kind, item)
        if element in seen:
            yield _at(path, f"duplicate entries for key {element_text(element)}")
        seen.add(element)
        yield from _problems(kind.element, item, path + element_text(element))


def _key_problem(kind: MergeType, item: Any) -> str:
    if kind.shape is Shape.SET:
        if isinstance(item, dict):
            return "associative list without keys has an element that's a map type"
        if isinstance(item, list):
            return "not supported: associative list with lists as elements"
        return "associative list without keys has an element that's an explicit null" if item is None else ""
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    if any(name in item or name in kind.key_defaults for name in kind.keys):
        return ""
    names = " ".join(f'"{name}"' for name in kind.keys)
    return (
        f"associative list with keys has an element that omits all key fields [{names}] "
        "(and doesn't have default values for any key fields)"
    )


def _at(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text


def _scalar_problem(scalar: str, value: Any) -> str:
    if scalar == "numeric":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if is_number else f"expected numeric (int or float), got {type_name(value)}"
    if scalar == "string":
        # The value is printed as the library's own struct around it.
        shown = f"&value.valueUnstructured{{Value:{syntax_text(value)}}}"
        return "" if isinstance(value, str) else f"expected string, got {shown}"
    shown = f"&{{{value_text(value)}}}"
    if scalar == "boolean":
        return "" if isinstance(value, bool) else f"expected boolean, got {shown}"
    if scalar == "untyped":
        return f"expected any scalar, got {shown}" if isinstance(value, dict | list) else ""
    if scalar == "map":
        return "" if isinstance(value, dict) else f"expected map, got {shown}"
    if scalar == "list":
        return "" if isinstance(value, list) else f"expected list, got {shown}"
    return ""


def merged(kind: MergeType, live: Any, config: Any) -> Any:
    """Return the live value with a configuration merged into it; what the configuration leaves out stays."""
    if config is ABSENT:
        return live
    if live is ABSENT or not (live or config):
        return config
    if is_map(kind, live) and is_map(kind, config):
        result = dict(live or {})
        for name, item in (config or {}).items():
            result[name] = merged(kind.below(name), result.get(name, ABSENT), item)
        return result
    if is_list(kind, live) and is_list(kind, config):
        return _merged_lists(kind, live or [], config or [])
    return config


def _merged_lists(kind: MergeType, live: list[Any], config: list[Any]) -> list[Any]:
    """Merge item by item: shared items in the configuration's order, the others of either side where they stood."""
    assert kind.element is not None
    ours = [item_element(kind, item) for item in live]
    theirs = [item_element(kind, item) for item in config]
    values: dict[str, Any] = {}
    for element, item in zip(ours, live, strict=True):
        values[element] = None if element in values else item  # duplicates do not merge
    wanted = dict(zip(theirs, config, strict=True))
    shared = [element for element in theirs if element in values]
    done: set[str] = set()
    result: list[Any] = []

    def take(element: str) -> None:
        done.add(element)
        result.append(merged(kind.element or kind, values.get(element, ABSENT), wanted[element]))
        if shared and shared[0] == element:
            del shared[0]

    left = right = 0
    while left < len(ours) or right < len(theirs):
        if left < len(ours) and right < len(theirs):
            element = ours[left]
            if element == theirs[right]:
                take(element)
                left += 1
                right += 1
                continue
            if element in wanted and shared and shared[0] != element:
                left += 1  # shared, but another shared item comes first
                continue
        if left < len(ours):
            element = ours[left]
            if element not in wanted:
                result.append(live[left])
                left += 1
                continue
            if element in done:
                left += 1
        if right < len(theirs):
            take(theirs[right])
            right += 1
    return result
