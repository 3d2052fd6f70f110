"""Macros: calls that stand for longer expressions, comprehensions most of all.

Source: github.com/google/cel-go v0.29 parser/macro.go, cel/library.go (optMap, optFlatMap), ext/comprehensions.go
(those with two variables) and ext/lists.go (sortBy).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.cel._ast import (
    Call,
    Fold,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Node,
    Select,
    Unspecified,
    children,
    copied,
)
from env_core.cel._source import Issues

ACCUMULATOR: Final = "@result"
_OLD_ACCUMULATOR: Final = "__result__"
_UNUSED: Final = "#unused"


class MacroProblem(Exception):
    """The macro is meant, but its arguments do not fit."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def expand(
    offset: int, function: str, target: Node | None, args: list[Node], complaints: Issues
) -> Node | None:
    """Return what a call stands for, None when it is no macro."""
    macro = (_GLOBAL if target is None else _MEMBER).get((function, len(args)))
    if macro is None:
        return None
    try:
        return _measured(macro(_Maker(offset), target if target is not None else args[0], args))
    except MacroProblem as problem:
        complaints.add(problem.offset, str(problem))
        return Unspecified(offset)


def _measured(node: Node) -> Node:
    """Set the depths of the nodes that a macro has made: those of arguments are known."""
    for each in children(node):
        if each.depth == 1:
            _measured(each)
    node.depth = 1 + max((each.depth for each in children(node)), default=0)
    return node


class _Maker:
    """Makes nodes that lie where the macro was called."""

    __slots__ = ("_offset",)

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def literal(self, value: object) -> Node:
        """Return a constant."""
        return Literal(self._offset, value)

    def ident(self, name: str) -> Node:
        """Return a variable."""
        return Ident(self._offset, name)

    def result(self) -> Node:
        """Return the variable in which a comprehension collects."""
        return Ident(self._offset, ACCUMULATOR)

    def call(self, function: str, *args: Node) -> Node:
        """Return a call of a function or operator."""
        return Call(self._offset, function, None, list(args))

    def method(self, function: str, target: Node, *args: Node) -> Node:
        """Return a call with a receiver."""
        return Call(self._offset, function, target, list(args))

    def list(self, *elements: Node) -> Node:
        """Return a list literal."""
        return ListOf(self._offset, [*elements])

    def map(self) -> Node:
        """Return an empty map literal."""
        return MapOf(self._offset, [])

    def test(self, select: Select) -> Node:
        """Return the test whether a field is there."""
        return Select(self._offset, select.operand, select.name, is_test=True)

    def fold(
        self,
        over: Node,
        variables: tuple[str, str],
        initial: Node,
        condition: Node,
        step: Node,
        result: Node,
        accumulator: str = ACCUMULATOR,
    ) -> Node:
        """Return a comprehension."""
        return Fold(self._offset, over, *variables, accumulator, initial, condition, step, result)

    def bind(self, name: str, value: Node, body: Node) -> Node:
        """Return `body` with a variable for `value`, computed when it is needed."""
        return self.fold(self.list(), (_UNUSED, ""), value, self.literal(False), self.ident(name), body, name)


_Macro = Callable[[_Maker, Node, list[Node]], Node]


def _variable(node: Node, complaint: str) -> str:
    if not isinstance(node, Ident):
        raise MacroProblem(node.offset, complaint)
    if node.name in (ACCUMULATOR, _OLD_ACCUMULATOR):
        raise MacroProblem(node.offset, "iteration variable overwrites accumulator variable")
    return node.name


def _variables(args: list[Node]) -> tuple[str, str]:
    names = []
    for node in args[:2]:
        if not isinstance(node, Ident):
            raise MacroProblem(node.offset, "argument must be a simple name")
        names.append(node.name)
    one, two = names
    if one == two:
        raise MacroProblem(args[1].offset, f"duplicate variable name: {one}")
    return _variable(args[0], ""), _variable(args[1], "")


def _has(make: _Maker, _target: Node, args: list[Node]) -> Node:
    if isinstance(args[0], Select) and not args[0].is_test:
        return make.test(args[0])
    raise MacroProblem(args[0].offset, "invalid argument to has() macro")


def _all(make: _Maker, over: Node, variables: tuple[str, str], predicate: Node) -> Node:
    condition = make.call("@not_strictly_false", make.result())
    step = make.call("_&&_", make.result(), predicate)
    return make.fold(over, variables, make.literal(True), condition, step, make.result())


def _exists(make: _Maker, over: Node, variables: tuple[str, str], predicate: Node) -> Node:
    condition = make.call("@not_strictly_false", make.call("!_", make.result()))
    step = make.call("_||_", make.result(), predicate)
    return make.fold(over, variables, make.literal(False), condition, step, make.result())


