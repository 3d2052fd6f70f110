"""base64: encodes and decodes."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode

from env_core.shell._inputs import read_inputs
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {"decode": "d", "wrap=": "w", "ignore-garbage": "i"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "dDw:i", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    wrap = options.value("w", "76")
    if not wrap.isdecimal():
        return Output("", f"base64: invalid wrap size: '{wrap}'\n", 1)
    texts, problems = read_inputs(
        process,
        options.operands[:1],
        "base64: {name}: {reason}" if process.is_busybox else "base64: {quoted}: {reason}",
    )
    if problems:
        return Output("", problems, 1)
    text = texts[0][1]
    if options.has("dD"):
        return _decoded(
            text, ignores_garbage=options.has("i") or process.is_busybox, ends_quietly=process.is_busybox
        )
    encoded = b64encode(text.encode("utf-8", "surrogateescape")).decode()
    width = int(wrap[:9])
    if width == 0:
        return Output(encoded)
    lines = [encoded[index : index + width] + "\n" for index in range(0, len(encoded), width)]
    return Output("".join(lines))


def _decoded(text: str, *, ignores_garbage: bool, ends_quietly: bool) -> Output:
    digits = text.replace("\n", "")
    if ignores_garbage:
        digits = re.sub(r"[^A-Za-z0-9+/=]", "", digits)
    if ignores_garbage and ends_quietly:
        whole = re.sub(r"[^A-Za-z0-9+/]", "", digits)
        whole = whole[: len(whole) // 4 * 4] if "=" not in digits else digits
        digits = whole
    good = re.match(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", digits)
    assert good is not None
    out = b64decode(good.group()).decode("utf-8", "surrogateescape")
    if good.end() == len(digits):
        return Output(out)
    # What follows the last whole group still gives the bytes that it can.
    rest = re.match(r"[A-Za-z0-9+/]*", digits[good.end() :])
    tail = rest.group() if rest is not None else ""
    if len(tail) in (2, 3):
        out += b64decode(tail + "=" * (4 - len(tail))).decode("utf-8", "surrogateescape")
    return Output(out, "base64: invalid input\n", 1)


BUILTIN = Builtin(name="base64", run=_run, source="GNU coreutils 9.1 base64; tests/golden/programs/shell 142")
