"""Label and field selectors: parsing, matching, and printing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from env_core.objects._selector_syntax import (
    SelectorError,
    checked_requirement,
    read_requirements,
    split_field_terms,
)

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "NO_FIELDS",
    "FieldSelector",
    "FieldTerm",
    "LabelSelector",
    "Requirement",
    "SelectorError",
    "format_label_selector",
    "from_labels",
    "from_object",
    "parse_fields",
    "parse_labels",
    "to_label_selector",
]

_INT64_MAX: Final = 2**63 - 1
_OPERATORS: Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_OBJECT_OPERATORS: Final = {operator: name for name, operator in _OPERATORS.items()}
_SYMBOLS: Final = {"=": "=", "==": "==", "!=": "!=", "gt": ">", "lt": "<", "in": " in ", "notin": " notin "}


def _integer(text: str) -> int | None:
    """Return a label's value as strconv.ParseInt reads it, None if it is no int64."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 40:
        return None
    number = int(text)
    return number if -_INT64_MAX - 1 <= number <= _INT64_MAX else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label; `operator` is =, ==, !=, in, notin, exists, !, gt or lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels meet the condition."""
        operator = self.operator
        value = labels.get(self.key)
        if operator in ("=", "==", "in"):
            return value is not None and value in self.values
        if operator in ("!=", "notin"):
            return value is None or value not in self.values
        if operator == "exists":
            return value is not None
        if operator == "!":
            return value is None
        number = _integer(value) if value is not None else None
        bound = _integer(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if operator == "gt" else number < bound

    def __str__(self) -> str:
        if self.operator == "exists":
            return self.key
        if self.operator == "!":
            return "!" + self.key
        values = ",".join(sorted(self.values))
        if self.operator in ("in", "notin"):
            values = f"({values})"
        return f"{self.key}{_SYMBOLS[self.operator]}{values}"


class LabelSelector:
    """A compiled label selector: all requirements must hold.

    `exact` are the key-value pairs that must be there, for callers that keep an index; `is_nothing` marks the
    selector that matches no object at all.
    """

    __slots__ = ("_others", "_text", "exact", "is_nothing", "requirements")

    def __init__(self, requirements: tuple[Requirement, ...], *, is_nothing: bool = False) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda requirement: requirement.key))
        self.is_nothing = is_nothing
        exact = [r for r in self.requirements if r.operator in ("=", "==", "in") and len(r.values) == 1]
        self.exact = tuple((r.key, r.values[0]) for r in exact)
        self._others = tuple(r for r in self.requirements if r not in exact)
        self._text = ",".join(map(str, self.requirements))

    def __str__(self) -> str:
        return self._text

    def is_empty(self) -> bool:
        """Say whether every object matches."""
        return not self.requirements and not self.is_nothing

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Say whether an object with these labels is selected."""
        if self.is_nothing:
            return False
        if labels is None:
            labels = {}
        for key, value in self.exact:
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self._others)


EVERYTHING: Final = LabelSelector(())
NOTHING: Final = LabelSelector((), is_nothing=True)


@lru_cache(maxsize=4096)
def parse_labels(text: str) -> LabelSelector:
    """Compile a selector from its string form ("app=web,tier in (a,b),!old").

    Source: k8s.io/apimachinery pkg/labels Parse; tests/golden/l0/selectors.

    Raises:
        SelectorError: with Kubernetes' text.
    """
    return LabelSelector(tuple(Requirement(*parts) for parts in read_requirements(text)))


def from_labels(labels: Mapping[str, str] | None) -> LabelSelector:
    """Compile a plain map (a Service's selector) without checking it; an empty one matches everything."""
    return _from_pairs(tuple(labels.items())) if labels else EVERYTHING


@lru_cache(maxsize=4096)
def _from_pairs(pairs: tuple[tuple[str, str], ...]) -> LabelSelector:
    return LabelSelector(tuple(Requirement(key, "=", (value,)) for key, value in pairs))


