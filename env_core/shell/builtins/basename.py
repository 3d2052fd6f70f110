"""basename: the last part of a path."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "as:z", {"multiple": "a", "suffix=": "s"}, permutes=False)
        names = options.operands
        if not names:
            raise UsageProblem("missing operand")
        suffix = options.value("s")
        if not options.has("as"):
            if len(names) > 2:
                raise UsageProblem(f"extra operand '{names[2]}'")
            suffix = names[1] if len(names) > 1 else ""
            names = names[:1]
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    return Output("".join(_base(name, suffix) + "\n" for name in names))


def _base(name: str, suffix: str) -> str:
    base = name.rstrip("/").rpartition("/")[2] if name.strip("/") else name[:1]
    return base.removesuffix(suffix) if suffix and base != suffix else base


BUILTIN = Builtin(
    name="basename", run=_run, source="GNU coreutils 9.1 basename; tests/golden/programs/shell 133"
)
