"""`int(…)`, `string(…)` and the other conversions.

Source: github.com/google/cel-go v0.29 common/stdlib/standard.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from env_core.cel import _conversions as to
from env_core.cel._declarations import Function, Library, overload
from env_core.cel._types import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, Type


def _conversion(result: Type, run: Callable[[Any], Any], *sources: tuple[str, Type]) -> Function:
    return Function(tuple(overload(id_, (source,), result, run) for id_, source in sources))


LIBRARY = Library(
    order=1,
    functions={
        "bool": _conversion(BOOL, to.to_bool, ("bool_to_bool", BOOL), ("string_to_bool", STRING)),
        "bytes": _conversion(BYTES, to.to_bytes, ("bytes_to_bytes", BYTES), ("string_to_bytes", STRING)),
        "double": _conversion(
            DOUBLE, to.to_double, ("double_to_double", DOUBLE), ("int64_to_double", INT),
            ("string_to_double", STRING), ("uint64_to_double", UINT),
        ),
        "duration": _conversion(
            DURATION, to.to_duration, ("duration_to_duration", DURATION), ("string_to_duration", STRING)
        ),
        "int": _conversion(
            INT, to.to_int, ("int64_to_int64", INT), ("double_to_int64", DOUBLE), ("duration_to_int64", DURATION),
            ("string_to_int64", STRING), ("timestamp_to_int64", TIMESTAMP), ("uint64_to_int64", UINT),
        ),
        "string": _conversion(
            STRING, to.to_string, ("string_to_string", STRING), ("bool_to_string", BOOL),
            ("bytes_to_string", BYTES), ("double_to_string", DOUBLE), ("duration_to_string", DURATION),
            ("int64_to_string", INT), ("timestamp_to_string", TIMESTAMP), ("uint64_to_string", UINT),
        ),
        "timestamp": _conversion(
            TIMESTAMP, to.to_timestamp, ("timestamp_to_timestamp", TIMESTAMP), ("int64_to_timestamp", INT),
            ("string_to_timestamp", STRING),
        ),
        "uint": _conversion(
            UINT, to.to_uint, ("uint64_to_uint64", UINT), ("double_to_uint64", DOUBLE), ("int64_to_uint64", INT),
            ("string_to_uint64", STRING),
        ),
    },
    source="github.com/google/cel-go v0.29 common/stdlib/standard.go",
)  # fmt: skip
