"""Evaluates filters: each node yields values, and the paths to them when those are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from env_core.shell._jq.bindings import bindings
from env_core.shell._jq.formats import formatted
from env_core.shell._jq.interpolation import interpolated
from env_core.shell._jq.nodes import (
    Alternative,
    ArrayOf,
    Bind,
    BreakTo,
    Call,
    Comma,
    Conditional,
    Define,
    Foreach,
    Format,
    Identity,
    Index,
    Interpolated,
    Iterate,
    Label,
    Literal,
    Logic,
    Negate,
    Node,
    ObjectOf,
    Operate,
    Pipe,
    Reduce,
    Slice,
    Try,
    Update,
    Variable,
)
from env_core.shell._jq.operators import OPERATORS
from env_core.shell._jq.paths import index, sliced
from env_core.shell._jq.scope import Closure, Scope, TooMuch, pattern_names
from env_core.shell._jq.updates import updated
from env_core.shell._jq.values import Break, JqError, Json, is_number, is_true, kind, shown, typed

if TYPE_CHECKING:
    from env_core.shell.context import Process

Path = tuple[Json, ...] | None
Found = tuple[Json, Path]

STEPS_MAX: Final = 250_000
DEPTH_MAX: Final = 150
OFF_PATH: Final[tuple[Json, ...]] = ("\0off the path",)
"""The path of a value that was computed, not found."""


class Evaluator:
    """Evaluates one filter for one run of jq; `inputs` are the values still to read."""

    def __init__(
        self,
        process: Process,
        inputs: Iterator[Json],
        forms: Mapping[tuple[str, int], Callable[..., Iterator[Found]]],
        functions: Mapping[tuple[str, int], Callable[..., Json]],
    ) -> None:
        """Prepare to evaluate in `process`, with functions of filters (`forms`) and of values."""
        self.process = process
        self._forms = forms
        self._functions = functions
        self.inputs = inputs
        self.messages: list[str] = []
        self.filename: Json = None
        self._steps = STEPS_MAX
        self._work = process.work
        self._depth = 0

    def values(self, node: Node, scope: Scope, value: Json) -> Iterator[Json]:
        """Yield what a filter gives for an input."""
        for found, _ in self.run(node, scope, value, None):
            yield found

    def run(self, node: Node, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        """Yield values with their paths; no paths when `path` is None."""
        self.tick()
        return _EXECUTORS[type(node)](self, node, scope, value, path)

    def tick(self) -> None:
        """Count one step.

        Raises:
            TooMuch: after `STEPS_MAX` steps, or too much work.
        """
        self._steps -= 1
        self._work.done += 1
        if self._steps < 0 or (not self._steps & 63 and self._work.is_spent):
            raise TooMuch("the filter runs too long")

    def _identity(self, node: Identity, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield value, path

    def _literal(self, node: Literal, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield node.value, self.off(path)

    def off(self, path: Path) -> Path:
        """Return the path of a computed value: none, or the mark for it when paths are asked for."""
        return None if path is None else OFF_PATH

    def _step(self, value: Json, path: Path, key: Json) -> Path:
        """Return `path` with one more key."""
        if path is None:
            return None
        self.check_path(value, path)
        return (*path, key)

    def check_path(self, value: Json, path: Path) -> None:
        """Refuse to go on from a computed value.

        Raises:
            JqError: as jq does.
        """
        if path is OFF_PATH:
            raise JqError(f"Invalid path expression with result {shown(value, 29)}")

    def _index(self, node: Index, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for target, where in self.run(node.target, scope, value, path):
            for key in self.values(node.key, scope, value):
                following = self._step(target, where, key)
                yield index(target, key), following

    def _slice(self, node: Slice, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for target, where in self.run(node.target, scope, value, path):
            for end in self._optional(node.end, scope, value):
                for start in self._optional(node.start, scope, value):
                    following = self._step(target, where, {"start": start, "end": end})
                    if not (isinstance(target, list | str) or target is None):
                        raise JqError(f"Cannot index {kind(target)} with object")
                    yield sliced(target, start, end), following

    def _optional(self, node: Node | None, scope: Scope, value: Json) -> Iterator[Json]:
        return iter((None,)) if node is None else self.values(node, scope, value)

    def _iterate(self, node: Iterate, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for target, where in self.run(node.target, scope, value, path):
            yield from self.items(target, where)

    def items(self, value: Json, path: Path) -> Iterator[Found]:
        """Yield the items of an array or object."""
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield item, self._step(value, path, number)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield item, self._step(value, path, key)
        else:
            raise JqError(f"Cannot iterate over {typed(value)}")

    def _format(self, node: Format, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield formatted(node.name, value), self.off(path)

    def _array(self, node: ArrayOf, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield [] if node.body is None else list(self.values(node.body, scope, value)), self.off(path)

    def _object(self, node: ObjectOf, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for built in self._entries(node.entries, {}, scope, value):
            yield built, self.off(path)

    def _entries(
        self, entries: tuple[tuple[Node, Node], ...], built: dict[str, Json], scope: Scope, value: Json
    ) -> Iterator[Json]:
        if not entries:
            yield built
            return
        key_node, value_node = entries[0]
        for key in self.values(key_node, scope, value):
            if not isinstance(key, str):
                raise JqError(f"Cannot use {typed(key)} as object key")
            for item in self.values(value_node, scope, value):
                yield from self._entries(entries[1:], {**built, key: item}, scope, value)

    def _negate(self, node: Negate, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for operand in self.values(node.operand, scope, value):
            if not is_number(operand):
                raise JqError(f"{typed(operand)} cannot be negated")
            yield -operand, self.off(path)

    def _pipe(self, node: Pipe, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for found, where in self.run(node.left, scope, value, path):
            yield from self.run(node.right, scope, found, where)

    def _comma(self, node: Comma, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield from self.run(node.left, scope, value, path)
        yield from self.run(node.right, scope, value, path)

    def _operate(self, node: Operate, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        operate = OPERATORS[node.operator]
        for right in self.values(node.right, scope, value):
            for left in self.values(node.left, scope, value):
                yield operate(left, right), self.off(path)

    def _logic(self, node: Logic, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for left in self.values(node.left, scope, value):
            if is_true(left) != node.is_and:
                yield not node.is_and, self.off(path)
                continue
            for right in self.values(node.right, scope, value):
                yield is_true(right), self.off(path)

    def _alternative(self, node: Alternative, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        has_found = False
        try:
            for found, where in self.run(node.left, scope, value, path):
                if is_true(found):
                    has_found = True
                    yield found, where
        except JqError:
            pass
        if not has_found:
            yield from self.run(node.right, scope, value, path)

    def paths(self, node: Node, scope: Scope, value: Json) -> Iterator[tuple[Json, ...]]:
        """Yield the paths that a filter selects."""
        for found, where in self.run(node, scope, value, ()):
            self.check_path(found, where)
            assert where is not None
            yield where

    def _conditional(self, node: Conditional, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for condition in self.values(node.condition, scope, value):
            yield from self.run(node.yes if is_true(condition) else node.no, scope, value, path)

    def _try(self, node: Try, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        body = self.run(node.body, scope, value, path)
        while True:
            # Only errors of the body count, not those of whatever takes its results.
            try:
                found = next(body)
            except StopIteration:
                return
            except JqError as error:
                if node.handler is not None:
                    for handled in self.values(node.handler, scope, error.value):
                        yield handled, self.off(path)
                return
            yield found

    def _reduce(self, node: Reduce, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for start in self.values(node.start, scope, value):
            state: Found = (start, self.off(path)) if path is not None else (start, None)
            for item in self.values(node.source, scope, value):
                for values in bindings(self, node.pattern, scope, item):
                    inner = scope.with_variables(values)
                    last: Found = (None, state[1])
                    for found in self.run(node.update, inner, state[0], state[1]):
                        last = found
                    state = last
            yield state

    def _foreach(self, node: Foreach, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        for start in self.values(node.start, scope, value):
            state = start
            for item in self.values(node.source, scope, value):
                for values in bindings(self, node.pattern, scope, item):
                    inner = scope.with_variables(values)
                    for found in self.values(node.update, inner, state):
                        state = found
                        if node.extract is None:
                            yield state, self.off(path)
                        else:
                            for extracted in self.values(node.extract, inner, state):
                                yield extracted, self.off(path)

    def _define(self, node: Define, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        inner = Scope(scope.variables, dict(scope.functions), scope.labels)
        inner.functions[(node.name, len(node.parameters))] = Closure(node.parameters, node.body, inner)
        yield from self.run(node.rest, inner, value, path)

    def _call(self, node: Call, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        key = (node.name, len(node.arguments))
        closure = scope.functions.get(key)
        if closure is not None:
            self._depth += 1
            try:
                if self._depth > DEPTH_MAX:
                    raise TooMuch("functions call each other too deep")
                yield from self._apply(closure, node.arguments, scope, value, path)
            finally:
                self._depth -= 1
            return
        form = self._forms.get(key)
        if form is not None:
            yield from form(self, node.arguments, scope, value, path)
            return
        function = self._functions[key]
        for arguments in self._cartesian(node.arguments, scope, value):
            if isinstance(value, str | list | dict):
                self._work.done += len(value) >> 2
            self.tick()
            yield function(self, value, *arguments), self.off(path)

    def _cartesian(self, nodes: tuple[Node, ...], scope: Scope, value: Json) -> Iterator[list[Json]]:
        """Yield every combination of arguments, the first varying fastest."""
        if not nodes:
            yield []
            return
        for last in self.values(nodes[-1], scope, value):
            for before in self._cartesian(nodes[:-1], scope, value):
                yield [*before, last]

    def _apply(
        self, closure: Closure, arguments: tuple[Node, ...], scope: Scope, value: Json, path: Path
    ) -> Iterator[Found]:
        base = closure.scope or scope
        functions = dict(base.functions)
        values: list[tuple[str, Node]] = []
        for parameter, argument in zip(closure.parameters, arguments):
            functions[(parameter.removeprefix("$"), 0)] = Closure((), argument, scope)
            if parameter.startswith("$"):
                values.append((parameter[1:], argument))
        for variables in self._parameter_values(values, scope, value):
            inner = Scope({**base.variables, **variables}, functions, base.labels)
            yield from self.run(closure.body, inner, value, path)

    def _parameter_values(
        self, parameters: list[tuple[str, Node]], scope: Scope, value: Json
    ) -> Iterator[dict[str, Json]]:
        if not parameters:
            yield {}
            return
        name, node = parameters[0]
        for found in self.values(node, scope, value):
            for rest in self._parameter_values(parameters[1:], scope, value):
                yield {name: found, **rest}

    def _variable(self, node: Variable, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        yield scope.variables[node.name], self.off(path)

    def _bind(self, node: Bind, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        names = {name: None for pattern in node.patterns for name in pattern_names(pattern)}
        for item in self.values(node.source, scope, value):
            for number, pattern in enumerate(node.patterns):
                try:
                    for values in bindings(self, pattern, scope, item):
                        inner = scope.with_variables(
                            {**names, **values} if len(node.patterns) > 1 else values
                        )
                        yield from self.run(node.body, inner, value, path)
                    break
                except JqError:
                    if number == len(node.patterns) - 1:
                        raise

    def _label(self, node: Label, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        label = object()
        inner = Scope(scope.variables, scope.functions, {**scope.labels, node.name: label})
        try:
            yield from self.run(node.body, inner, value, path)
        except Break as stop:
            if stop.label is not label:
                raise

    def _break(self, node: BreakTo, scope: Scope, value: Json, path: Path) -> Iterator[Found]:
        raise Break(scope.labels[node.name])
        yield value, path


_EXECUTORS: Final[dict[type, Callable[[Evaluator, Any, Scope, Json, Path], Iterator[Found]]]] = {
    Identity: Evaluator._identity,
    Literal: Evaluator._literal,
    Index: Evaluator._index,
    Slice: Evaluator._slice,
    Iterate: Evaluator._iterate,
    Format: Evaluator._format,
    Interpolated: interpolated,
    ArrayOf: Evaluator._array,
    ObjectOf: Evaluator._object,
    Negate: Evaluator._negate,
    Pipe: Evaluator._pipe,
    Comma: Evaluator._comma,
    Operate: Evaluator._operate,
    Logic: Evaluator._logic,
    Alternative: Evaluator._alternative,
    Update: updated,
    Conditional: Evaluator._conditional,
    Try: Evaluator._try,
    Reduce: Evaluator._reduce,
    Foreach: Evaluator._foreach,
    Define: Evaluator._define,
    Call: Evaluator._call,
    Variable: Evaluator._variable,
    Bind: Evaluator._bind,
    Label: Evaluator._label,
    BreakTo: Evaluator._break,
}
