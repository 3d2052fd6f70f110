"""The words of PromQL, by class, and how errors name them.

Source: github.com/prometheus/prometheus promql/parser/lex.go; texts recorded in tests/golden/promql.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.observability.promql._numbers import quote

EOF: Final = "end of input"
ERROR: Final = "error"
IDENTIFIER: Final = "identifier"
METRIC_IDENTIFIER: Final = "metric identifier"
STRING: Final = "string"
NUMBER: Final = "number"
DURATION: Final = "duration"

OPERATOR_WORDS: Final = frozenset(("and", "or", "unless", "atan2"))
AGGREGATORS: Final = frozenset(
    [
        "sum",
        "avg",
        "count",
        "min",
        "max",
        "group",
        "stddev",
        "stdvar",
        "topk",
        "bottomk",
        "count_values",
        "quantile",
        "limitk",
        "limit_ratio",
    ]
)
KEYWORDS: Final = frozenset(
    [
        "offset",
        "smoothed",
        "anchored",
        "by",
        "without",
        "on",
        "ignoring",
        "group_left",
        "group_right",
        "fill",
        "fill_left",
        "fill_right",
        "bool",
    ]
)
PREPROCESSORS: Final = frozenset(("start", "end", "step", "range", "max_of", "min_of"))
WORDS: Final = OPERATOR_WORDS | AGGREGATORS | KEYWORDS | PREPROCESSORS
DURATION_WORDS: Final = frozenset(("step", "range", "max_of", "min_of"))
_OPERATORS: Final = (
    frozenset(["-", "+", "*", "%", "/", "==", "!=", "<=", "<", ">=", ">", "</", ">/", "=~", "!~", "^", "@"])
    | OPERATOR_WORDS
)
_CLASSES: Final = frozenset((EOF, ERROR, IDENTIFIER, METRIC_IDENTIFIER, STRING, NUMBER, DURATION))


class Token(NamedTuple):
    """A word. `kind` is one of the classes above, or the word's own canonical text ("by", "(", "==")."""

    kind: str
    position: int
    text: str

    @property
    def end(self) -> int:
        """The position after it."""
        return self.position + len(self.text)

    def described(self) -> str:
        """Return how an error names the word."""
        if self.kind == EOF:
            return EOF
        if self.kind in _CLASSES:
            return f"{self.kind} {self._shown()}"
        return self._shown()

    def _shown(self) -> str:
        if self.kind in (IDENTIFIER, METRIC_IDENTIFIER):
            return quote(self.text)
        if self.kind in KEYWORDS:
            return f"<{self.text}>"
        if self.kind in _OPERATORS:
            return f"<op:{self.text}>"
        if self.kind in AGGREGATORS:
            return f"<aggr:{self.text}>"
        return f"{quote(self.text[:10])}..." if len(self.text) > 10 else quote(self.text)
