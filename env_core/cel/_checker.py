"""Gives every node a type and every call its overloads, or says why that cannot be.

Source: github.com/google/cel-go v0.29 checker/checker.go; texts in tests/golden/promql/cel.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.cel import _types
from env_core.cel._ast import (
    Call,
    Entry,
    Fold,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Message,
    Node,
    Select,
    walk,
)
from env_core.cel._declarations import Function, Overload
from env_core.cel._environment import Environment
from env_core.cel._source import Issues
from env_core.cel._types import Substitutions, Type
from env_core.cel._values import type_of

_LOGICAL: Final = frozenset({"_&&_", "_||_"})


def check(node: Node, environment: Environment, issues: Issues) -> None:
    """Annotate a tree in place, adding to `issues` what does not fit together."""
    checker = _Checker(environment, issues)
    checker.check(node)
    checker.settle(node)


class _Checker:
    """One check of one tree."""

    __slots__ = ("_environment", "_issues", "_scopes", "_substitutions", "_variables")

    def __init__(self, environment: Environment, issues: Issues) -> None:
        self._environment = environment
        self._issues = issues
        self._scopes: list[dict[str, Type]] = []
        self._substitutions = Substitutions()
        self._variables = 0

    def check(self, node: Node) -> None:
        """Find the type of a node and of all below it."""
        visit = _VISITS.get(type(node))
        if visit is not None:
            visit(self, node)

    def settle(self, node: Node) -> None:
        """Replace type variables by what they stand for, or by dyn."""
        for each in walk(node):
            each.type = self._substitutions.resolved(each.type, params_to_dyn=True)

    def _complain(self, offset: int, message: str) -> Type:
        self._issues.add(offset, message)
        return _types.ERROR_TYPE

    def _fresh(self) -> Type:
        self._variables += 1
        return _types.param(f"_var{self._variables - 1}")

    def _local(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def _literal(self, node: Literal) -> None:
        node.type = type_of(node.value)

    def _undeclared(self, offset: int, name: str) -> Type:
        return self._complain(offset, f"undeclared reference to '{name}' (in container '')")

    def _ident(self, node: Ident) -> None:
        local = None if node.name.startswith(".") else self._local(node.name)
        if local is not None:
            node.type = local
            return
        found = self._environment.ident(node.name)
        if found is None:
            node.type = self._undeclared(node.offset, node.name)
            return
        node.type, node.constant = found

    def _select(self, node: Select) -> None:
        path = None if node.is_test else _path(node)
        if path is not None and (path.startswith(".") or self._local(path.partition(".")[0]) is None):
            found = self._environment.ident(path)
            if found is not None:
                node.qualified = Ident(node.offset, path.removeprefix("."), found[1])
                node.type = found[0]
                return
        type_ = self._field(node, node.operand, node.name, is_optional=False)
        node.type = _types.BOOL if node.is_test else self._substitutions.resolved(type_)

    def _optional_select(self, node: Call) -> None:
        operand, field = node.args
        assert isinstance(field, Literal)
        field.type = _types.STRING
        type_ = self._field(node, operand, field.value, is_optional=True)
        node.type = self._substitutions.resolved(type_)

    def _field(self, node: Node, operand: Node, name: str, *, is_optional: bool) -> Type:
        self.check(operand)
        target, was_optional = _types.unwrap_optional(self._substitutions.resolved(operand.type))
        result = _types.ERROR_TYPE
        if target.kind == _types.MAP:
            result = target.parameters[1]
        elif target.kind == _types.STRUCT:
            result = self._object_field(node.offset, target.name, name)
        elif target.kind == _types.PARAM:
            self._substitutions.assignable(_types.DYN_TYPE, target)
            result = _types.DYN_TYPE
        else:
            if not _types.is_dyn_or_error(target):
                text = f"type '{target.shown()}' does not support field selection"
                self._complain(node.offset, text)
            result = _types.DYN_TYPE
        return _types.optional_of(result) if was_optional or is_optional else result

    def _object_field(self, offset: int, type_name: str, name: str) -> Type:
        fields = self._environment.fields(type_name)
        if fields is None:
            return self._complain(offset, f"unexpected failed resolution of '{type_name}'")
        found = fields.get(name)
        return self._complain(offset, f"undefined field '{name}'") if found is None else found

    def _call(self, node: Call) -> None:
        if node.function == "_?._":
            self._optional_select(node)
            return
        for arg in node.args:
            self.check(arg)
        if node.target is None:
            function = self._environment.function(node.function)
            if function is None:
                node.type = self._undeclared(node.offset, node.function)
            else:
                self._resolve(node, node.function, function)
            return
        prefix = _path(node.target)
        qualified = f"{prefix}.{node.function}" if prefix else ""
        function = self._environment.function(qualified) if qualified else None
        if function is not None:
            node.function, node.target = qualified.removeprefix("."), None
            self._resolve(node, node.function, function)
            return
        self.check(node.target)
        function = self._environment.function(node.function)
        if function is None:
            node.type = self._undeclared(node.offset, node.function)
        else:
            self._resolve(node, node.function, function)

    def _resolve(self, node: Call, name: str, function: Function) -> None:
        if name in _LOGICAL:
            self._resolve_logical(node, function)
            return
        operands = node.args if node.target is None else [node.target, *node.args]
        argument_types = tuple(each.type for each in operands)
        found: list[Overload] = []
        result: Type | None = None
        for overload in function.overloads:
            if overload.is_member != (node.target is not None):
                continue
            arguments, declared = self._instantiated(overload)
            if not self._substitutions.assignable_all(argument_types, arguments):
                continue
            found.append(overload)
            type_ = self._substitutions.resolved(declared)
            if result is None:
                result = type_
            elif not _types.is_dyn(result) and type_ != result:
                result = _types.DYN_TYPE
        if result is None:
            node.type = self._no_overload(node, name, argument_types)
            return
        node.overloads = tuple(found)
        node.type = result

    def _resolve_logical(self, node: Call, function: Function) -> None:
        node.overloads = function.overloads
        node.type = _types.BOOL
        for arg in node.args:
            if not self._substitutions.assignable(arg.type, _types.BOOL):
                node.type = self._mismatch(arg.offset, _types.BOOL, arg.type)

    def _instantiated(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Return an overload's signature with type variables of its own."""
        renamed = Substitutions()
        names: set[str] = set()
        for type_ in (*overload.arguments, overload.result):
            names |= _params(type_)
        for name in sorted(names):
            renamed.bind(name, self._fresh())
        if not names:
            return overload.arguments, overload.result
        return tuple(map(renamed.resolved, overload.arguments)), renamed.resolved(overload.result)

    def _no_overload(self, node: Call, name: str, types: tuple[Type, ...]) -> Type:
        shown = [self._substitutions.resolved(each, params_to_dyn=True).shown() for each in types]
        receiver = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{receiver}({', '.join(shown)})"
        return self._complain(
            node.offset, f"found no matching overload for '{name}' applied to '{signature}'"
        )

    def _mismatch(self, offset: int, expected: Type, found: Type) -> Type:
        return self._complain(offset, f"expected type '{expected.shown()}' but found '{found.shown()}'")

    def _joined(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        if self._substitutions.assignable(previous, current):
            return _types.most_general(previous, current)
        return _types.DYN_TYPE

    def _unwrapped(self, node: Node) -> Type:
        """Return what an element marked as optional adds to the literal."""
        type_, is_optional = _types.unwrap_optional(node.type)
        if not is_optional and not _types.is_dyn(type_):
            self._mismatch(node.offset, _types.optional_of(type_), type_)
        return type_

    def _list(self, node: ListOf) -> None:
        element: Type | None = None
        for index, each in enumerate(node.elements):
            self.check(each)
            type_ = self._unwrapped(each) if index in node.optionals else each.type
            element = self._joined(element, type_)
        node.type = _types.list_of(self._fresh() if element is None else element)

    def _map(self, node: MapOf) -> None:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            self.check(entry.key)
            key = self._joined(key, entry.key.type)
            self.check(entry.value)
            value = self._joined(value, self._entry_type(entry))
        if key is None or value is None:
            key, value = self._fresh(), self._fresh()
        node.type = _types.map_of(key, value)

    def _entry_type(self, entry: Entry) -> Type:
        return self._unwrapped(entry.value) if entry.is_optional else entry.value.type

    def _message(self, node: Message) -> None:
        name = node.name.removeprefix(".")
        found = self._environment.ident(name)
        if found is None:
            node.type = self._undeclared(node.offset, node.name)
            return
        wrapped = found[1]
        if wrapped is None:
            node.type = self._complain(node.offset, f"'{found[0].name}' is not a type")
        elif wrapped.kind != _types.STRUCT:
            node.type = self._complain(node.offset, f"'{wrapped.name}' is not a message type")
        else:
            node.type = wrapped
        for entry in node.entries:
            self.check(entry.value)
            assert isinstance(entry.key, Literal)
            declared = self._object_field(entry.offset, name, entry.key.value)
            value = self._entry_type(entry)
            if not self._substitutions.assignable(declared, value):
                text = (
                    f"expected type of field '{entry.key.value}' is '{declared.shown()}' "
                    f"but provided type is '{value.shown()}'"
                )
                self._complain(entry.offset, text)

    def _fold(self, node: Fold) -> None:
        self.check(node.range)
        self.check(node.initial)
        over = self._substitutions.resolved(node.range.type)
        accumulator = node.initial.type
        self._scopes.append({node.accumulator: accumulator})
        first, second = self._iteration_types(node, over)
        inner = {node.variable: first}
        if node.variable2:
            inner[node.variable2] = second
        self._scopes.append(inner)
        self.check(node.condition)
        self._assert(node.condition, _types.BOOL)
        self.check(node.step)
        self._assert(node.step, accumulator)
        self._scopes.pop()
        self.check(node.result)
        self._scopes.pop()
        node.type = self._substitutions.resolved(node.result.type)

    def _iteration_types(self, node: Fold, over: Type) -> tuple[Type, Type]:
        if over.kind == _types.LIST:
            element = over.parameters[0]
            return (_types.INT, element) if node.variable2 else (element, element)
        if over.kind == _types.MAP:
            return over.parameters[0], over.parameters[1]
        if over.kind in (_types.DYN, _types.ERROR, _types.PARAM):
            self._substitutions.assignable(_types.DYN_TYPE, over)
            return _types.DYN_TYPE, _types.DYN_TYPE
        text = (
            f"expression of type '{over.shown()}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)"
        )
        self._complain(node.range.offset, text)
        return _types.ERROR_TYPE, _types.ERROR_TYPE

    def _assert(self, node: Node, expected: Type) -> None:
        if not self._substitutions.assignable(expected, node.type):
            self._mismatch(node.offset, expected, node.type)


def _path(node: Node) -> str | None:
    """Return "a.b.c" if the node is that and nothing else."""
    names: list[str] = []
    while isinstance(node, Select) and not node.is_test:
        names.append(node.name)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(names)])


def _params(type_: Type) -> set[str]:
    if type_.kind == _types.PARAM:
        return {type_.name}
    return {name for each in type_.parameters for name in _params(each)}


_VISITS: Final[dict[type[Node], Callable[..., None]]] = {
    Literal: _Checker._literal,
    Ident: _Checker._ident,
    Select: _Checker._select,
    Call: _Checker._call,
    ListOf: _Checker._list,
    MapOf: _Checker._map,
    Message: _Checker._message,
    Fold: _Checker._fold,
}
