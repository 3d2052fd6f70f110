"""`quantity(…)` and its arithmetic.

Source: k8s.io/apiserver v0.37 pkg/cel/library/quantity.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import BOOL, DOUBLE, INT, STRING
from env_core.cel._values import CelError, Opaque, no_overload
from env_core.objects.quantity import Format, Quantity, QuantityError, parse

QUANTITY: Final = _types.struct("kubernetes.Quantity")


@dataclass(frozen=True, slots=True)
class _Amount(Opaque):
    """A quantity."""

    quantity: Quantity
    cel_type = QUANTITY

    def equals(self, other: Any) -> Any:
        """Compare amounts, not the ways they are written."""
        if not isinstance(other, _Amount):
            return no_overload(other)
        return self.quantity.equals(other.quantity)

    def __str__(self) -> str:
        return str(self.quantity)


def _quantity(text: str) -> Any:
    try:
        return _Amount(parse(text))
    except QuantityError as problem:
        return CelError(str(problem))


def _is_quantity(text: str) -> bool:
    return isinstance(_quantity(text), _Amount)


def _as_integer(amount: _Amount) -> Any:
    value = amount.quantity.as_int64()
    return CelError("cannot convert value to integer") if value is None else value


def _whole(number: int) -> _Amount:
    return _Amount(Quantity(number, format=Format.DECIMAL_EXPONENT))


LIBRARY = Library(
    order=14,
    functions={
        "quantity": Function((overload("string_to_quantity", (STRING,), QUANTITY, _quantity),)),
        "isQuantity": Function((overload("is_quantity_string", (STRING,), BOOL, _is_quantity),)),
        "sign": Function((overload("quantity_sign", (QUANTITY,), INT, lambda one: one.quantity.sign()),)),
        "isGreaterThan": Function(
            (
                member(
                    "quantity_is_greater_than", (QUANTITY, QUANTITY), BOOL,
                    lambda one, two: one.quantity > two.quantity,
                ),
            )
        ),
        "isLessThan": Function(
            (
                member(
                    "quantity_is_less_than", (QUANTITY, QUANTITY), BOOL,
                    lambda one, two: one.quantity < two.quantity,
                ),
            )
        ),
        "compareTo": Function(
            (
                member(
                    "quantity_compare_to", (QUANTITY, QUANTITY), INT,
                    lambda one, two: one.quantity.compare(two.quantity),
                ),
            )
        ),
        "asApproximateFloat": Function(
            (member("quantity_get_float", (QUANTITY,), DOUBLE, lambda one: one.quantity.as_float()),)
        ),
        "asInteger": Function((member("quantity_get_int", (QUANTITY,), INT, _as_integer),)),
        "isInteger": Function(
            (
                member(
                    "quantity_is_integer", (QUANTITY,), BOOL, lambda one: one.quantity.as_int64() is not None
                ),
            )
        ),
        "add": Function(
            (
                member(
                    "quantity_add", (QUANTITY, QUANTITY), QUANTITY,
                    lambda one, two: _Amount(one.quantity + two.quantity),
                ),
                member(
                    "quantity_add_int", (QUANTITY, INT), QUANTITY,
                    lambda one, two: _Amount(one.quantity + _whole(two).quantity),
                ),
            )
        ),
        "sub": Function(
            (
                member(
                    "quantity_sub", (QUANTITY, QUANTITY), QUANTITY,
                    lambda one, two: _Amount(one.quantity - two.quantity),
                ),
                member(
                    "quantity_sub_int", (QUANTITY, INT), QUANTITY,
                    lambda one, two: _Amount(one.quantity - _whole(two).quantity),
                ),
            )
        ),
    },
    types=(QUANTITY,),
    source="k8s.io/apiserver v0.37 pkg/cel/library/quantity.go",
)  # fmt: skip