def _exists_one(make: _Maker, over: Node, variables: tuple[str, str], predicate: Node) -> Node:
    counted = make.call("_+_", make.result(), make.literal(1))
    step = make.call("_?_:_", predicate, counted, make.result())
    result = make.call("_==_", make.result(), make.literal(1))
    return make.fold(over, variables, make.literal(0), make.literal(True), step, result)


def _quantifier(kind: Callable[[_Maker, Node, tuple[str, str], Node], Node]) -> _Macro:
    def macro(make: _Maker, target: Node, args: list[Node]) -> Node:
        return kind(make, target, (_variable(args[0], "argument must be a simple name"), ""), args[1])

    return macro


def _quantifier2(kind: Callable[[_Maker, Node, tuple[str, str], Node], Node]) -> _Macro:
    def macro(make: _Maker, target: Node, args: list[Node]) -> Node:
        return kind(make, target, _variables(args), args[2])

    return macro


def _collected(
    make: _Maker, over: Node, variables: tuple[str, str], initial: Node, step: Node, condition: Node | None
) -> Node:
    if condition is not None:
        step = make.call("_?_:_", condition, step, make.result())
    return make.fold(over, variables, initial, make.literal(True), step, make.result())


def _map(make: _Maker, target: Node, args: list[Node]) -> Node:
    variables = (_variable(args[0], "argument is not an identifier"), "")
    step = make.call("_+_", make.result(), make.list(args[-1]))
    return _collected(make, target, variables, make.list(), step, args[1] if len(args) == 3 else None)


def _filter(make: _Maker, target: Node, args: list[Node]) -> Node:
    variables = (_variable(args[0], "argument is not an identifier"), "")
    step = make.call("_+_", make.result(), make.list(args[0]))
    return _collected(make, target, variables, make.list(), step, args[1])


def _transform_list(make: _Maker, target: Node, args: list[Node]) -> Node:
    step = make.call("_+_", make.result(), make.list(args[-1]))
    condition = args[2] if len(args) == 4 else None
    return _collected(make, target, _variables(args), make.list(), step, condition)


def _transform_map(make: _Maker, target: Node, args: list[Node]) -> Node:
    variables = _variables(args)
    step = make.call("cel.@mapInsert", make.result(), make.ident(variables[0]), args[-1])
    return _collected(make, target, variables, make.map(), step, args[2] if len(args) == 4 else None)


def _transform_map_entry(make: _Maker, target: Node, args: list[Node]) -> Node:
    step = make.call("cel.@mapInsert", make.result(), args[-1])
    condition = args[2] if len(args) == 4 else None
    return _collected(make, target, _variables(args), make.map(), step, condition)


def _bound(make: _Maker, target: Node, args: list[Node], macro: str) -> Node:
    if not isinstance(args[0], Ident):
        raise MacroProblem(args[0].offset, f"{macro}() variable name must be a simple identifier")
    return make.bind(args[0].name, make.method("value", copied(target)), args[1])


def _opt_map(make: _Maker, target: Node, args: list[Node]) -> Node:
    value = make.call("optional.of", _bound(make, target, args, "optMap"))
    return make.call("_?_:_", make.method("hasValue", target), value, make.call("optional.none"))


def _opt_flat_map(make: _Maker, target: Node, args: list[Node]) -> Node:
    value = _bound(make, target, args, "optFlatMap")
    return make.call("_?_:_", make.method("hasValue", target), value, make.call("optional.none"))


def _sort_by(make: _Maker, target: Node, args: list[Node]) -> Node:
    if not isinstance(target, (ListOf, Select, Ident, Fold, Call)):
        text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroProblem(target.offset, text)
    name = "@__sortBy_input__"
    keys = _map(make, make.ident(name), args)
    return make.bind(name, target, make.method("@sortByAssociatedKeys", make.ident(name), keys))


_GLOBAL: Final[dict[tuple[str, int], _Macro]] = {("has", 1): _has}
_MEMBER: Final[dict[tuple[str, int], _Macro]] = {
    ("all", 2): _quantifier(_all),
    ("all", 3): _quantifier2(_all),
    ("exists", 2): _quantifier(_exists),
    ("exists", 3): _quantifier2(_exists),
    ("exists_one", 2): _quantifier(_exists_one),
    ("exists_one", 3): _quantifier2(_exists_one),
    ("existsOne", 2): _quantifier(_exists_one),
    ("existsOne", 3): _quantifier2(_exists_one),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("sortBy", 2): _sort_by,
}
