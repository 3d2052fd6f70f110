"""grep, egrep and fgrep."""

from __future__ import annotations

import re
from dataclasses import dataclass

from env_core.objects._regex_work import Effort
from env_core.objects.regex import BASIC, EXTENDED, PERL, Expression, RegexProblem, compile_expression
from env_core.shell._inputs import read_input, split_lines
from env_core.shell._options import BUSYBOX_BANNER, Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import DENIED, IS_DIRECTORY, ShellFileError
from env_core.sim.work import Work
from env_core.world import Output

_LONG = {
    "ignore-case": "i", "no-ignore-case": "I_", "invert-match": "v", "count": "c", "line-number": "n",
    "only-matching": "o", "extended-regexp": "E", "fixed-strings": "F", "basic-regexp": "G", "perl-regexp": "P",
    "word-regexp": "w", "line-regexp": "x", "quiet": "q", "silent": "q", "files-with-matches": "l",
    "files-without-match": "L", "after-context=": "A", "before-context=": "B", "context=": "C", "max-count=": "m",
    "regexp=": "e", "file=": "f", "recursive": "r", "dereference-recursive": "R", "no-messages": "s",
    "with-filename": "H", "no-filename": "h", "text": "a", "color=?": "0", "colour=?": "0", "include=": "1",
    "exclude=": "2", "line-buffered": "u", "byte-offset": "b", "null": "Z",
}  # fmt: skip
_SHORT = "ivcnoEFGPwxqlLA:B:C:m:e:f:rRsHhaubzZ0123456789"


@dataclass(frozen=True, slots=True)
class _Search:
    work: Work
    expressions: tuple[Expression, ...]
    options: Options
    shows_name: bool
    count_max: int
    before: int
    after: int

    def selects(self, line: str) -> bool:
        found = any(expression.search(line, 0, self.work) is not None for expression in self.expressions)
        return found != self.options.has("v")


def _run(process: Process, argv: list[str]) -> Output:
    try:
        short = _SHORT.replace("P", "") if process.is_busybox else _SHORT
        options = parse_options(_numbered(argv[1:]), short, _LONG)
    except UsageProblem as problem:
        return _usage(argv[0], problem.text, process)
    patterns = [line for value in options.values("e") for line in value.split("\n")]
    operands = list(options.operands)
    for name in options.values("f"):
        try:
            patterns += split_lines(read_input(process, name))
        except ShellFileError as error:
            return Output("", f"{argv[0]}: {name}: {error.reason}\n", 2)
    if not options.has("ef"):
        if not operands:
            return _usage(argv[0], "", process)
        patterns = operands.pop(0).split("\n")
    try:
        search = _search(process, argv[0], patterns, options, operands)
        return _all(process, search, operands or (["."] if options.has("rR") else ["-"]))
    except RegexProblem as problem:
        if process.is_busybox:
            return Output("", f"grep: bad regex '{patterns[0]}'\n", 2)
        return Output("", f"grep: {problem.text}\n", 2)
    except UsageProblem as problem:
        return Output("", f"grep: {problem.text}\n", 2)


def _usage(name: str, text: str, process: Process) -> Output:
    first = f"{name}: {text}\n" if text else ""
    if process.is_busybox:
        return Output("", first + BUSYBOX_BANNER, 2)
    lines = f"Usage: {name} [OPTION]... PATTERNS [FILE]...\nTry '{name} --help' for more information.\n"
    return Output("", first + lines, 2)


def _numbered(arguments: list[str]) -> list[str]:
    """Return the arguments with `-5` written as `-C5`."""
    return [f"-C{each[1:]}" if re.fullmatch(r"-\d+", each, re.ASCII) else each for each in arguments]


def _search(
    process: Process, name: str, patterns: list[str], options: Options, operands: list[str]
) -> _Search:
    letters = [letter for letter, _ in options.given if letter in "EFGP"]
    kind = letters[-1] if letters else {"egrep": "E", "fgrep": "F"}.get(name, "G")
    wrap = "%s"
    if options.has("x"):
        wrap = r"\A(?:%s)\Z"
    elif options.has("w"):
        wrap = r"(?<!\w)(?:%s)(?!\w)"
    expressions = tuple(
        _expression(pattern, kind, wrap, ignores_case=options.has("i")) for pattern in patterns
    )
    context = _count(options.value("C", "0"), "context")
    many = len(operands) > 1 or options.has("rR")
    return _Search(
        process.work,
        expressions,
        options,
        (many or options.has("H")) and not options.has("h"),
        _count(options.value("m", "1000000000"), "max"),
        _count(options.value("B"), "context") if options.has("B") else context,
        _count(options.value("A"), "context") if options.has("A") else context,
    )


