"""Label sets: sorted tuples of names and values, without empty values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from env_core.observability.promql._numbers import quote

Labels = tuple[tuple[str, str], ...]

NAME: Final = "__name__"
EMPTY: Final[Labels] = ()
_METADATA: Final = frozenset((NAME, "__type__", "__unit__"))
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_METRIC_NAME: Final = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*\Z")


def labels_of(values: Mapping[str, str] | Iterable[tuple[str, str]]) -> Labels:
    """Return a label set; empty values count as absent."""
    return tuple(sorted((name, value) for name, value in dict(values).items() if value))


def value_of(labels: Labels, name: str) -> str:
    """Return a label's value, "" when it is absent."""
    for each, value in labels:
        if each == name:
            return value
    return ""


def without_name(labels: Labels) -> Labels:
    """Return the labels without the metric's name (and the type and unit, which go with it)."""
    return tuple(pair for pair in labels if pair[0] not in _METADATA)


def keeping(labels: Labels, names: Iterable[str]) -> Labels:
    """Return only the named labels."""
    kept = frozenset(names)
    return tuple(pair for pair in labels if pair[0] in kept)


def dropping(labels: Labels, names: Iterable[str]) -> Labels:
    """Return all but the named labels."""
    dropped = frozenset(names)
    return tuple(pair for pair in labels if pair[0] not in dropped)


def with_label(labels: Labels, name: str, value: str) -> Labels:
    """Return the labels with one set, or removed when the value is empty."""
    rest = tuple(pair for pair in labels if pair[0] != name)
    return tuple(sorted((*rest, (name, value)))) if value else rest


def is_plain_name(name: str) -> bool:
    """Whether a label name needs no quotes."""
    return _PLAIN_NAME.match(name) is not None


def is_metric_name(name: str) -> bool:
    """Whether a metric name needs no quotes."""
    return _METRIC_NAME.match(name) is not None


def is_label_name(name: str) -> bool:
    """Whether a label may have this name: any text but the empty one, since names are UTF-8."""
    return bool(name)


def labels_text(labels: Labels) -> str:
    """Return a label set as errors and templates print it."""
    parts = [f"{name if is_plain_name(name) else quote(name)}={quote(value)}" for name, value in labels]
    return "{" + ", ".join(parts) + "}"
