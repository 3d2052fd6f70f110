"""printf of awk."""

from __future__ import annotations

import math
import re
from typing import Final

from env_core.shell._awk.lexer import AwkProblem
from env_core.shell._awk.values import Value, to_number, to_string
from env_core.shell._format import float_text, integer_text

_DIRECTIVE: Final = re.compile(r"%(?:(%)|([-+ #0]*)(\*|\d{1,6})?(\.(?:\*|\d{1,6})?)?[hlL]*([a-zA-Z]))")


def formatted(template: str, values: list[Value], convfmt: str) -> str:
    """Return what printf or sprintf gives."""
    left = list(values)

    def take() -> Value:
        if not left:
            raise AwkProblem(f'run time error: not enough arguments passed to sprintf("{template}")')
        return left.pop(0)

    def replaced(found: re.Match[str]) -> str:
        percent, flags, width, precision, kind = found.groups()
        if percent:
            return "%"
        columns = str(int(to_number(take()))) if width == "*" else width
        places = None if precision is None else precision[1:] or "0"
        if places == "*":
            places = str(max(int(to_number(take())), 0))
        value = take()
        if kind in "diouxX":
            number = to_number(value)
            whole = int(number) if math.isfinite(number) else 0
            return integer_text(whole, flags, columns, places, kind)
        if kind in "eEfFgG":
            return float_text(to_number(value), flags, columns, places, kind)
        if kind == "c":
            text = chr(int(value) & 0x10FFFF) if isinstance(value, float) else value[:1]
            if 0xD800 <= ord(text or " ") <= 0xDFFF:
                text = "\ufffd"
        else:
            text = to_string(value, convfmt)
            text = text if places is None else text[: int(places)]
        size = min(int(columns or 0), 10_000)
        return text.ljust(abs(size)) if "-" in flags or size < 0 else text.rjust(size)

    return _DIRECTIVE.sub(replaced, template)
