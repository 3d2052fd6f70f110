"""Metrics read from the text format 0.0.4.

Source: github.com/prometheus/common expfmt/text_parse.go; recorded in tests/golden/promql/expfmt.jsonl.gz.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from env_core.observability.exposition._model import (
    HISTOGRAM,
    SUMMARY,
    TYPES,
    UNTYPED,
    Distribution,
    ExpositionError,
    Family,
    Metric,
)
from env_core.observability.promql._numbers import quote

_NAME: Final = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLOAT: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+\Z")
_BLANKS: Final = " \t"
_SUFFIXES: Final = {HISTOGRAM: ("_bucket", "_sum", "_count"), SUMMARY: ("_sum", "_count")}
_EXTRA: Final = {HISTOGRAM: "le", SUMMARY: "quantile"}

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Open:
    """A family that is being read."""

    name: str
    type: str = ""
    help: str | None = None
    metrics: dict[Labels, Metric] = field(default_factory=dict)


def parse_text(text: str) -> list[Family]:
    """Return the families of a text, in the order in which they begin.

    Raises:
        ExpositionError: with Prometheus's text and the line.
    """
    parser = _Parser()
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        parser.number = number
        parser.line(line)
    if lines[-1].strip(_BLANKS):
        parser.number = len(lines)
        raise parser.problem("unexpected end of input stream")
    return [
        Family(
            name=each.name,
            type=each.type or UNTYPED,
            help=each.help,
            metrics=tuple(each.metrics.values()),
        )
        for each in parser.families.values()
        if each.metrics
    ]


class _Parser:
    def __init__(self) -> None:
        self.families: dict[str, _Open] = {}
        self.number = 1
        self._text = ""
        self._at = 0

    def problem(self, text: str) -> ExpositionError:
        """Return an error on the current line."""
        return ExpositionError(f"text format parsing error in line {self.number}: {text}")

    def line(self, text: str) -> None:
        """Read one line."""
        self._text, self._at = text, 0
        self._skip()
        if self._peek() == "":
            return
        if self._peek() == "#":
            self._comment()
        else:
            self._sample()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        while self._peek() and self._peek() in _BLANKS:
            self._at += 1

    def _until_blank(self) -> str:
        start = self._at
        while self._peek() and self._peek() not in _BLANKS:
            self._at += 1
        return self._text[start : self._at]

    def _comment(self) -> None:
        self._at += 1
        self._skip()
        word = self._until_blank()
        if word not in ("HELP", "TYPE"):
            return
        self._skip()
        if not self._peek():
            return
        name = self._name()
        self._skip()
        rest = self._text[self._at :]
        if word == "HELP":
            family = self._family(name)
            if family.help is not None:
                raise self.problem(f"second HELP line for metric name {quote(name)}")
            family.help = _unescaped(rest)
            return
        family = self._family(name)
        if family.type or family.metrics:
            text = f"second TYPE line for metric name {quote(name)}, or TYPE reported after samples"
            raise self.problem(text)
        if rest.strip(_BLANKS) not in TYPES:
            raise self.problem(f"unknown metric type {quote(rest.strip(_BLANKS))}")
        family.type = rest.strip(_BLANKS)

    def _name(self) -> str:
        if self._peek() == '"':
            return self._quoted()
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise self.problem("invalid metric name")
        self._at = found.end()
        return found[0]

    def _quoted(self) -> str:
        start = self._at + 1
        at = start
        while at < len(self._text) and self._text[at] != '"':
            at += 2 if self._text[at] == "\\" else 1
        if at >= len(self._text):
            raise self.problem(f"label value {quote(self._text[start:])} contains unescaped new-line")
        self._at = at + 1
        return _unescaped(self._text[start:at]).replace('\\"', '"')

    def _family(self, name: str) -> _Open:
        for kind, suffixes in _SUFFIXES.items():
            for suffix in suffixes:
                base = self.families.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
                if base is not None and base.type == kind:
                    return base
        return self.families.setdefault(name, _Open(name))

    def _sample(self) -> None:
        name = "" if self._peek() == "{" else self._name()
        self._skip()
        labels: list[tuple[str, str]] = []
        if self._peek() == "{":
            name = self._labels(name, labels)
        if not name:
            raise self.problem("invalid metric name")
        self._skip()
        text = self._until_blank()
        if not _FLOAT.match(text):
            raise self.problem(f"expected float as value, got {quote(text)}")
        self._skip()
        stamp = self._until_blank()
        if stamp and not _INTEGER.match(stamp):
            raise self.problem(f"expected integer as timestamp, got {quote(stamp)}")
        self._skip()
        if self._peek():
            raise self.problem(f"spurious string after timestamp: {quote(self._text[self._at :])}")
        self._add(name, labels, float(text), int(stamp) if stamp else None)

    def _labels(self, name: str, labels: list[tuple[str, str]]) -> str:
        self._at += 1
        while True:
            self._skip()
            if self._peek() == "}":
                self._at += 1
                return name
            label = self._label_name()
            self._skip()
            if self._peek() != "=":
                if name or self._peek() not in (",", "}"):
                    word = "label" if name else "metric"
                    raise self.problem(f"unexpected end of {word} name '{self._peek()}'")
                name = label
            else:
                self._label_value(name, label, labels)
            self._skip()
            if self._peek() == ",":
                self._at += 1
            elif self._peek() != "}":
                raise self.problem(
                    f"unexpected end of label value {quote(labels[-1][1] if labels else name)}"
                )

    def _label_name(self) -> str:
        if self._peek() == '"':
            return self._quoted()
        found = _LABEL.match(self._text, self._at)
        if found is None:
            raise self.problem("invalid label name for metric")
        self._at = found.end()
        return found[0]

    def _label_value(self, name: str, label: str, labels: list[tuple[str, str]]) -> None:
        self._at += 1
        self._skip()
        if self._peek() != '"':
            raise self.problem(f"expected '\"' at start of label value, found '{self._peek()}'")
        if any(each == label for each, _ in labels):
            raise self.problem(f"duplicate label names for metric {quote(name)}")
        labels.append((label, self._quoted()))

    def _add(self, name: str, labels: list[tuple[str, str]], value: float, stamp: int | None) -> None:
        family = self._family(name)
        kind = family.type or UNTYPED
        extra = _EXTRA.get(kind)
        step = next((text for label, text in labels if label == extra), None)
        own = tuple(pair for pair in labels if pair[0] != extra)
        if kind not in _EXTRA:
            family.metrics[own] = Metric(kind=kind, value=value, labels=own, timestamp_ms=stamp)
            return
        known = family.metrics.get(own) or Metric(
            kind=kind, value=Distribution(), labels=own, timestamp_ms=stamp
        )
        distribution = known.value
        assert isinstance(distribution, Distribution)
        suffix = name[len(family.name) :]
        if suffix == "_sum":
            distribution = replace(distribution, sum=value)
        elif suffix == "_count":
            distribution = replace(distribution, count=value)
        elif step is not None and _FLOAT.match(step):
            distribution = replace(distribution, steps=(*distribution.steps, (float(step), value)))
        else:
            raise self.problem(f"expected float as value for '{extra}' label, got {quote(step or '')}")
        family.metrics[own] = replace(known, value=distribution)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\n])", lambda found: "\n" if found[1] == "n" else "\\", text)
