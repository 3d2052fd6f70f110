"""The functions that awk has built in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from env_core.shell._awk.formatting import formatted
from env_core.shell._awk.lexer import AwkProblem
from env_core.shell._awk.nodes import Element, Expr, Field, Name, Number
from env_core.shell._awk.values import Value, to_number, to_string
from env_core.shell._clock import formatted_time

if TYPE_CHECKING:
    from env_core.shell._awk.interpreter import Interpreter

Arguments = tuple[Expr, ...]


def _text(interpreter: Interpreter, arguments: Arguments, index: int) -> str:
    if index >= len(arguments):
        raise AwkProblem("not enough arguments", "syntax")
    return to_string(interpreter.value(arguments[index]), interpreter.template())


def _number(interpreter: Interpreter, arguments: Arguments, index: int) -> float:
    if index >= len(arguments):
        raise AwkProblem("not enough arguments", "syntax")
    return to_number(interpreter.value(arguments[index]))


def _length(interpreter: Interpreter, arguments: Arguments) -> Value:
    if not arguments:
        return float(len(to_string(interpreter.field(0))))
    if isinstance(arguments[0], Name):
        name = arguments[0].name
        if isinstance(interpreter.cell(name), dict):
            return float(len(interpreter.array(name)))
    return float(len(_text(interpreter, arguments, 0)))


def _substr(interpreter: Interpreter, arguments: Arguments) -> Value:
    text = _text(interpreter, arguments, 0)
    start = _number(interpreter, arguments, 1)
    length = _number(interpreter, arguments, 2) if len(arguments) > 2 else math.inf
    if math.isnan(start) or math.isnan(length):
        return ""
    first = _rounded(start)
    last = first + _rounded(length)
    begin, end = max(first, 1), min(last, len(text) + 1)
    return text[int(begin) - 1 : int(end) - 1] if end > begin else ""


def _rounded(number: float) -> float:
    return number if math.isinf(number) else float(math.floor(number + 0.5))


def _index(interpreter: Interpreter, arguments: Arguments) -> Value:
    return float(_text(interpreter, arguments, 0).find(_text(interpreter, arguments, 1)) + 1)


def _split(interpreter: Interpreter, arguments: Arguments) -> Value:
    text = _text(interpreter, arguments, 0)
    if len(arguments) < 2 or not isinstance(arguments[1], Name):
        raise AwkProblem("split needs an array", "syntax")
    separator = to_string(interpreter.scalar("FS"))
    if len(arguments) > 2:
        given = arguments[2]
        separator = given.source if hasattr(given, "source") else _text(interpreter, arguments, 2)
    interpreter.steps_left -= len(text) >> 2
    pieces = interpreter.split_text(text, separator)
    array = interpreter.array(arguments[1].name)
    array.clear()
    array.update((str(index), piece) for index, piece in enumerate(pieces, start=1))
    return float(len(pieces))


def _sub(interpreter: Interpreter, arguments: Arguments) -> Value:
    return _substitute(interpreter, arguments, is_global=False)


def _gsub(interpreter: Interpreter, arguments: Arguments) -> Value:
    return _substitute(interpreter, arguments, is_global=True)


def _substitute(interpreter: Interpreter, arguments: Arguments, *, is_global: bool) -> Value:
    if len(arguments) < 2:
        raise AwkProblem("not enough arguments", "syntax")
    expression = interpreter.matcher(arguments[0])
    replacement = _text(interpreter, arguments, 1)
    target: Expr = arguments[2] if len(arguments) > 2 else Field(Number(0.0))
    text = to_string(interpreter.value(target), interpreter.template())
    interpreter.steps_left -= len(text) >> 2
    expression.search(text, 0, interpreter.process.work)
    found, count = expression.regex.subn(
        lambda match: _replacement(replacement, match.group()), text, 0 if is_global else 1
    )
    if count and isinstance(target, Name | Field | Element):
        interpreter.assign(target, found)
    return float(count)


def _replacement(template: str, matched: str) -> str:
    if "&" not in template and "\\" not in template:
        return template
    return re.sub(
        r"\\\\|\\&|&", lambda found: {"\\\\": "\\", "\\&": "&"}.get(found.group(), matched), template
    )


def _gensub(interpreter: Interpreter, arguments: Arguments) -> Value:
    expression = interpreter.matcher(arguments[0])
    template, how = _text(interpreter, arguments, 1), _text(interpreter, arguments, 2)
    text = _text(interpreter, arguments, 3) if len(arguments) > 3 else to_string(interpreter.field(0))
    interpreter.steps_left -= len(text) >> 2
    expression.search(text, 0, interpreter.process.work)
    wanted = 0 if how[:1] in ("g", "G") else max(int(to_number(how)), 1)
    seen = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        if wanted and seen != wanted:
            return match.group()
        return re.sub(r"\\(\d|\\|&)|&", lambda found: _group(match, found.group(1)), template)

    return expression.regex.sub(replaced, text)


def _group(match: re.Match[str], code: str | None) -> str:
    if code is None:
        return match.group()
    if not code.isdecimal():
        return code
    number = int(code)
    return (match.group(number) or "") if number <= (match.re.groups or 0) else ""


def _match(interpreter: Interpreter, arguments: Arguments) -> Value:
    text = _text(interpreter, arguments, 0)
    found = (
        interpreter.matcher(arguments[1]).search(text, 0, interpreter.process.work)
        if len(arguments) > 1
        else None
    )
    start = float(found.start() + 1) if found is not None else 0.0
    interpreter.globals["RSTART"] = start
    interpreter.globals["RLENGTH"] = float(found.end() - found.start()) if found is not None else -1.0
    if len(arguments) > 2 and isinstance(arguments[2], Name):
        array = interpreter.array(arguments[2].name)
        array.clear()
        if found is not None:
            array["0"] = found.group()
            array.update((str(index), group or "") for index, group in enumerate(found.groups(), start=1))
    return start


def _sprintf(interpreter: Interpreter, arguments: Arguments) -> Value:
    template = _text(interpreter, arguments, 0)
    return formatted(template, [interpreter.value(each) for each in arguments[1:]], interpreter.template())


def _mathematical(function: Callable[[float], float]) -> Callable[[Interpreter, Arguments], Value]:
    def call(interpreter: Interpreter, arguments: Arguments) -> Value:
        try:
            return float(function(_number(interpreter, arguments, 0)))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def _integer(number: float) -> float:
    return float(math.trunc(number)) if math.isfinite(number) else number


def _logarithm(number: float) -> float:
    return -math.inf if number == 0 else math.log(number)


def _atan2(interpreter: Interpreter, arguments: Arguments) -> Value:
    return math.atan2(_number(interpreter, arguments, 0), _number(interpreter, arguments, 1))


def _rand(interpreter: Interpreter, arguments: Arguments) -> Value:
    interpreter.seed = (interpreter.seed * 1103515245 + 12345) % 2**31
    return interpreter.seed / 2**31


def _srand(interpreter: Interpreter, arguments: Arguments) -> Value:
    before = float(interpreter.seed)
    number = _number(interpreter, arguments, 0) if arguments else interpreter.process.now_ms() / 1000
    interpreter.seed = int(number) if math.isfinite(number) else 0
    return before


def _system(interpreter: Interpreter, arguments: Arguments) -> Value:
    output = interpreter.process.start(["sh", "-c", _text(interpreter, arguments, 0)])
    if output is None:
        return 127.0
    interpreter.printer.emit(output.stdout)
    interpreter.printer.messages.append(output.stderr)
    return float(output.exit_code)


def _close(interpreter: Interpreter, arguments: Arguments) -> Value:
    return interpreter.printer.close(_text(interpreter, arguments, 0))


def _fflush(interpreter: Interpreter, arguments: Arguments) -> Value:
    return 0.0


def _systime(interpreter: Interpreter, arguments: Arguments) -> Value:
    return float(interpreter.process.now_ms() // 1000)


def _strftime(interpreter: Interpreter, arguments: Arguments) -> Value:
    template = _text(interpreter, arguments, 0) if arguments else "%c"
    at_ms = interpreter.process.now_ms()
    if len(arguments) > 1:
        seconds = _number(interpreter, arguments, 1)
        at_ms = int(seconds * 1000) if abs(seconds) < 1e14 else 0
    return formatted_time(at_ms, template)


def _lower(interpreter: Interpreter, arguments: Arguments) -> Value:
    return _text(interpreter, arguments, 0).lower()


def _upper(interpreter: Interpreter, arguments: Arguments) -> Value:
    return _text(interpreter, arguments, 0).upper()


FUNCTIONS: Final[dict[str, Callable[[Interpreter, Arguments], Value]]] = {
    "length": _length,
    "substr": _substr,
    "index": _index,
    "split": _split,
    "sub": _sub,
    "gsub": _gsub,
    "gensub": _gensub,
    "match": _match,
    "sprintf": _sprintf,
    "sin": _mathematical(math.sin),
    "cos": _mathematical(math.cos),
    "atan2": _atan2,
    "exp": _mathematical(math.exp),
    "log": _mathematical(_logarithm),
    "sqrt": _mathematical(math.sqrt),
    "int": _mathematical(_integer),
    "rand": _rand,
    "srand": _srand,
    "tolower": _lower,
    "toupper": _upper,
    "system": _system,
    "close": _close,
    "fflush": _fflush,
    "systime": _systime,
    "strftime": _strftime,
}