def _expression(pattern: str, kind: str, wrap: str, *, ignores_case: bool) -> Expression:
    if kind == "F":
        escaped = wrap.replace("%s", re.escape(pattern))
        return Expression(re.compile(escaped, re.IGNORECASE if ignores_case else 0), Effort("", (), ()))
    syntax = {"E": EXTENDED, "P": PERL}.get(kind, BASIC)
    return compile_expression(pattern, syntax, ignore_case=ignores_case, wrap=wrap)


def _count(text: str, kind: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise UsageProblem(
            "invalid max count" if kind == "max" else f"{text}: invalid context length argument"
        )
    return int(text)


def _all(process: Process, search: _Search, names: list[str]) -> Output:
    options = search.options
    out: list[str] = []
    problems: list[str] = []
    selected_any = False
    for name, text in _texts(process, search, names, problems):
        lines = split_lines(text)
        chosen: list[int] = []
        for number, line in enumerate(lines):
            if len(chosen) >= search.count_max:
                break
            if search.selects(line):
                chosen.append(number)
                if options.has("q"):
                    return Output("", "", 0)
                if options.has("lL"):
                    break
        selected_any = selected_any or bool(chosen) != options.has("L")
        shown = "(standard input)" if name == "-" else name
        if options.has("q"):
            continue
        if options.has("lL"):
            if bool(chosen) != options.has("L"):
                out.append(shown + "\n")
        elif options.has("c"):
            out.append(f"{shown + ':' if search.shows_name else ''}{len(chosen)}\n")
        elif "\0" in text and chosen and not options.has("a"):
            out.append(f"grep: {shown}: binary file matches\n")
        else:
            out += _lines(search, lines, chosen, shown, is_first=not out)
    message = "" if options.has("s") else "".join(problems)
    has_problem = bool(problems)
    return Output("".join(out), message, 2 if has_problem else int(not selected_any))


def _texts(process: Process, search: _Search, names: list[str], problems: list[str]) -> list[tuple[str, str]]:
    texts: list[tuple[str, str]] = []
    recursive = search.options.has("rR")
    for name in names:
        if recursive and name != "-" and process.fs.is_dir(process.path(name)):
            texts += _walk(process, name, problems)
            continue
        try:
            texts.append((name, read_input(process, name)))
        except ShellFileError as error:
            if error.reason != IS_DIRECTORY or not process.is_busybox:
                problems.append(f"grep: {name}: {error.reason}\n")
    return texts


def _walk(process: Process, name: str, problems: list[str]) -> list[tuple[str, str]]:
    texts: list[tuple[str, str]] = []
    path = process.path(name)
    try:
        names = process.fs.listdir(path)
    except ShellFileError:
        problems.append(f"grep: {name}: {DENIED}\n")
        return texts
    for each in names:
        inner = f"{name.rstrip('/')}/{each}"
        if process.fs.is_dir(process.path(inner)):
            texts += _walk(process, inner, problems)
            continue
        try:
            texts.append((inner, read_input(process, inner)))
        except ShellFileError as error:
            problems.append(f"grep: {inner}: {error.reason}\n")
    return texts


def _lines(search: _Search, lines: list[str], chosen: list[int], name: str, *, is_first: bool) -> list[str]:
    options = search.options
    numbered = options.has("n")
    named = name if search.shows_name else ""

    def label(number: int, mark: str) -> str:
        return (f"{named}{mark}" if named else "") + (f"{number + 1}{mark}" if numbered else "")

    if options.has("o"):
        if options.has("v"):
            return []
        return [
            label(number, ":") + found + "\n"
            for number in chosen
            for found in _matches(search, lines[number])
        ]
    if not search.before and not search.after:
        return [f"{label(number, ':')}{lines[number]}\n" for number in chosen]
    out: list[str] = []
    selected = set(chosen)
    last = -1
    for number in chosen:
        start = max(number - search.before, last + 1)
        if (out or not is_first) and start > last + 1:
            out.append("--\n")
        for each in range(start, min(number + search.after + 1, len(lines))):
            if each > number and each in selected:
                break
            out.append(f"{label(each, ':' if each in selected else '-')}{lines[each]}\n")
            last = each
    return out


def _matches(search: _Search, line: str) -> list[str]:
    found: list[str] = []
    position = 0
    while position <= len(line):
        matches = [
            match
            for each in search.expressions
            if (match := each.search(line, position, search.work)) is not None
        ]
        if not matches:
            break
        first = min(matches, key=lambda match: (match.start(), -match.end()))
        if first.group():
            found.append(first.group())
        position = first.end() if first.group() else first.end() + 1
    return found


BUILTIN = Builtin(
    name="grep",
    run=_run,
    source="GNU grep 3.8 (Debian 12); tests/golden/programs/shell 149-162",
    aliases=("egrep", "fgrep"),
)
