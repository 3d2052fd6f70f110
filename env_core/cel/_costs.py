"""What a call costs, in the units of Kubernetes' limits.

Source: k8s.io/apiserver v0.37 pkg/cel/library/cost.go and github.com/google/cel-go v0.29 interpreter/runtimecost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from env_core.cel._declarations import Overload
from env_core.cel._values import Opaque, size

LIST_COST: Final = 10
MAP_COST: Final = 30
MESSAGE_COST: Final = 40
CHECK_COST: Final = 350_000
"""One question to the authorizer."""
_TRAVERSAL: Final = 0.1
_REGEX: Final = 0.25

Args = Sequence[Any]


def scan(length: float) -> int:
    """Return the cost of going through a text of this length once."""
    return math.ceil(length * _TRAVERSAL)


def regex(text_length: int, pattern_length: int) -> int:
    """Return the cost of searching a text with a pattern."""
    return scan(1.0 + text_length) * math.ceil(pattern_length * _REGEX)


def allocated(count: int, factor: float = 1.0) -> int:
    """Return the cost of a call that makes a list."""
    return int(count * factor) + 1 + LIST_COST


def self_compared(items: Sequence[Any]) -> int:
    """Return the cost of comparing all elements with one another, as sorting does."""
    factor = 2.0 + (_TRAVERSAL if items and isinstance(items[0], (str, bytes)) else 0)
    return allocated(len(items) ** 2, factor)


def _traversal(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * _TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * _TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, dict):
        return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1


def _selector(args: Args, _result: Any, _id: str) -> int:
    length = size(args[1])
    return LIST_COST + scan(length) + math.ceil(math.ceil(length * 0.5) * (LIST_COST + MESSAGE_COST))


def _contains_ip(args: Args, _result: Any, id_: str) -> int:
    own = scan(2 * size(args[0]))
    return own + (scan(size(args[1])) if id_ == "cidr_contains_ip_string" else 0)


def _contains_cidr(args: Args, _result: Any, id_: str) -> int:
    own = scan(2 * size(args[0])) + scan(size(args[0])) + 1
    return own + (scan(size(args[1])) if id_ == "cidr_contains_cidr_string" else 0)


def _equality(args: Args, _result: Any, _id: str) -> int:
    return 1 if isinstance(args[0], Opaque) else scan(min(size(args[0]), size(args[1])))


def _unit(_args: Args, _result: Any, _id: str) -> int:
    return 1


def _first_scan(args: Args, _result: Any, _id: str) -> int:
    return scan(size(args[0]))


def _twice(args: Args, _result: Any, _id: str) -> int:
    return scan(2 * size(args[0]))


def _traversed(args: Args, _result: Any, _id: str) -> int:
    return _traversal(args[0])


def _searched(args: Args, _result: Any, _id: str) -> int:
    return regex(size(args[0]), size(args[1]))


_Rule = Callable[[Args, Any, str], int]
_BY_FUNCTION: Final[dict[str, _Rule]] = {
    "check": lambda _args, _result, _id: CHECK_COST,
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _traversed),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _first_scan),
    **dict.fromkeys(("replace", "split"), _twice),
    "join": lambda _args, result, _id: scan(2 * size(result)),
    **dict.fromkeys(("find", "findAll"), _searched),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _first_scan),
    "ip": lambda args, _result, id_: 1 if id_ == "cidr_ip" else scan(size(args[0])),
    "ip.isCanonical": _twice,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _first_scan),
    "_==_": _equality,
    "_!=_": lambda args, _result, _id: scan(min(size(args[0]), size(args[1]))),
}


def _smaller(args: Args, _result: Any, _id: str) -> int:
    return scan(min(size(args[0]), size(args[1])))


_BY_OVERLOAD: Final[dict[str, _Rule]] = {
    **dict.fromkeys(
        (
            "string_to_bytes", "bytes_to_string", "strings_quote", "string_format",
        ),
        _first_scan,
    ),
    # What is looked for counts, not where (tests/golden/promql/cel.jsonl.gz, policy/014).
    **dict.fromkeys(
        ("starts_with_string", "ends_with_string"), lambda args, _result, _id: scan(size(args[1]))
    ),
    "in_list": lambda args, _result, _id: size(args[1]),
    **dict.fromkeys(
        (
            "less_string", "greater_string", "less_equals_string", "greater_equals_string", "less_bytes",
            "greater_bytes", "less_equals_bytes", "greater_equals_bytes",
        ),
        _smaller,
    ),
    **dict.fromkeys(
        ("add_string", "add_bytes"), lambda args, _result, _id: scan(size(args[0]) + size(args[1]))
    ),
    "matches_string": _searched,
    "contains_string": lambda args, _result, _id: scan(size(args[0])) * scan(size(args[1])),
}  # fmt: skip


def call_cost(function: str, overload: Overload | None) -> _Rule:
    """Return the rule for calls of a function; `overload` is None where several may be meant."""
    if overload is not None and overload.cost is not None:
        own = overload.cost
        return lambda args, result, _id: own(args, result)
    rule = _BY_FUNCTION.get(function)
    if rule is None and overload is not None:
        rule = _BY_OVERLOAD.get(overload.id)
    return rule or _unit
