"""Kubernetes' IntOrString: a count, or a percentage of a total."""

from __future__ import annotations

import math
from functools import lru_cache

from env_core.objects.goint import INT32_MAX, IntegerError, atoi
from env_core.objects.problems import quoted


class IntOrPercentError(ValueError):
    """The value is neither a number nor a percentage; the message is Kubernetes' own."""


def parse_int_or_string(text: str) -> int | str:
    """Return `text` as the IntOrString that a command-line value becomes: a number where it is one.

    Source: k8s.io/apimachinery pkg/util/intstr Parse; tests/golden/l0/int_or_percent.
    """
    try:
        number = atoi(text)
    except IntegerError:
        return text
    return number if -INT32_MAX - 1 <= number <= INT32_MAX else text


def scaled_value(value: int | str, total: int, round_up: bool) -> int:
    """Return `value` itself, or that percentage of `total`, rounded up or down.

    Source: intstr GetScaledValueFromIntOrPercent; tests/golden/l0/int_or_percent.

    Raises:
        IntOrPercentError: with Kubernetes' text, if a string is no whole percentage.
    """
    if isinstance(value, int):
        return value
    share = _percent(value) * float(total) / 100
    return math.ceil(share) if round_up else math.floor(share)


@lru_cache(maxsize=1024)
def _percent(text: str) -> int:
    if not text.endswith("%"):
        raise IntOrPercentError("invalid value for IntOrString: invalid type: string is not a percentage")
    digits = text.removesuffix("%")
    try:
        return atoi(digits)
    except IntegerError as error:
        text = f"invalid value for IntOrString: invalid value {quoted(text)}: {error}"
        raise IntOrPercentError(text) from None
