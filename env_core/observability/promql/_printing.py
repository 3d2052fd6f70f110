"""Expressions as text again: on one line, and over several when they are long.

Source: github.com/prometheus/prometheus promql/parser/printer.go and prettier.go; recorded in
tests/golden/promql/canonical.jsonl.gz.
"""

from __future__ import annotations

from typing import Final

from env_core.observability.promql._labels import NAME, is_plain_name
from env_core.observability.promql._nodes import (
    VECTOR,
    WITH_PARAMETER,
    Aggregate,
    Binary,
    Call,
    Duration,
    Expr,
    Matcher,
    MatrixSelector,
    Moment,
    Number,
    Paren,
    String,
    Subquery,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._numbers import duration_text, plain_number, quote

_LINE_MAX: Final = 100
_INDENT: Final = "  "


def text_of(expr: Expr) -> str:
    """Return an expression on one line, in its canonical form."""
    if isinstance(expr, Number):
        return _number(expr)
    if isinstance(expr, String):
        return quote(expr.value)
    if isinstance(expr, VectorSelector):
        return _selector(expr, expr.moment, expr.extension)
    if isinstance(expr, MatrixSelector):
        inner = expr.selector
        extension = f" {inner.extension}" if inner.extension else ""
        return f"{_selector(inner, Moment(), '')}[{_duration(expr.range)}]{extension}{_moment(inner.moment)}"
    if isinstance(expr, Subquery):
        return text_of(expr.expr) + _subquery_suffix(expr)
    if isinstance(expr, Paren):
        return f"({text_of(expr.expr)})"
    if isinstance(expr, Unary):
        return expr.op + text_of(expr.expr)
    if isinstance(expr, Binary):
        return f"{text_of(expr.left)} {_operator(expr)} {text_of(expr.right)}"
    if isinstance(expr, Call):
        return f"{expr.name}({', '.join(map(text_of, expr.args))})"
    parameter = f"{text_of(expr.parameter)}, " if expr.parameter is not None else ""
    return f"{_aggregation(expr)}({parameter}{text_of(expr.expr)})"


def pretty(expr: Expr, level: int = 0) -> str:
    """Return an expression broken over lines of at most 100 characters where it can be."""
    pad = _INDENT * level
    whole = text_of(expr)
    is_long = len(whole.encode()) > _LINE_MAX
    if isinstance(expr, Unary):
        return f"{pad}{expr.op}{pretty(expr.expr, level).strip()}"
    if isinstance(expr, Subquery):
        return pretty(expr.expr, level) + _subquery_suffix(expr) if is_long else whole
    if not is_long or isinstance(expr, (Number, String, VectorSelector, MatrixSelector)):
        return pad + whole
    if isinstance(expr, Paren):
        return f"{pad}(\n{pretty(expr.expr, level + 1)}\n{pad})"
    if isinstance(expr, Binary):
        return f"{pretty(expr.left, level + 1)}\n{pad}{_operator(expr)}\n{pretty(expr.right, level + 1)}"
    if isinstance(expr, Call):
        args = ",\n".join(pretty(arg, level + 1) for arg in expr.args)
        return f"{pad}{expr.name}(\n{args}\n{pad})"
    parameter = "" if expr.parameter is None else f"{pretty(expr.parameter, level + 1)},\n"
    assert expr.parameter is None or expr.op in WITH_PARAMETER
    return f"{pad}{_aggregation(expr)}(\n{parameter}{pretty(expr.expr, level + 1)}\n{pad})"


def matcher_text(matcher: Matcher) -> str:
    """Return one matcher, its name in quotes where it must be."""
    name = matcher.name if is_plain_name(matcher.name) else quote(matcher.name)
    return f"{name}{matcher.operator}{quote(matcher.value)}"


def _number(number: Number) -> str:
    if not number.is_duration:
        return plain_number(number.value)
    text = duration_text(round(abs(number.value) * 1000))
    return f"-{text}" if number.value < 0 else text


def _duration(duration: Duration) -> str:
    if isinstance(duration, Number):
        text = duration_text(round(abs(duration.value) * 1000))
        return f"-{text}" if duration.value < 0 else text
    return _arithmetic(duration)


def _arithmetic(duration: Duration) -> str:
    if isinstance(duration, Number):
        return _number(duration)
    op = duration.op
    left = "" if duration.left is None else _arithmetic(duration.left)
    right = "" if duration.right is None else _arithmetic(duration.right)
    if op in ("step", "range"):
        text = f"{op}()"
    elif op in ("min_of", "max_of"):
        text = f"{op}({left}, {right})"
    elif duration.left is None:
        text = ("-" if op == "-" else "") + right
    else:
        text = f"{left} {op} {right}"
    return f"({text})" if duration.is_wrapped else text


def _at(moment: Moment) -> str:
    if moment.at_ms is not None:
        return f" @ {moment.at_ms / 1000:.3f}"
    return f" @ {moment.at_edge}()" if moment.at_edge else ""


def _offset(moment: Moment) -> str:
    return "" if moment.offset is None else f" offset {_duration(moment.offset)}"


def _moment(moment: Moment) -> str:
    return _at(moment) + _offset(moment)


def _selector(selector: VectorSelector, moment: Moment, extension: str) -> str:
    texts = sorted(
        matcher_text(matcher)
        for matcher in selector.matchers
        if not (matcher.name == NAME and matcher.operator == "=" and matcher.value == selector.name != "")
    )
    braces = "{" + ",".join(texts) + "}" if texts else ""
    extended = f" {extension}" if extension else ""
    return f"{selector.name}{braces}{_at(moment)}{extended}{_offset(moment)}"


def _subquery_suffix(expr: Subquery) -> str:
    step = "" if expr.step is None else _duration(expr.step)
    return f"[{_duration(expr.range)}:{step}]{_moment(expr.moment)}"


def _labels(names: tuple[str, ...]) -> str:
    return "(" + ", ".join(name if is_plain_name(name) else quote(name) for name in names) + ")"


def _operator(expr: Binary) -> str:
    text = expr.op + (" bool" if expr.returns_bool else "")
    matching = expr.matching
    if not expr.left.type == expr.right.type == VECTOR:
        return text
    is_grouped = matching.card in ("n:1", "1:n")
    if matching.labels or matching.is_on or is_grouped:
        text += f" {'on' if matching.is_on else 'ignoring'} {_labels(matching.labels)}"
    if is_grouped:
        text += f" group_{'left' if matching.card == 'n:1' else 'right'} {_labels(matching.include)}"
    return text


def _aggregation(expr: Aggregate) -> str:
    if expr.is_without:
        return f"{expr.op} without {_labels(expr.grouping)} "
    return f"{expr.op} by {_labels(expr.grouping)} " if expr.grouping else expr.op
