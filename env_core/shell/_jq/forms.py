"""Functions of jq whose arguments are filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.shell._jq.entryforms import ENTRY_FORMS
from env_core.shell._jq.evaluate import Evaluator, Found, Path
from env_core.shell._jq.formtable import Form
from env_core.shell._jq.functions import contains, has
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.operators import add
from env_core.shell._jq.pathforms import PATH_FORMS
from env_core.shell._jq.scope import Scope
from env_core.shell._jq.textforms import TEXT_FORMS
from env_core.shell._jq.values import JqError, Json, compact, equal, is_number, is_true, kind


def _empty(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    return iter(())


def _error(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for message in jq.values(arguments[0], scope, value) if arguments else (value,):
        if message is None:
            return
        raise JqError(message)
    yield from ()


def _select(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for condition in jq.values(arguments[0], scope, value):
        if is_true(condition):
            yield value, path


def _map(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield (
        [found for item, _ in jq.items(value, None) for found in jq.values(arguments[0], scope, item)],
        jq.off(path),
    )


def _map_values(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    pairs = [(where[0], item) for item, where in jq.items(value, ()) if where is not None]
    changed: list[tuple[Json, Json]] = []
    for key, item in pairs:
        found = next(jq.values(arguments[0], scope, item), _NOTHING)
        if found is not _NOTHING:
            changed.append((key, found))
    yield ([item for _, item in changed] if isinstance(value, list) else dict(changed)), jq.off(path)


_NOTHING: Final = object()


def _first(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for found in jq.run(arguments[0], scope, value, path):
        yield found
        return


def _last(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    last: Found = (None, jq.off(path))
    for found in jq.run(arguments[0], scope, value, path):
        last = found
    yield last


def _limit(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for count in jq.values(arguments[0], scope, value):
        if is_number(count) and count < 0:
            yield from jq.run(arguments[1], scope, value, path)
            continue
        left = count
        for found in jq.run(arguments[1], scope, value, path):
            # jq 1.6 gives one result even for a limit of 0.
            yield found
            left -= 1
            if left <= 0:
                break


def _nth(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for count in jq.values(arguments[0], scope, value):
        if count < 0:
            raise JqError("nth doesn't support negative indices")
        last: Found = (None, jq.off(path))
        for number, found in enumerate(jq.run(arguments[1], scope, value, path)):
            last = found
            if number >= count:
                break
        yield last


def _isempty(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    yield next(jq.values(arguments[0], scope, value), _NOTHING) is _NOTHING, jq.off(path)


def _until(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    while not any(is_true(found) for found in jq.values(arguments[0], scope, value)):
        found = next(jq.values(arguments[1], scope, value), _NOTHING)
        if found is _NOTHING:
            return
        value = found
    yield value, jq.off(path)


def _while(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    while any(is_true(found) for found in jq.values(arguments[0], scope, value)):
        yield value, jq.off(path)
        found = next(jq.values(arguments[1], scope, value), _NOTHING)
        if found is _NOTHING:
            return
        value = found


def _repeat(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    while True:
        found = next(jq.values(arguments[0], scope, value), _NOTHING)
        if found is _NOTHING:
            return
        yield found, jq.off(path)


def _range(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    starts = jq.values(arguments[0], scope, value) if len(arguments) > 1 else iter((0,))
    for start in starts:
        for end in jq.values(arguments[1 if len(arguments) > 1 else 0], scope, value):
            for step in jq.values(arguments[2], scope, value) if len(arguments) > 2 else iter((1,)):
                if not (is_number(start) and is_number(end) and is_number(step)):
                    raise JqError("Range bounds must be numeric")
                current = start
                while (step > 0 and current < end) or (step < 0 and current > end):
                    jq.tick()
                    yield current, jq.off(path)
                    current = add(current, step)


def _quantified(*, wants: bool) -> Form:
    def form(
        jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
    ) -> Iterator[Found]:
        items = (
            jq.values(arguments[0], scope, value)
            if len(arguments) == 2
            else (item for item, _ in jq.items(value, None))
        )
        for item in items:
            conditions = jq.values(arguments[-1], scope, item) if arguments else iter((item,))
            if any(is_true(found) == wants for found in conditions):
                yield wants, jq.off(path)
                return
        yield not wants, jq.off(path)

    return form


def _walk(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for found in _walked(jq, arguments[0], scope, value):
        yield found, jq.off(path)


def _walked(jq: Evaluator, node: Node, scope: Scope, value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        value = [found for item in value for found in _walked(jq, node, scope, item)]
    elif isinstance(value, dict):
        built: dict[str, Json] = {}
        for key, item in value.items():
            for found in _walked(jq, node, scope, item):
                built[key] = found
        value = built
    return jq.values(node, scope, value)


def _in(jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path) -> Iterator[Found]:
    for container in jq.values(arguments[0], scope, value):
        yield has(jq, container, value), jq.off(path)


def _inside(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for container in jq.values(arguments[0], scope, value):
        yield contains(jq, container, value), jq.off(path)


def _is_in(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    sources = jq.values(arguments[0], scope, value) if len(arguments) == 2 else iter((value,))
    wanted = list(jq.values(arguments[-1], scope, value))
    yield any(equal(source, each) for source in sources for each in wanted), jq.off(path)


def _index_by(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    rows = (
        jq.values(arguments[0], scope, value)
        if len(arguments) == 2
        else (item for item, _ in jq.items(value, None))
    )
    built: dict[str, Json] = {}
    for row in rows:
        for key in jq.values(arguments[-1], scope, row):
            built[key if isinstance(key, str) else compact(key)] = row
    yield built, jq.off(path)


def _input(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    found = next(jq.inputs, _NOTHING)
    if found is _NOTHING:
        raise JqError("break")
    yield found, jq.off(path)


def _inputs(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    for found in jq.inputs:
        yield found, jq.off(path)


def _debug(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    jq.messages.append(compact(["DEBUG:", value]) + "\n")
    yield value, path


def _selector(*kinds: str) -> Form:
    def form(
        jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
    ) -> Iterator[Found]:
        if kind(value) in kinds:
            yield value, path

    return form


def _combinations(
    jq: Evaluator, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
) -> Iterator[Found]:
    if not arguments:
        for found in _combined(jq, value):
            yield found, jq.off(path)
        return
    for count in jq.values(arguments[0], scope, value):
        for found in _combined(jq, [value] * min(int(count), 20)):
            yield found, jq.off(path)


def _combined(jq: Evaluator, lists: Json) -> Iterator[list[Json]]:
    if not isinstance(lists, list):
        raise JqError(f"Cannot index {kind(lists)} with number")
    if not lists:
        yield []
        return
    for first, _ in jq.items(lists[0], None):
        for rest in _combined(jq, lists[1:]):
            jq.tick()
            yield [first, *rest]


_SELECTORS: Final = {
    "arrays": ("array",), "objects": ("object",), "iterables": ("array", "object"), "booleans": ("boolean",),
    "numbers": ("number",), "strings": ("string",), "nulls": ("null",),
    "values": ("array", "object", "boolean", "number", "string"),
    "scalars": ("null", "boolean", "number", "string"),
}  # fmt: skip


FORMS: Final[dict[tuple[str, int], Form]] = {
    ("empty", 0): _empty,
    ("error", 0): _error,
    ("error", 1): _error,
    ("select", 1): _select,
    ("map", 1): _map,
    ("map_values", 1): _map_values,
    ("first", 1): _first,
    ("last", 1): _last,
    ("limit", 2): _limit,
    ("nth", 2): _nth,
    ("isempty", 1): _isempty,
    ("until", 2): _until,
    ("while", 2): _while,
    ("repeat", 1): _repeat,
    ("range", 1): _range,
    ("range", 2): _range,
    ("range", 3): _range,
    ("walk", 1): _walk,
    ("in", 1): _in,
    ("IN", 1): _is_in,
    ("IN", 2): _is_in,
    ("INDEX", 1): _index_by,
    ("INDEX", 2): _index_by,
    ("input", 0): _input,
    ("inputs", 0): _inputs,
    ("debug", 0): _debug,
    ("combinations", 0): _combinations,
    ("combinations", 1): _combinations,
    ("inside", 1): _inside,
    **{("any", arity): _quantified(wants=True) for arity in range(3)},
    **{("all", arity): _quantified(wants=False) for arity in range(3)},
    **{(name, 0): _selector(*kinds) for name, kinds in _SELECTORS.items()},
    **ENTRY_FORMS,
    **PATH_FORMS,
    **TEXT_FORMS,
}
