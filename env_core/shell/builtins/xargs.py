"""xargs: builds command lines from its input."""

from __future__ import annotations

from itertools import chain

from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "null": "0", "max-args=": "n", "replace=?": "I", "max-lines=?": "L", "no-run-if-empty": "r", "verbose": "t",
    "delimiter=": "d", "max-procs=": "P", "arg-file=": "a",
}  # fmt: skip


class _Problem(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "0n:I:i::L:l::rtd:P:a:xs:E:p", _LONG, permutes=False)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    command = options.operands or ["echo"]
    try:
        lines = _command_lines(process.stdin, command, options)
    except _Problem as problem:
        return Output("", f"xargs: {problem.text}\n", 1)
    out: list[str] = []
    messages: list[str] = []
    status = 0
    for line in lines:
        if options.has("t"):
            messages.append(" ".join(line) + "\n")
        output = process.start(line, stdin="")
        if output is None:
            return Output(
                "".join(out), "".join(messages) + f"xargs: {line[0]}: No such file or directory\n", 127
            )
        out.append(output.stdout)
        messages.append(output.stderr)
        if output.exit_code == 255:
            messages.append(f"xargs: {line[0]}: exited with status 255; aborting\n")
            return Output("".join(out), "".join(messages), 124)
        if output.exit_code:
            status = 123
    return Output("".join(out), "".join(messages), status)


def _command_lines(text: str, command: list[str], options: Options) -> list[list[str]]:
    mark = options.value("I") or (options.value("i") or "{}" if options.has("i") else "")
    if options.has("I") or options.has("i"):
        items = [line.strip() for line in text.split("\n") if line.strip()]
        if options.has("0"):
            items = [item for item in text.split("\0") if item]
        return [[word.replace(mark or "{}", item) for word in command] for item in items]
    if options.has("L") or options.has("l"):
        size = _positive(options.value("L") or options.value("l") or "1", "L")
        groups = [_words(line) for line in text.split("\n") if line.strip()]
        starts = range(0, len(groups), size)
        return [[*command, *chain.from_iterable(groups[start : start + size])] for start in starts]
    if options.has("0"):
        items = [item for item in text.split("\0") if item]
    elif options.has("d"):
        delimiter = options.value("d").replace("\\n", "\n").replace("\\t", "\t")[:1] or "\n"
        items = text.removesuffix("\n" if delimiter != "\n" else delimiter).split(delimiter) if text else []
    else:
        items = _words(text)
    if not items:
        return [] if options.has("r") else [command]
    size = _positive(options.value("n"), "n") if options.has("n") else len(items)
    return [command + items[index : index + size] for index in range(0, len(items), size)]


def _positive(text: str, letter: str) -> int:
    if not text.isdecimal():
        raise _Problem(f'invalid number "{text}" for -{letter} option')
    if int(text[:9]) < 1:
        raise _Problem(f"value {text} for -{letter} option should be >= 1")
    return int(text[:9])


def _words(text: str) -> list[str]:
    """Split input at blanks, quotes and backslashes protecting them."""
    words: list[str] = []
    current: list[str] = []
    in_word = False
    index = 0
    while index < len(text):
        char = text[index]
        if char in "'\"":
            end = text.find(char, index + 1)
            if end == -1 or "\n" in text[index:end]:
                kind = "single" if char == "'" else "double"
                raise _Problem(
                    f"unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option"
                )
            current.append(text[index + 1 : end])
            in_word = True
            index = end
        elif char == "\\" and index + 1 < len(text):
            index += 1
            current.append(text[index])
            in_word = True
        elif char in " \t\n":
            if in_word:
                words.append("".join(current))
            current.clear()
            in_word = False
        else:
            current.append(char)
            in_word = True
        index += 1
    if in_word:
        words.append("".join(current))
    return words


BUILTIN = Builtin(name="xargs", run=_run, source="GNU findutils 4.9 xargs; tests/golden/programs/shell 074")
