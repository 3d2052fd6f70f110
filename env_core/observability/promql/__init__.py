"""PromQL: expressions parsed, printed and evaluated as Prometheus 3.16 does.

What it answers is recorded (tests/golden/promql); its grammar and arithmetic are those of github.com/prometheus/prometheus
promql. Native histograms are not simulated: nothing in a simulated cluster exports one.
"""

from env_core.observability.promql._engine import LOOKBACK_MS, Engine, Result
from env_core.observability.promql._errors import EvaluationError, InvalidQuery, ParseError
from env_core.observability.promql._labels import Labels, labels_of, labels_text
from env_core.observability.promql._nodes import Expr, Matcher
from env_core.observability.promql._numbers import api_number, general, plain_number
from env_core.observability.promql._parser import parse, parse_selector
from env_core.observability.promql._printing import pretty
from env_core.observability.promql._series import STALE, Series, Source, StaticSource

__all__ = [
    "LOOKBACK_MS",
    "STALE",
    "Engine",
    "EvaluationError",
    "Expr",
    "InvalidQuery",
    "Labels",
    "Matcher",
    "ParseError",
    "Result",
    "Series",
    "Source",
    "StaticSource",
    "api_number",
    "general",
    "labels_of",
    "labels_text",
    "parse",
    "parse_selector",
    "plain_number",
    "pretty",
]
