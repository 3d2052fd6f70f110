"""Kubernetes' IntOrString: a count, or a percentage of a total."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

from env_core.objects.problems import quoted

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64_MAX: Final = 2**63 - 1
_INT32_MAX: Final = 2**31 - 1


class IntOrPercentError(ValueError):
    """The value is neither a number nor a percentage; the message is Kubernetes' own."""


def parse_int_or_string(text: str) -> int | str:
    """Return `text` as the IntOrString that a command-line value becomes: a number where it is one.

    Source: k8s.io/apimachinery pkg/util/intstr Parse; tests/golden/l0/int_or_percent.
    """
    if _INTEGER.fullmatch(text) is None:
        return text
    number = int(text)
    return number if -_INT32_MAX - 1 <= number <= _INT32_MAX else text


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
    reason = ""
    if _INTEGER.fullmatch(digits) is None:
        reason = "invalid syntax"
    elif not -_INT64_MAX - 1 <= int(digits) <= _INT64_MAX:
        reason = "value out of range"
    if reason:
        raise IntOrPercentError(
            f"invalid value for IntOrString: invalid value {quoted(text)}: "
            f"strconv.Atoi: parsing {quoted(digits)}: {reason}"
        )
    return int(digits)
