"""date, on the virtual clock and in UTC."""

from __future__ import annotations

from env_core.shell._clock import DateProblem, formatted_time, parsed_time
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "utc": "u", "universal": "u", "date=": "d", "iso-8601=?": "I", "rfc-3339=": "3", "rfc-email": "R", "reference=": "r",
}  # fmt: skip
_ISO = {
    "": "%Y-%m-%d", "date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z",
    "seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}  # fmt: skip
_RFC_3339 = {"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ud:I::Rr:s:", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    at_ms = process.now_ms()
    if options.has("d"):
        text = options.value("d")
        try:
            at_ms = parsed_time(text, at_ms)
        except DateProblem:
            return Output("", f"date: invalid date '{text}'\n", 1)
    template = "%a %b %e %H:%M:%S %Z %Y"
    if options.has("I"):
        template = _ISO.get(options.value("I"), _ISO[""])
    elif options.has("3"):
        template = _RFC_3339.get(options.value("3"), _RFC_3339["seconds"])
    elif options.has("R"):
        template = "%a, %d %b %Y %H:%M:%S %z"
    for operand in options.operands:
        if not operand.startswith("+"):
            if operand.isdecimal():
                return Output(
                    f"{formatted_time(at_ms, template)}\n",
                    "date: cannot set date: Operation not permitted\n",
                    1,
                )
            return Output("", f"date: invalid date '{operand}'\n", 1)
        template = operand[1:]
    return Output(formatted_time(at_ms, template) + "\n")


BUILTIN = Builtin(
    name="date", run=_run, source="GNU coreutils 9.1 date; tests/golden/programs/shell 128, 129"
)
