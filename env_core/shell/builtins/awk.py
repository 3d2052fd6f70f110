"""awk (mawk, as Debian installs it): runs pattern-action programs over text."""

from __future__ import annotations

import re

from env_core.objects.regex import RegexProblem, compile_expression
from env_core.shell._awk.interpreter import Interpreter
from env_core.shell._awk.lexer import AwkProblem
from env_core.shell._awk.nodes import Program
from env_core.shell._awk.parser import parse_program
from env_core.shell._awk.tree import calls, expressions
from env_core.shell._format import unescaped
from env_core.shell._inputs import read_input
from env_core.shell._options import BUSYBOX_BANNER
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    name = "mawk" if argv[0] == "awk" and not process.is_busybox else argv[0]
    rest = argv[1:]
    sources: list[str] = []
    assignments: list[tuple[str, str]] = []
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        option = rest.pop(0)
        if option == "--":
            break
        letter, value = option[1], option[2:]
        if letter not in "Fvf" or option.startswith("--"):
            return _bad_option(name, option, process)
        if not value:
            if not rest:
                return Output("", f"{name}: option requires an argument -- {letter}\n", 2)
            value = rest.pop(0)
        if letter == "F":
            assignments.append(("FS", "\t" if value == "t" else unescaped(value)))
        elif letter == "v":
            variable, equals, text = value.partition("=")
            if not equals or not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):
                return Output("", f"{name}: improper assignment: -v {value}\n", 2)
            assignments.append((variable, unescaped(text)))
        else:
            try:
                sources.append(read_input(process, value))
            except ShellFileError as error:
                return _failed(
                    name,
                    process,
                    AwkProblem(f"cannot open {value} ({error.reason})", f"script {value}: {error.reason}"),
                )
    if not sources:
        if not rest and process.is_busybox:
            return Output("", BUSYBOX_BANNER, 1)
        if not rest:
            return Output("", f"Usage: {name} [Options] [Program] [file ...]\n", 0)
        sources = [rest.pop(0)]
    try:
        program = parse_program("\n".join(sources))
        _check(program, process)
    except AwkProblem as problem:
        return _failed(name, process, problem)
    interpreter = Interpreter(process, program, assignments)
    try:
        text = interpreter.run(rest)
    except AwkProblem as problem:
        failed = _failed(name, process, problem)
        messages = "".join(interpreter.printer.messages) + failed.stderr
        return Output(interpreter.printer.output(), messages, failed.exit_code)
    except RegexProblem as problem:
        return Output(interpreter.printer.output(), f"{name}: {problem.text}\n", 2)
    finally:
        process.work.done += interpreter.steps_max - interpreter.steps_left
    return Output(text, "".join(interpreter.printer.messages), interpreter.exit_code)


def _check(program: Program, process: Process) -> None:
    """Refuse calls of functions that the program lacks, and constant expressions that do not compile."""
    for call in calls(program):
        if call.name not in program.functions:
            raise AwkProblem(
                f"line {call.line + 1}: function {call.name} never defined", f"function {call.name}"
            )
        if len(call.arguments) > len(program.functions[call.name].parameters):
            raise AwkProblem(f"line {call.line}: too many arguments in call to {call.name}", "syntax")
    for source in expressions(program):
        try:
            compile_expression(source, escapes=True)
        except RegexProblem as problem:
            reason = "missing ')'" if "(" in problem.text else problem.text
            text = f"line 1: regular expression compile failed ({reason})\n{source}"
            raise AwkProblem(text, f"regex {source}: {problem.text}") from None


def _bad_option(name: str, option: str, process: Process) -> Output:
    if process.is_busybox:
        return Output("", f"awk: unrecognized option '{option}'\n", 1)
    if name == "gawk":
        return Output("", f"gawk: unrecognized option '{option}'\n", 1)
    return Output("", f"{name}: not an option: {option}\n", 2)


def _failed(name: str, process: Process, problem: AwkProblem) -> Output:
    if process.is_busybox:
        return Output("", f"awk: {_busybox_text(problem)}\n", 1)
    return Output("", f"{name}: {problem.text}\n", 2)


def _busybox_text(problem: AwkProblem) -> str:
    kind, _, rest = problem.kind.partition(" ")
    place = "cmd. line:1: "
    texts = {
        "syntax": f"{place}Unexpected token",
        "string": f"{place}Unexpected end of string",
        "zero": f"{place}Division by zero",
        "function": f"{place}Call to undefined function",
        "field": f"{place}Access to negative field",
        "open": rest,
    }
    if kind == "regex":
        source, _, reason = rest.partition(": ")
        return f"bad regex '{source}': {reason}"
    if kind == "script":
        file, _, reason = rest.partition(": ")
        return f"can't open '{file}': {reason}"
    return texts.get(kind, place + problem.text)


BUILTIN = Builtin(
    name="awk",
    run=_run,
    source="mawk 1.3.4 (Debian 12); tests/golden/programs/shell 237-248",
    aliases=("mawk",),
)
