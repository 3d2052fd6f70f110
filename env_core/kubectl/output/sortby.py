"""`--sort-by`: the order of objects, and of table rows, by one JSONPath expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from env_core.objects.goformat import type_name
from env_core.objects.gosort import go_sorted
from env_core.objects.jsonpath import JSONPathError, compiled, relaxed
from env_core.objects.problems import quoted
from env_core.objects.quantity import Quantity, QuantityError, parse

T = TypeVar("T")

_OBJECTS: Final = "*unstructured.Unstructured"
_ROWS: Final = "[][][]reflect.Value"


class SortError(Exception):
    """The list cannot be sorted; kubectl prints the message as an error."""


class SortFatal(SortError):
    """A value has no order; kubectl logs the message and exits at once."""


def sort_objects(objects: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """Return unstructured objects ordered by `field`, those without it first.

    Source: kubectl pkg/cmd/get SortObjects; tests/golden/l0/sort_by (ids unstructured/).

    Raises:
        SortError: if the path is wrong or no object has the field.
        SortFatal: if two values cannot be compared.
    """
    return _sorted(objects, field, lambda item: item, _OBJECTS)


def sort_rows(rows: list[T], field: str, object_of: Callable[[T], dict[str, Any]]) -> list[T]:
    """Return table rows ordered by `field` of the object behind each row.

    Source: kubectl pkg/cmd/get TableSorter; tests/golden/l0/sort_by (ids table/).

    Raises:
        SortError: if the path is wrong or no object has the field.
        SortFatal: if two values cannot be compared.
    """
    return _sorted(rows, field, object_of, _ROWS)


def _sorted(items: list[T], field: str, object_of: Callable[[T], dict[str, Any]], shown_type: str) -> list[T]:
    try:
        template = relaxed(field)
    except JSONPathError as error:
        raise SortError(str(error)) from error
    try:
        path = compiled(template)
    except JSONPathError as error:
        raise SortError(f"sorting error: {error}" if shown_type == _ROWS else str(error)) from error
    try:
        keyed = [(path.find(object_of(item)), item) for item in items]
    except JSONPathError as error:
        raise SortError(str(error)) from error
    if items and not any(found and found[0] for found, _ in keyed):
        raise SortError(f"couldn't find any field with path {quoted(template)} in the list of objects")

    def less(left: tuple[list[list[Any]], T], right: tuple[list[list[Any]], T]) -> bool:
        if not left[0] or not left[0][0]:
            return True
        if not right[0] or not right[0][0]:
            return False
        try:
            return _is_less(left[0][0][0], right[0][0][0])
        except _Unsortable as error:
            raise SortFatal(
                f"Field {template} in {shown_type} is an unsortable type: interface, err: {error}"
            ) from None

    return [item for _, item in go_sorted(keyed, less)]


class _Unsortable(Exception):
    """Two values have no order."""


def _is_less(left: Any, right: Any) -> bool:
    """Compare two values of one field; strings that are both quantities compare as such."""
    if left is None or right is None:
        return left is None and right is not None
    if isinstance(left, bool) or not isinstance(left, int | float | str):
        raise _Unsortable(f"unsortable type: {type_name(left)}")
    if type_name(left) != type_name(right):
        raise _Unsortable("unsortable interface: interface")
    if not isinstance(left, str):
        return bool(left < right)
    amount = _quantity(left)
    other = _quantity(right) if amount is not None else None
    return amount < other if amount is not None and other is not None else bool(left < right)


def _quantity(text: str) -> Quantity | None:
    try:
        return parse(text)
    except QuantityError:
        return None
