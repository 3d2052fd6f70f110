"""Arithmetic functions of jq."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from env_core.shell._jq.values import JqError, Json, is_number, typed

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator

Function = Callable[..., Json]


def _numeric(function: Callable[[float], float]) -> Function:
    def call(jq: Evaluator, value: Json) -> Json:
        if not is_number(value):
            raise JqError(f"{typed(value)} number required")
        return _safe(function, value)

    return call


def _numeric_two(function: Callable[[float, float], float]) -> Function:
    def call(jq: Evaluator, value: Json, left: Json, right: Json) -> Json:
        for each in (left, right):
            if not is_number(each):
                raise JqError(f"{typed(each)} number required")
        return _safe(lambda one: function(one, right), left)

    return call


def _safe(function: Callable[[float], float], value: float) -> float:
    try:
        found = function(value)
    except OverflowError:
        return value if math.isinf(value) else math.inf
    except ValueError:
        return math.nan
    is_whole = isinstance(found, float) and math.isfinite(found) and found.is_integer() and abs(found) < 2**53
    return int(found) if is_whole else found


def _logarithm(base: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: -math.inf if value == 0 else base(value)


def _rounded(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value)


NUMBER_FUNCTIONS: Final[dict[tuple[str, int], Function]] = {
    ("infinite", 0): lambda jq, value: math.inf,
    ("nan", 0): lambda jq, value: math.nan,
    ("isinfinite", 0): _numeric(math.isinf),
    ("isnan", 0): _numeric(math.isnan),
    ("isnormal", 0): _numeric(lambda value: math.isfinite(value) and value != 0),
    ("isfinite", 0): lambda jq, value: is_number(value) and not math.isinf(value),
    ("floor", 0): _numeric(math.floor),
    ("ceil", 0): _numeric(math.ceil),
    ("round", 0): _numeric(_rounded),
    ("trunc", 0): _numeric(math.trunc),
    ("fabs", 0): _numeric(abs),
    ("sqrt", 0): _numeric(math.sqrt),
    ("exp", 0): _numeric(math.exp),
    ("exp2", 0): _numeric(lambda value: 2.0**value),
    ("exp10", 0): _numeric(lambda value: 10.0**value),
    ("log", 0): _numeric(_logarithm(math.log)),
    ("log2", 0): _numeric(_logarithm(math.log2)),
    ("log10", 0): _numeric(_logarithm(math.log10)),
    ("pow", 2): _numeric_two(math.pow),
    ("fmin", 2): _numeric_two(min),
    ("fmax", 2): _numeric_two(max),
}
