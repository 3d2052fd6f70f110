"""The functions of PromQL: their arguments and results.

Source: github.com/prometheus/prometheus promql/parser/functions.go, v0.316.0's names as recorded.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.observability.promql._nodes import MATRIX, SCALAR, STRING, VECTOR


class Signature(NamedTuple):
    """`variadic` is how many of the last argument may be left out or added; -1 for any number."""

    args: tuple[str, ...]
    returns: str = VECTOR
    variadic: int = 0
    is_experimental: bool = False


_OF_VECTOR: Final = [
    "abs",
    "absent",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg",
    "exp",
    "floor",
    "histogram_avg",
    "histogram_count",
    "histogram_sum",
    "histogram_stddev",
    "histogram_stdvar",
    "ln",
    "log10",
    "log2",
    "rad",
    "sgn",
    "sin",
    "sinh",
    "sort",
    "sort_desc",
    "sqrt",
    "tan",
    "tanh",
    "timestamp",
]
_OF_RANGE: Final = [
    "absent_over_time",
    "avg_over_time",
    "changes",
    "count_over_time",
    "delta",
    "deriv",
    "first_over_time",
    "idelta",
    "increase",
    "irate",
    "last_over_time",
    "max_over_time",
    "min_over_time",
    "present_over_time",
    "rate",
    "resets",
    "stddev_over_time",
    "stdvar_over_time",
    "sum_over_time",
]
_EXPERIMENTAL_OF_RANGE: Final = [
    "mad_over_time",
    "ts_of_first_over_time",
    "ts_of_max_over_time",
    "ts_of_min_over_time",
    "ts_of_last_over_time",
]
_OF_TIME: Final = [
    "days_in_month",
    "day_of_month",
    "day_of_week",
    "day_of_year",
    "hour",
    "minute",
    "month",
    "year",
]

FUNCTIONS: Final[dict[str, Signature]] = {
    **{name: Signature((VECTOR,)) for name in _OF_VECTOR},
    **{name: Signature((MATRIX,)) for name in _OF_RANGE},
    **{name: Signature((MATRIX,), is_experimental=True) for name in _EXPERIMENTAL_OF_RANGE},
    **{name: Signature((VECTOR,), variadic=1) for name in _OF_TIME},
    **{name: Signature((), SCALAR, is_experimental=True) for name in ("end", "start", "step", "range")},
    **{name: Signature((SCALAR, SCALAR), SCALAR, is_experimental=True) for name in ("max_of", "min_of")},
    **{
        name: Signature((VECTOR, STRING), variadic=-1, is_experimental=True)
        for name in ("sort_by_label", "sort_by_label_desc")
    },
    "clamp": Signature((VECTOR, SCALAR, SCALAR)),
    "clamp_max": Signature((VECTOR, SCALAR)),
    "clamp_min": Signature((VECTOR, SCALAR)),
    "double_exponential_smoothing": Signature((MATRIX, SCALAR, SCALAR), is_experimental=True),
    "histogram_fraction": Signature((SCALAR, SCALAR, VECTOR)),
    "histogram_quantile": Signature((SCALAR, VECTOR)),
    "histogram_quantiles": Signature((VECTOR, STRING, SCALAR, SCALAR), variadic=9, is_experimental=True),
    "info": Signature((VECTOR, VECTOR), variadic=1, is_experimental=True),
    "label_join": Signature((VECTOR, STRING, STRING, STRING), variadic=-1),
    "label_replace": Signature((VECTOR, STRING, STRING, STRING, STRING)),
    "pi": Signature((), SCALAR),
    "predict_linear": Signature((MATRIX, SCALAR)),
    "quantile_over_time": Signature((SCALAR, MATRIX)),
    "round": Signature((VECTOR, SCALAR), variadic=1),
    "scalar": Signature((VECTOR,), SCALAR),
    "start_timestamp": Signature((VECTOR,), is_experimental=True),
    "time": Signature((), SCALAR),
    "vector": Signature((SCALAR,)),
}
