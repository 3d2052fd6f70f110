"""uname: the kernel's names."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "all": "a", "kernel-name": "s", "nodename": "n", "kernel-release": "r", "kernel-version": "v", "machine": "m",
    "processor": "p", "hardware-platform": "i", "operating-system": "o",
}  # fmt: skip
_RELEASE = "6.1.0-32-amd64"
_VERSION = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)"


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "asnrvmpio", _LONG)
        if options.operands:
            raise UsageProblem(f"extra operand '{options.operands[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    values = {
        "s": "Linux", "n": process.hostname, "r": _RELEASE, "v": _VERSION, "m": "x86_64", "p": "unknown",
        "i": "unknown", "o": "GNU/Linux",
    }  # fmt: skip
    if options.has("a"):
        return Output(" ".join(values[letter] for letter in "snrvmo") + "\n")
    chosen = [letter for letter in values if options.has(letter)] or ["s"]
    return Output(" ".join(values[letter] for letter in chosen) + "\n")


BUILTIN = Builtin(name="uname", run=_run, source="GNU coreutils 9.1 uname; tests/golden/programs/shell 147")
