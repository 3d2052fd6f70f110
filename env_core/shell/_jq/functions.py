"""Functions of jq whose arguments are values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from env_core.shell._jq.moments import TIME_FUNCTIONS
from env_core.shell._jq.numbers import NUMBER_FUNCTIONS
from env_core.shell._jq.operators import add, split
from env_core.shell._jq.paths import delete_paths, index, positions, set_path
from env_core.shell._jq.reader import ReadProblem, read_one
from env_core.shell._jq.scope import Halt
from env_core.shell._jq.values import (
    JqError,
    Json,
    compact,
    equal,
    is_number,
    is_true,
    kind,
    order_key,
    typed,
)

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator

Function = Callable[..., Json]


def _length(jq: Evaluator, value: Json) -> Json:
    if value is None:
        return 0
    if isinstance(value, str | list | dict):
        return len(value)
    if is_number(value):
        return abs(value)
    raise JqError(f"{typed(value)} has no length")


def _utf8_length(jq: Evaluator, value: Json) -> Json:
    if not isinstance(value, str):
        raise JqError(f"{typed(value)} only strings have UTF-8 byte length")
    return len(value.encode("utf-8", "replace"))


def _keys(jq: Evaluator, value: Json) -> Json:
    if isinstance(value, dict):
        return sorted(value)
    if isinstance(value, list):
        return list(range(len(value)))
    raise JqError(f"{typed(value)} has no keys")


def _keys_unsorted(jq: Evaluator, value: Json) -> Json:
    return list(value) if isinstance(value, dict) else _keys(jq, value)


def has(jq: Evaluator, value: Json, key: Json) -> Json:
    """Tell whether an object has a key, or an array an index."""
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and is_number(key):
        return 0 <= key < len(value)
    raise JqError(
        f"Cannot check whether {kind(value)} has a {'string' if isinstance(key, str) else kind(key)} key"
    )


def contains(jq: Evaluator, value: Json, part: Json) -> Json:
    """Tell whether `part` is inside `value`, deeply."""
    if kind(value) != kind(part):
        raise JqError(f"{typed(value)} and {typed(part)} cannot have their containment checked")
    return _contains(value, part)


def _contains(value: Json, part: Json) -> bool:
    if kind(value) != kind(part):
        return False
    if isinstance(value, dict):
        return all(key in value and _contains(value[key], item) for key, item in part.items())
    if isinstance(value, list):
        return all(any(_contains(each, item) for each in value) for item in part)
    if isinstance(value, str):
        return part in value
    return equal(value, part)


def _add(jq: Evaluator, value: Json) -> Json:
    items = [item for item, _ in jq.items(value, None)]
    if items and all(isinstance(item, str) for item in items):
        return "".join(items)
    if items and all(isinstance(item, list) for item in items):
        return [each for item in items for each in item]
    total: Json = None
    for item in items:
        total = add(total, item)
    return total


def _sort(jq: Evaluator, value: Json) -> Json:
    return sorted(_array(value, "cannot be sorted, as it is not an array"), key=order_key)


def _array(value: Json, text: str) -> list[Json]:
    if not isinstance(value, list):
        raise JqError(f"{typed(value)} {text}")
    return value


def _unique(jq: Evaluator, value: Json) -> Json:
    out: list[Json] = []
    for item in _sort(jq, value):
        if not out or not equal(out[-1], item):
            out.append(item)
    return out


def _min(jq: Evaluator, value: Json) -> Json:
    items = _array(value, "cannot be iterated over")
    return min(items, key=order_key) if items else None


def _max(jq: Evaluator, value: Json) -> Json:
    items = _array(value, "cannot be iterated over")
    # Of equal ones the last counts.
    return max(reversed(items), key=order_key) if items else None


def _reverse(jq: Evaluator, value: Json) -> Json:
    if isinstance(value, str):
        if not value:
            return []
        raise JqError("Cannot index string with number")
    if value is None:
        return []
    if not isinstance(value, list):
        raise JqError(f"Cannot index {kind(value)} with number")
    return value[::-1]


def _flatten(jq: Evaluator, value: Json, depth: Json = math.inf) -> Json:
    if is_number(depth) and depth < 0:
        raise JqError("flatten depth must not be negative")
    out: list[Json] = []
    for item, _ in jq.items(value, None):
        if isinstance(item, list) and depth != 0:
            out += _flatten(jq, item, depth - 1)
        else:
            out.append(item)
    return out


def _tostring(jq: Evaluator, value: Json) -> Json:
    return value if isinstance(value, str) else compact(value)


def _tonumber(jq: Evaluator, value: Json) -> Json:
    if is_number(value):
        return value
    if not isinstance(value, str):
        raise JqError(f"{typed(value)} cannot be parsed as a number")
    found = _fromjson(jq, value)
    if not is_number(found):
        raise JqError(f"{typed(value)} cannot be parsed as a number")
    return found


def _fromjson(jq: Evaluator, value: Json) -> Json:
    if not isinstance(value, str):
        raise JqError(f"{typed(value)} only strings can be parsed")
    try:
        return read_one(value)
    except ReadProblem as problem:
        raise JqError(problem.text) from None


def _startswith(jq: Evaluator, value: Json, prefix: Json) -> Json:
    if not (isinstance(value, str) and isinstance(prefix, str)):
        raise JqError("startswith() requires string inputs")
    return value.startswith(prefix)


def _endswith(jq: Evaluator, value: Json, suffix: Json) -> Json:
    if not (isinstance(value, str) and isinstance(suffix, str)):
        raise JqError("endswith() requires string inputs")
    return value.endswith(suffix)


def _ltrimstr(jq: Evaluator, value: Json, prefix: Json) -> Json:
    both = isinstance(value, str) and isinstance(prefix, str)
    return value.removeprefix(prefix) if both else value


def _rtrimstr(jq: Evaluator, value: Json, suffix: Json) -> Json:
    both = isinstance(value, str) and isinstance(suffix, str)
    return value.removesuffix(suffix) if both else value


def _explode(jq: Evaluator, value: Json) -> Json:
    if not isinstance(value, str):
        raise JqError("explode input must be a string")
    return [ord(char) for char in value]


def _implode(jq: Evaluator, value: Json) -> Json:
    if not isinstance(value, list):
        raise JqError("implode input must be an array")
    if not all(is_number(code) and 0 <= code <= 0x10FFFF for code in value):
        raise JqError("implode input must be an array of codepoints")
    return "".join("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(int(code)) for code in value)


def _lower(jq: Evaluator, value: Json) -> Json:
    _explode(jq, value)
    return "".join(char.lower() if char.isascii() else char for char in value)


def _upper(jq: Evaluator, value: Json) -> Json:
    _explode(jq, value)
    return "".join(char.upper() if char.isascii() else char for char in value)


def _split(jq: Evaluator, value: Json, separator: Json) -> Json:
    if not (isinstance(value, str) and isinstance(separator, str)):
        raise JqError("split input and separator must be strings")
    return split(value, separator)


def _join(jq: Evaluator, value: Json, separator: Json) -> Json:
    joined: Json = None
    for item, _ in jq.items(value, None):
        if isinstance(item, bool) or is_number(item):
            item = compact(item)
        joined = add("" if joined is None else add(joined, separator), item if is_true(item) else "")
    return joined if is_true(joined) else ""


def _indices(jq: Evaluator, value: Json, wanted: Json) -> Json:
    if value is None:
        return None
    if isinstance(value, str) and isinstance(wanted, str):
        if not wanted:
            return None
        return [
            len(value[: found.start()].encode("utf-8", "replace"))
            for found in re.finditer(f"(?={re.escape(wanted)})", value)
        ]
    if isinstance(value, list):
        return positions(value, wanted if isinstance(wanted, list) else [wanted])
    raise JqError(f"Cannot index {kind(value)} with {kind(wanted)}")


def _index(jq: Evaluator, value: Json, wanted: Json) -> Json:
    found = _indices(jq, value, wanted)
    return found[0] if found else None


def _rindex(jq: Evaluator, value: Json, wanted: Json) -> Json:
    found = _indices(jq, value, wanted)
    return found[-1] if found else None


def _transpose(jq: Evaluator, value: Json) -> Json:
    rows = _array(value, "cannot be transposed")
    width = max((len(_array(row, "cannot be transposed")) for row in rows), default=0)
    return [[row[column] if column < len(row) else None for row in rows] for column in range(width)]


def _tojson(jq: Evaluator, value: Json) -> Json:
    return compact(value)


def _setpath(jq: Evaluator, value: Json, path: Json, new: Json) -> Json:
    return set_path(value, path, new)


def _delpaths(jq: Evaluator, value: Json, paths: Json) -> Json:
    return delete_paths(value, paths)


def _environment(jq: Evaluator, value: Json) -> Json:
    return dict(jq.process.env)


def _halt_error(jq: Evaluator, value: Json, status: Json = 5) -> Json:
    if not is_number(status):
        raise JqError("halt_error/1: number required")
    raise Halt(value, int(status), is_error=True)


def _halt(jq: Evaluator, value: Json) -> Json:
    raise Halt(None, 0, is_error=False)


def _bsearch(jq: Evaluator, value: Json, target: Json) -> Json:
    keys = [order_key(item) for item in _array(value, "cannot be searched")]
    wanted = order_key(target)
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == wanted else -1 - low


def _nth(jq: Evaluator, value: Json, number: Json) -> Json:
    return index(value, number)


FUNCTIONS: Final[dict[tuple[str, int], Function]] = {
    ("not", 0): lambda jq, value: not is_true(value),
    ("length", 0): _length,
    ("utf8bytelength", 0): _utf8_length,
    ("keys", 0): _keys,
    ("keys_unsorted", 0): _keys_unsorted,
    ("has", 1): has,
    ("contains", 1): contains,
    ("add", 0): _add,
    ("sort", 0): _sort,
    ("unique", 0): _unique,
    ("min", 0): _min,
    ("max", 0): _max,
    ("reverse", 0): _reverse,
    ("flatten", 0): _flatten,
    ("flatten", 1): _flatten,
    ("tostring", 0): _tostring,
    ("tonumber", 0): _tonumber,
    ("type", 0): lambda jq, value: kind(value),
    ("tojson", 0): _tojson,
    ("fromjson", 0): _fromjson,
    ("startswith", 1): _startswith,
    ("endswith", 1): _endswith,
    ("ltrimstr", 1): _ltrimstr,
    ("rtrimstr", 1): _rtrimstr,
    ("explode", 0): _explode,
    ("implode", 0): _implode,
    ("ascii_downcase", 0): _lower,
    ("ascii_upcase", 0): _upper,
    ("split", 1): _split,
    ("join", 1): _join,
    ("indices", 1): _indices,
    ("index", 1): _index,
    ("rindex", 1): _rindex,
    ("transpose", 0): _transpose,
    ("setpath", 2): _setpath,
    ("delpaths", 1): _delpaths,
    ("env", 0): _environment,
    ("halt", 0): _halt,
    ("halt_error", 0): _halt_error,
    ("halt_error", 1): _halt_error,
    ("bsearch", 1): _bsearch,
    ("first", 0): lambda jq, value: _nth(jq, value, 0),
    ("last", 0): lambda jq, value: _nth(jq, value, -1),
    ("nth", 1): _nth,
    ("input_filename", 0): lambda jq, value: jq.filename,
    ("input_line_number", 0): lambda jq, value: 0,
    **NUMBER_FUNCTIONS,
    **TIME_FUNCTIONS,
}
