"""watch: shows a command's output once, as there is no terminal to redraw."""

from __future__ import annotations

from env_core.shell._clock import formatted_time
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "interval=": "n", "no-title": "t", "differences=?": "d", "exec": "x", "color": "c", "errexit": "e", "chgexit": "g",
    "beep": "b", "precise": "p",
}  # fmt: skip


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "n:tdxcegbp", _LONG, permutes=False)
        if not options.operands:
            raise UsageProblem("missing operand", has_hint=False)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    interval = options.value("n", "2")
    try:
        seconds = max(float(interval[:12]), 0.1)
    except ValueError:
        return Output("", f"watch: failed to parse argument: '{interval}': Invalid argument\n", 1)
    command = " ".join(options.operands)
    direct = options.has("x")
    output = process.start(options.operands if direct else ["sh", "-c", command], stdin="") or Output(
        "", "", 127
    )
    title = f"Every {seconds:.1f}s: {command}"
    stamp = f"{process.hostname}: {formatted_time(process.now_ms(), '%a %b %e %H:%M:%S %Y')}"
    head = "" if options.has("t") else f"{title}{stamp.rjust(max(80 - len(title), len(stamp) + 1))}\n\n"
    return Output(head + output.stdout + output.stderr)


BUILTIN = Builtin(name="watch", run=_run, source="procps-ng 4.0 watch")
