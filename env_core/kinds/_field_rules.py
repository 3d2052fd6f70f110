"""Rules for single fields that several kinds share: choices, counts, numbers or percentages.

Source: k8s.io/apimachinery pkg/util/validation and k8s.io/kubernetes pkg/apis/apps/validation; texts in
tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import NOT_SUPPORTED, Problem, invalid, quoted
from env_core.world import Object


def unsupported(field: str, text: str, options: tuple[str, ...], *, value: str | None = None) -> Problem:
    """The value is none of the allowed ones, listed in the order given (upstream sorts only some lists).

    `value` is the offending value as Go prints it, where that is not the quoted `text`.
    """
    listed = ", ".join(quoted(option) for option in options)
    return Problem(
        NOT_SUPPORTED, field, quoted(text) if value is None else value, f"supported values: {listed}"
    )


def distinct(problems: list[Problem]) -> list[Problem]:
    """Return the problems without repeats: the API server reports the same one once."""
    return list(dict.fromkeys(problems)) if len(problems) > 1 else problems


def non_negative(obj: Object, keys: tuple[str, ...], field: str) -> list[Problem]:
    """Check that the numbers `keys` of `obj`, where set, are not negative."""
    found: list[Problem] = []
    for key in keys:
        value = obj.get(key)
        if value is not None and value < 0:
            found.append(invalid(f"{field}.{key}", value, names.NOT_NEGATIVE))
    return found


def int_or_percent(value: Any, field: str) -> list[Problem]:
    """Check a number that is not negative, or a percentage."""
    if value is None:
        return []
    if isinstance(value, str):
        return invalid_each(field, value, names.is_percent(value))
    return [invalid(field, value, names.NOT_NEGATIVE)] if value < 0 else []


def at_most_all(value: Any, field: str) -> list[Problem]:
    """Check that a percentage does not exceed 100 %."""
    if isinstance(value, str) and not names.is_percent(value) and int(value[:-1]) > 100:
        return [invalid(field, value, "must not be greater than 100%")]
    return []


def number_in(value: Any) -> int:
    """Return the number in an int-or-percent value, 0 where there is none."""
    if isinstance(value, str):
        text = value[:-1] if not names.is_percent(value) else value
        return int(text) if text.lstrip("+-").isdigit() else 0
    return value or 0
