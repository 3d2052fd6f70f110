"""A metrics registry as programs written in Go hold one: what its client library panics about.

Source: tests/golden/promql/expfmt (kind register; client_golang 1.25); github.com/prometheus/client_golang prometheus/registry.go,
desc.go, labels.go, counter.go for what is not recorded (a second registration, names that are none, duplicate labels).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from env_core.objects.problems import quoted

_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class RegistryPanic(Exception):
    """The program dies with `panic: ` and this text."""


@dataclass(frozen=True, slots=True)
class Description:
    """A metric as it is registered."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    unit: str = ""

    def __str__(self) -> str:
        constants = ",".join(f"{name}={quoted(value)}" for name, value in sorted(self.constants))
        return (
            f"Desc{{fqName: {quoted(self.name)}, help: {quoted(self.help)}, unit: {quoted(self.unit)}, "
            f"constLabels: {{{constants}}}, variableLabels: {{{','.join(self.labels)}}}}}"
        )


@dataclass(slots=True)
class Registry:
    """The metrics that a program has registered."""

    _known: dict[str, Description] = field(default_factory=dict)

    def register(self, description: Description) -> None:
        """Register a metric.

        Raises:
            RegistryPanic: if the library's MustRegister panics.
        """
        problem = _invalid(description)
        if problem:
            raise RegistryPanic(f"descriptor {description} is invalid: {problem}")
        before = self._known.get(description.name)
        if before is None:
            self._known[description.name] = description
        elif (before.help, sorted(before.labels)) != (description.help, sorted(description.labels)):
            raise RegistryPanic(
                f"a previously registered descriptor with the same fully-qualified name as {description} has different"
                " label names or a different help string"
            )
        elif before.constants == description.constants:
            raise RegistryPanic("duplicate metrics collector registration attempted")


def _invalid(description: Description) -> str:
    if not description.name:
        return f"{quoted(description.name)} is not a valid metric name"
    names = [*(name for name, _ in description.constants), *description.labels]
    for name in names:
        if not _LABEL.fullmatch(name) or name.startswith("__"):
            return f"{quoted(name)} is not a valid label name for metric {quoted(description.name)}"
    if len(set(names)) != len(names):
        return f"duplicate label names in constant and variable labels for metric {quoted(description.name)}"
    return ""


def with_labels(description: Description, values: tuple[str, ...]) -> None:
    """Take a metric of a vector by its label values.

    Raises:
        RegistryPanic: if their number is wrong.
    """
    if len(values) != len(description.labels):
        shown = ", ".join(map(quoted, values))
        raise RegistryPanic(
            f"inconsistent label cardinality: expected {len(description.labels)} label values but got {len(values)}"
            f" in []string{{{shown}}}"
        )


def add(amount: float) -> None:
    """Add to a counter.

    Raises:
        RegistryPanic: if the amount is negative.
    """
    if amount < 0:
        raise RegistryPanic("counter cannot decrease in value")
