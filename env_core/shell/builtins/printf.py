"""printf, as dash has it built in."""

from __future__ import annotations

from env_core.shell._format import FormatProblem, formatted
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    rest = argv[1:]
    if rest and rest[0] == "--":
        rest = rest[1:]
    if not rest:
        return Output("", "printf: usage: printf format [arg ...]\n", 2)
    problems: list[str] = []
    try:
        text = formatted(rest[0], rest[1:], problems)
    except FormatProblem as problem:
        return Output("", f"printf: {problem.text}\n", 2)
    if process.is_busybox:
        bare = [problem.partition(": ")[0] for problem in problems]
        return Output(text, "".join(f"invalid number '{each}'\n" for each in bare), int(bool(problems)))
    if process.is_bash:
        bare = [problem.partition(": ")[0] for problem in problems]
        return Output(
            text, "".join(f"printf: {each}: invalid number\n" for each in bare), int(bool(problems))
        )
    return Output(text, "".join(f"printf: {problem}\n" for problem in problems), int(bool(problems)))


BUILTIN = Builtin(
    name="printf", run=_run, source="dash 0.5.12 printf; tests/golden/programs/shell 079", in_shell=True
)
