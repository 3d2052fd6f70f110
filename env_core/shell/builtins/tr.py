"""tr: translates, squeezes or deletes characters."""

from __future__ import annotations

import re

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_CLASSES = {
    "alpha": "A-Za-z", "digit": "0-9", "alnum": "0-9A-Za-z", "upper": "A-Z", "lower": "a-z",
    "space": "\t-\r ", "blank": "\t ", "punct": "!-/:-@[-`{-~", "xdigit": "0-9A-Fa-f", "cntrl": "\0-\x1f\x7f",
    "print": " -~", "graph": "!-~",
}  # fmt: skip
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
}
_TOKEN = re.compile(r"\[:(\w+):\]|\[(.)\*(\d*)\]|\\([0-7]{1,3})|\\(.)|(.)", re.DOTALL)
_LONG = {"complement": "c", "delete": "d", "squeeze-repeats": "s", "truncate-set1": "t"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "cCdst", _LONG, permutes=False)
        sets = options.operands
        _check(sets, deletes=options.has("d"), squeezes=options.has("s"))
        first = _expanded(sets[0])
        second = _expanded(sets[1], len(first)) if len(sets) > 1 else ""
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    text = process.stdin
    complements = options.has("cC")
    chosen = set(first)

    def is_in(char: str) -> bool:
        return (char in chosen) != complements

    squeezed = set(second or first)
    if options.has("d"):
        text = "".join(char for char in text if not is_in(char))
    elif second:
        if complements:
            text = "".join(second[-1] if is_in(char) else char for char in text)
        else:
            if options.has("t"):
                first = first[: len(second)]
            padded = second + second[-1] * max(len(first) - len(second), 0)
            text = text.translate(
                {ord(char): padded[index] for index, char in reversed(list(enumerate(first)))}
            )
    if options.has("s"):
        by_complement = complements and not second
        text = re.sub(
            r"(.)\1+",
            lambda run: run.group(1) if (run.group(1) in squeezed) != by_complement else run.group(),
            text,
            flags=re.DOTALL,
        )
    return Output(text)


def _check(sets: list[str], *, deletes: bool, squeezes: bool) -> None:
    if not sets:
        raise UsageProblem("missing operand")
    if len(sets) == 1 and not deletes and not squeezes:
        raise UsageProblem(f"missing operand after '{sets[0]}'\nTwo strings must be given when translating.")
    if deletes and not squeezes and len(sets) > 1:
        raise UsageProblem(
            f"extra operand '{sets[1]}'\nOnly one string may be given when deleting without squeezing repeats."
        )
    if len(sets) > 2:
        raise UsageProblem(f"extra operand '{sets[2]}'")


def _expanded(text: str, fill: int = 0) -> str:
    """Return the characters of a set; `[c*]` fills up to `fill` characters."""
    out: list[str] = []
    escaped: list[bool] = []
    for token in _TOKEN.finditer(text):
        name, repeated, count, octal, escape, char = token.groups()
        if name:
            if name not in _CLASSES:
                raise UsageProblem(f"invalid character class '{name}'", has_hint=False)
            body = _span(list(_CLASSES[name]), [False] * len(_CLASSES[name]))
            out += body
            escaped += [True] * len(body)
        elif repeated is not None:
            times = int(count[:6], 8 if count.startswith("0") else 10) if count else max(fill - len(out), 0)
            out += [repeated] * min(times, 100_000)
            escaped += [True] * min(times, 100_000)
        elif octal or escape is not None:
            out.append(chr(int(octal, 8) & 0xFF) if octal else _ESCAPES.get(escape, escape))
            escaped.append(True)
        else:
            out.append(char)
            escaped.append(False)
    return "".join(_span(out, escaped))


def _span(chars: list[str], escaped: list[bool]) -> list[str]:
    """Expand ranges such as a-z."""
    out: list[str] = []
    index = 0
    while index < len(chars):
        if index + 2 < len(chars) and chars[index + 1] == "-" and not escaped[index + 1]:
            low, high = ord(chars[index]), ord(chars[index + 2])
            if low > high:
                shown = f"{chars[index]}-{chars[index + 2]}"
                raise UsageProblem(
                    f"range-endpoints of '{shown}' are in reverse collating sequence order", has_hint=False
                )
            out += [chr(code) for code in range(low, high + 1)]
            index += 3
        else:
            out.append(chars[index])
            index += 1
    return out


BUILTIN = Builtin(name="tr", run=_run, source="GNU coreutils 9.1 tr; tests/golden/programs/shell 126, 127")
