"""seq: numbers from first to last."""

from __future__ import annotations

import re
from fractions import Fraction

from env_core.shell._format import float_text
from env_core.shell._options import BUSYBOX_BANNER, UsageProblem
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_NUMBER = re.compile(r"[-+]?(\d{1,15}\.?\d{0,9}|\.\d{1,9})\Z", re.ASCII)
_COUNT_MAX = 100_000


def _run(process: Process, argv: list[str]) -> Output:
    rest = argv[1:]
    separator, template, pads = "\n", "", False
    try:
        while rest and rest[0].startswith("-") and not _NUMBER.match(rest[0]):
            option = rest.pop(0)
            if option in ("-s", "-f") and rest:
                value = rest.pop(0)
                separator, template = (value, template) if option == "-s" else (separator, value)
            elif option.startswith("-s"):
                separator = option[2:]
            elif option == "-w":
                pads = True
            elif option != "--":
                raise UsageProblem(f"invalid option -- '{option[1:2]}'")
        if not rest:
            raise UsageProblem("missing operand")
        if len(rest) > 3:
            raise UsageProblem(f"extra operand '{rest[3]}'")
        for each in rest:
            if not _NUMBER.match(each):
                if process.is_busybox:
                    return Output("", BUSYBOX_BANNER, 1)
                raise UsageProblem(f"invalid floating point argument: '{each}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    first = Fraction(rest[0]) if len(rest) > 1 else Fraction(1)
    step = Fraction(rest[1]) if len(rest) > 2 else Fraction(1)
    last = Fraction(rest[-1])
    if step == 0:
        return Output(
            "", f"seq: invalid Zero increment value: '{rest[1]}'\nTry 'seq --help' for more information.\n", 1
        )
    places = max(len(each.partition(".")[2]) for each in rest[:2] if len(rest) > 1) if len(rest) > 1 else 0
    count = min(max(int((last - first) / step) + 1, 0) if (last - first) / step >= 0 else 0, _COUNT_MAX)
    values = [first + step * index for index in range(count)]
    texts = [f"{float(value):.{places}f}" if places else str(int(value)) for value in values]
    if template:
        texts = [_by_template(template, float(value)) for value in values]
    elif pads:
        width = max((len(text) for text in texts), default=0)
        texts = [text.zfill(width) for text in texts]
    return Output(separator.join(texts) + "\n" if texts else "")


def _by_template(template: str, value: float) -> str:
    found = re.search(r"%([-+ #0']*)(\d*)(?:\.(\d*))?([eEfgG])", template)
    if found is None:
        return template
    flags, width, precision, kind = found.groups()
    text = float_text(
        value, flags, width[:4] or None, None if precision is None else precision[:3] or "0", kind
    )
    return template[: found.start()] + text + template[found.end() :]


BUILTIN = Builtin(name="seq", run=_run, source="GNU coreutils 9.1 seq; tests/golden/programs/shell 132")