def from_object(selector: Mapping[str, Any] | None) -> LabelSelector:
    """Compile a LabelSelector object: a missing one matches nothing, an empty one everything.

    Source: k8s.io/apimachinery pkg/apis/meta/v1 LabelSelectorAsSelector; tests/golden/l0/selectors.

    Raises:
        SelectorError: with Kubernetes' text, if an operator, key or value is wrong.
    """
    if selector is None:
        return NOTHING
    labels = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return _from_parts(
        tuple(labels.items()),
        tuple(
            (item.get("key", ""), item.get("operator", ""), tuple(item.get("values") or ()))
            for item in expressions
        ),
    )


@lru_cache(maxsize=4096)
def _from_parts(
    labels: tuple[tuple[str, str], ...], expressions: tuple[tuple[str, str, tuple[str, ...]], ...]
) -> LabelSelector:
    if not labels and not expressions:
        return EVERYTHING
    found = [checked_requirement(key, "=", (value,)) for key, value in sorted(labels)]
    for key, operator, values in expressions:
        if operator not in _OPERATORS:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')
        found.append(checked_requirement(key, _OPERATORS[operator], values))
    return LabelSelector(tuple(Requirement(*parts) for parts in found))


def format_label_selector(selector: Mapping[str, Any] | None) -> str:
    """Return a LabelSelector object as kubectl prints it: "<none>" when empty, "<error>" when wrong."""
    try:
        return str(from_object(selector)) or "<none>"
    except SelectorError:
        return "<error>"


def to_label_selector(text: str) -> dict[str, Any]:
    """Return the LabelSelector object for a selector's string form.

    Source: k8s.io/apimachinery pkg/apis/meta/v1 ParseToLabelSelector; tests/golden/l0/selectors.

    Raises:
        SelectorError: with Kubernetes' text, if it does not parse or has no such object.
    """
    try:
        parsed = parse_labels(text)
    except SelectorError as error:
        raise SelectorError(f'couldn\'t parse the selector string "{text}": {error}') from error
    labels: dict[str, str] = {}
    expressions: list[dict[str, Any]] = []
    for requirement in parsed.requirements:
        operator = requirement.operator
        if operator in ("=", "=="):
            labels[requirement.key] = requirement.values[0]
        elif operator in ("gt", "lt"):
            raise SelectorError(f'"{operator}" isn\'t supported in label selectors')
        elif operator not in _OBJECT_OPERATORS:
            raise SelectorError(f'"{operator}" is not a valid label selector operator')
        else:
            expression: dict[str, Any] = {"key": requirement.key, "operator": _OBJECT_OPERATORS[operator]}
            if requirement.values:
                expression["values"] = sorted(requirement.values)
            expressions.append(expression)
    selector: dict[str, Any] = {}
    if expressions:
        selector["matchExpressions"] = expressions
    if labels:
        selector["matchLabels"] = labels
    return selector


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One condition of a field selector: the field has the value, or (`negated`) has not."""

    field: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
        return f"{self.field}{'!=' if self.negated else '='}{escaped}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A compiled field selector: all terms must hold; a field that is not there reads as ""."""

    terms: tuple[FieldTerm, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))

    def is_empty(self) -> bool:
        """Say whether every object matches."""
        return not self.terms

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Say whether an object with these fields ("metadata.name" and so on) is selected."""
        return all((fields.get(term.field, "") == term.value) is not term.negated for term in self.terms)

    def exact_value(self, field: str) -> str | None:
        """Return the one value that the selector requires of `field`, None if it does not."""
        for term in self.terms:
            if term.field == field and not term.negated:
                return term.value
        return None


NO_FIELDS: Final = FieldSelector()


@lru_cache(maxsize=2048)
def parse_fields(text: str) -> FieldSelector:
    """Compile a field selector ("metadata.name=web,status.phase!=Running").

    Source: k8s.io/apimachinery pkg/fields ParseSelector; tests/golden/l0/selectors.

    Raises:
        SelectorError: with Kubernetes' text.
    """
    return FieldSelector(tuple(FieldTerm(*parts) for parts in split_field_terms(text)))
