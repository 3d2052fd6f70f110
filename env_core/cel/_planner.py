"""Turns a checked tree into functions that compute it and count what it costs.

A path such as `object.spec.replicas` is one attribute: a variable with qualifiers. Reading it costs one, and one more
for every qualifier; what a call costs, `_costs.py` says.

Source: github.com/google/cel-go v0.29 interpreter/planner.go, interpretable.go, attributes.go, runtimecost.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from env_core.cel._ast import (
    Call,
    Fold,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Message,
    Node,
    Select,
)
from env_core.cel._calls import PlanProblem, caller, folded_conversion
from env_core.cel._costs import LIST_COST, MAP_COST, MESSAGE_COST, call_cost
from env_core.cel._frame import Frame, Run
from env_core.cel._qualifying import Qualifier, qualified
from env_core.cel._steps import (
    UNSET,
    accumulated,
    alternative,
    element,
    entries,
    local,
    rows_of,
    settled,
    variable,
)
from env_core.cel._values import CelError, Optional, equal, no_overload

__all__ = ["PlanProblem", "plan"]

_NOTHING: Final = object()


@dataclass(slots=True, eq=False)
class _Attribute:
    """A variable, or the value of another step (`base`), with the qualifiers that are applied to it."""

    base: Run
    qualifiers: list[Qualifier] = field(default_factory=list)

    def add(self, qualifier: Qualifier) -> None:
        self.qualifiers.append(qualifier)

    def resolve(self, frame: Frame) -> Any:
        value = self.base(frame)
        return value if type(value) is CelError else qualified(frame, value, self.qualifiers)


@dataclass(slots=True, eq=False)
class _Choice:
    """The attribute that a conditional is; qualifiers go to both of its branches."""

    condition: Run
    truthy: _Attribute | _Choice
    falsy: _Attribute | _Choice

    def add(self, qualifier: Qualifier) -> None:
        self.truthy.add(qualifier)
        self.falsy.add(qualifier)

    def resolve(self, frame: Frame) -> Any:
        chosen = self.condition(frame)
        if chosen is True:
            return self.truthy.resolve(frame)
        if chosen is False:
            return self.falsy.resolve(frame)
        return no_overload(chosen)


@dataclass(slots=True, eq=False)
class _Step:
    """A planned node: how to run it, and what it is besides."""

    run: Run
    attribute: _Attribute | _Choice | None = None
    constant: Any = _NOTHING


def plan(node: Node) -> tuple[Run, int]:
    """Return the function that computes a tree, and how many local variables it needs.

    Raises:
        PlanProblem: a constant part of it has no value.
    """
    planner = _Planner()
    return planner.plan(node).run, planner.slots


class _Planner:
    """Plans one tree; knows the local variables of the comprehensions it is in."""

    __slots__ = ("_scopes", "slots")

    def __init__(self) -> None:
        self.slots = 0
        self._scopes: list[tuple[str, Run]] = []

    def plan(self, node: Node) -> _Step:
        visit = _PLANS.get(type(node))
        assert visit is not None, node
        return visit(self, node)

    def _constant(self, value: Any) -> _Step:
        return _Step(lambda _frame: value, constant=value)

    def _literal(self, node: Literal) -> _Step:
        return self._constant(node.value)

    def _attribute(self, attribute: _Attribute | _Choice) -> _Step:
        cost = 0 if isinstance(attribute, _Choice) else 1
        resolve = attribute.resolve

        def run(frame: Frame) -> Any:
            value = resolve(frame)
            frame.spend(cost)
            return value

        return _Step(run, attribute)

    def _ident(self, node: Ident) -> _Step:
        if node.constant is not None:
            return self._constant(node.constant)
        for name, base in reversed(self._scopes):
            if name == node.name:
                return self._attribute(_Attribute(base))
        return self._attribute(_Attribute(variable(node.name.removeprefix("."))))

    def _operand(self, node: Node) -> _Step:
        """Plan what qualifiers are applied to: anything that is no attribute becomes one."""
        step = self.plan(node)
        return step if step.attribute is not None else self._attribute(_Attribute(step.run))

    def _select(self, node: Select) -> _Step:
        if node.qualified is not None:
            return self._ident(node.qualified)
        operand = self._operand(node.operand)
        attribute = operand.attribute
        assert attribute is not None
        attribute.add(Qualifier(constant=node.name, is_test=node.is_test))
        return _Step(_presence(attribute)) if node.is_test else operand

    def _index(self, node: Call) -> _Step:
        operand = self._operand(node.args[0])
        index = self.plan(node.args[1])
        attribute = operand.attribute
        assert attribute is not None
        is_optional = node.function != "_[_]"
        if index.constant is not _NOTHING:
            qualifier = Qualifier(constant=index.constant, is_optional=is_optional)
        elif index.attribute is not None:
            qualifier = Qualifier(key=index.attribute.resolve, is_optional=is_optional)
        else:
            qualifier = Qualifier(key=index.run, is_optional=is_optional)
        attribute.add(qualifier)
        return operand

    def _call(self, node: Call) -> _Step:
        special = _SPECIAL.get(node.function)
        if special is not None:
            return special(self, node)
        operands = node.args if node.target is None else [node.target, *node.args]
        steps = [self.plan(each) for each in operands]
        if node.function in ("or", "orValue") and len(steps) == 2:
            return _Step(alternative(steps[0].run, steps[1].run, is_value=node.function == "orValue"))
        constants = [each.constant for each in steps]
        overload = node.overloads[0] if len(node.overloads) == 1 else None
        if len(steps) == 1 and constants[0] is not _NOTHING:
            folded = folded_conversion(node.function, node.overloads, constants[0])
            if folded is not None:
                return self._constant(folded)
        if overload is not None and overload.id == "in_list" and constants[1] is not _NOTHING:
            member = _membership(steps[0].run, constants[1])
            if member is not None:
                return member
        pattern = constants[1] if len(constants) > 1 and constants[1] is not _NOTHING else None
        runs = [each.run for each in steps]
        return _Step(caller(node.function, node.overloads, runs, pattern))

    def _equality(self, node: Call) -> _Step:
        left, right = (self.plan(each).run for each in node.args)
        cost = call_cost(node.function, node.overloads[0] if len(node.overloads) == 1 else None)
        is_equality = node.function == "_==_"

        def run(frame: Frame) -> Any:
            one, two = left(frame), right(frame)
            if type(one) is CelError:
                value: Any = one
            elif type(two) is CelError:
                value = two
            else:
                value = equal(one, two)
                if not is_equality:
                    value = value is not True
            frame.spend(cost((one, two), value, "equals"))
            return value

        return _Step(run)

    def _logical(self, node: Call) -> _Step:
        terms = [self.plan(each).run for each in node.args]
        decisive = node.function == "_||_"

        def run(frame: Frame) -> Any:
            problem: CelError | None = None
            for term in terms:
                value = term(frame)
                if value is decisive:
                    return decisive
                if type(value) is not bool and problem is None:
                    problem = no_overload(value)
            return not decisive if problem is None else problem

        return _Step(run)

    def _conditional(self, node: Call) -> _Step:
        condition, truthy, falsy = (self.plan(each) for each in node.args)
        choice = _Choice(condition.run, _as_attribute(truthy), _as_attribute(falsy))
        return self._attribute(choice)

    def _not_false(self, node: Call) -> _Step:
        inner = self.plan(node.args[0]).run

        def run(frame: Frame) -> Any:
            value = inner(frame)
            frame.spend(1)
            return value if type(value) is bool else True

        return _Step(run)

    def _list(self, node: ListOf) -> _Step:
        steps = [self.plan(each) for each in node.elements]
        optionals = node.optionals
        if not optionals and all(each.constant is not _NOTHING for each in steps):
            return self._constant([each.constant for each in steps])
        runs = [each.run for each in steps]

        def run(frame: Frame) -> Any:
            found = []
            for index, run_element in enumerate(runs):
                value = run_element(frame)
                if index in optionals and type(value) is not CelError:
                    value = element(value)
                if type(value) is CelError:
                    frame.spend(LIST_COST)
                    return value
                if value is not UNSET:
                    found.append(value)
            frame.spend(LIST_COST)
            return found

        return _Step(run)

    def _map(self, node: MapOf) -> _Step:
        steps = [(self.plan(each.key), self.plan(each.value), each.is_optional) for each in node.entries]
        if all(
            key.constant is not _NOTHING and value.constant is not _NOTHING and not optional
            for key, value, optional in steps
        ):
            return self._constant({key.constant: value.constant for key, value, _optional in steps})
        rows = [(key.run, value.run, optional) for key, value, optional in steps]

        def run(frame: Frame) -> Any:
            made = entries(frame, rows)
            frame.spend(MAP_COST)
            return made

        return _Step(run)

    def _message(self, node: Message) -> _Step:
        rows = [
            (self.plan(each.key).run, self.plan(each.value).run, each.is_optional) for each in node.entries
        ]

        def run(frame: Frame) -> Any:
            made = entries(frame, rows)
            frame.spend(MESSAGE_COST)
            return made

        return _Step(run)

    def _slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _fold(self, node: Fold) -> _Step:
        initial = self.plan(node.initial).run
        over = self.plan(node.range).run
        accumulator, first, second = self._slot(), self._slot(), self._slot()
        self._scopes.append((node.accumulator, accumulated(accumulator, initial)))
        self._scopes.append((node.variable, local(first)))
        if node.variable2:
            self._scopes.append((node.variable2, local(second)))
        condition, step = self.plan(node.condition).run, self.plan(node.step).run
        for _ in range(2 if node.variable2 else 1):
            self._scopes.pop()
        result = self.plan(node.result).run
        self._scopes.pop()
        has_two = bool(node.variable2)

        def run(frame: Frame) -> Any:
            values = over(frame)
            rows = rows_of(values, has_two=has_two)
            if type(rows) is CelError:
                return rows
            slots = frame.slots
            slots[accumulator] = UNSET
            for one, two in rows:
                slots[first], slots[second] = one, two
                if condition(frame) is False:
                    break
                slots[accumulator] = step(frame)
            return settled(result(frame))

        return _Step(run)


def _presence(attribute: _Attribute | _Choice) -> Run:
    def run(frame: Frame) -> Any:
        value = attribute.resolve(frame)
        return value.is_set if type(value) is Optional else value

    return run


def _as_attribute(step: _Step) -> _Attribute | _Choice:
    return step.attribute if step.attribute is not None else _Attribute(step.run)


def _membership(inner: Run, values: Any) -> _Step | None:
    """Plan `in` with a constant list: looking up is free."""
    if any(type(each) not in (bool, int, float, str) and each is not None for each in values):
        return None

    def run(frame: Frame) -> Any:
        value = inner(frame)
        if type(value) is CelError:
            return value
        return any(equal(value, each) is True for each in values)

    return _Step(run, constant=False) if not values else _Step(run)


_PLANS: Final[dict[type[Node], Callable[..., _Step]]] = {
    Literal: _Planner._literal,
    Ident: _Planner._ident,
    Select: _Planner._select,
    Call: _Planner._call,
    ListOf: _Planner._list,
    MapOf: _Planner._map,
    Message: _Planner._message,
    Fold: _Planner._fold,
}
_SPECIAL: Final[dict[str, Callable[..., _Step]]] = {
    "_==_": _Planner._equality,
    "_!=_": _Planner._equality,
    "_&&_": _Planner._logical,
    "_||_": _Planner._logical,
    "_?_:_": _Planner._conditional,
    "_[_]": _Planner._index,
    "_[?_]": _Planner._index,
    "_?._": _Planner._index,
    "@not_strictly_false": _Planner._not_false,
}
