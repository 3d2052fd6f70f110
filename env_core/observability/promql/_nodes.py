"""The syntax tree of PromQL. Nodes are immutable; positions count characters of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.objects.re2 import Regexp, compiled

SCALAR: Final = "scalar"
VECTOR: Final = "vector"
MATRIX: Final = "matrix"
STRING: Final = "string"
DOCUMENTED: Final = {SCALAR: "scalar", VECTOR: "instant vector", MATRIX: "range vector", STRING: "string"}

COMPARISONS: Final = frozenset(("==", "!=", "<=", "<", ">=", ">"))
SET_OPERATORS: Final = frozenset(("and", "or", "unless"))
WITH_PARAMETER: Final = frozenset(("topk", "bottomk", "count_values", "quantile", "limitk", "limit_ratio"))


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the query a node stands."""

    start: int
    end: int


@lru_cache(maxsize=4096)
def _matches(operator: str, value: str) -> Callable[[str], bool]:
    if operator == "=":
        return value.__eq__
    if operator == "!=":
        return value.__ne__
    regex: Regexp = compiled(value, dot_all=True)
    if operator == "=~":
        return regex.matches
    return lambda text: not regex.matches(text)


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on a label. `operator` is =, !=, =~ or !~."""

    name: str
    operator: str
    value: str

    def matches(self, text: str) -> bool:
        """Whether a label's value ("" when absent) fulfils it."""
        return _matches(self.operator, self.value)(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class DurationExpr:
    """Arithmetic in brackets or after offset; `op` is +, -, *, /, %, ^, step, range, min_of or max_of."""

    op: str
    left: Duration | None = None
    right: Duration | None = None
    span: Span
    is_wrapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number, or a duration as a number of seconds."""

    value: float
    is_duration: bool = False
    span: Span
    type: str = SCALAR


Duration = Number | DurationExpr


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """A string literal."""

    value: str
    span: Span
    type: str = STRING


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a selector or subquery looks: `@` and `offset`."""

    at_ms: int | None = None
    at_edge: str = ""
    """"start" or "end", for `@ start()` and `@ end()`."""
    offset: Duration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSelector:
    """Series by name and labels. `matchers` hold the name's last, if it was written outside of the braces."""

    name: str
    matchers: tuple[Matcher, ...]
    moment: Moment = Moment()
    extension: str = ""
    """"anchored" or "smoothed"."""
    span: Span
    type: str = VECTOR


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixSelector:
    """A range of samples of series."""

    selector: VectorSelector
    range: Duration
    span: Span
    type: str = MATRIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Subquery:
    """An expression evaluated over a range."""

    expr: Expr
    range: Duration
    step: Duration | None
    moment: Moment = Moment()
    span: Span
    type: str = MATRIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Paren:
    """An expression in parentheses."""

    expr: Expr
    span: Span
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """A sign before an expression."""

    op: str
    expr: Expr
    span: Span
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """How the two sides of a binary operator are paired. `card` is 1:1, n:1 (group_left), 1:n or n:n."""

    card: str = "1:1"
    is_on: bool = False
    labels: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """Two expressions and an operator. `matching` counts only when both are vectors."""

    op: str
    left: Expr
    right: Expr
    returns_bool: bool = False
    matching: Matching = Matching()
    span: Span
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An aggregation over labels."""

    op: str
    expr: Expr
    parameter: Expr | None = None
    grouping: tuple[str, ...] = ()
    is_without: bool = False
    span: Span
    type: str = VECTOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a function."""

    name: str
    args: tuple[Expr, ...]
    span: Span
    type: str


Expr = (
    Number | String | VectorSelector | MatrixSelector | Subquery | Paren | Unary | Binary | Aggregate | Call
)


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions directly inside of an expression."""
    if isinstance(expr, (Subquery, Paren, Unary)):
        return (expr.expr,)
    if isinstance(expr, Binary):
        return (expr.left, expr.right)
    if isinstance(expr, Call):
        return expr.args
    if isinstance(expr, Aggregate):
        return (expr.expr,) if expr.parameter is None else (expr.parameter, expr.expr)
    return (expr.selector,) if isinstance(expr, MatrixSelector) else ()
