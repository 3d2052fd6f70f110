"""jq 1.6: filters JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from env_core.shell._inputs import read_input, split_lines
from env_core.shell._jq.evaluate import Evaluator
from env_core.shell._jq.forms import FORMS
from env_core.shell._jq.functions import FUNCTIONS
from env_core.shell._jq.lexer import CompileProblem
from env_core.shell._jq.nodes import Node
from env_core.shell._jq.parser import parse_filter
from env_core.shell._jq.reader import ReadProblem, read_values
from env_core.shell._jq.resolve import undefined
from env_core.shell._jq.scope import Halt, Scope, TooMuch
from env_core.shell._jq.values import Break, JqError, Json, compact, is_true, pretty
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import IS_DIRECTORY, ShellFileError
from env_core.world import Output

_HINT = (
    "Use jq --help for help with command-line options,\n"
    "or see the jq manpage, or online docs  at https://stedolan.github.io/jq\n"
)
_LONG = {
    "slurp": "s", "raw-input": "R", "null-input": "n", "compact-output": "c", "color-output": "C",
    "monochrome-output": "M", "ascii-output": "a", "unbuffered": "u", "sort-keys": "S", "raw-output": "r",
    "join-output": "j", "exit-status": "e", "tab": "t", "from-file": "f", "seq": "q", "stream": "m",
}  # fmt: skip
_OUTPUT_MAX = 8 * 1024 * 1024


@dataclass(slots=True)
class _Options:
    flags: set[str] = field(default_factory=set)
    indent: str = "  "
    program: str | None = None
    files: list[str] = field(default_factory=list)
    named: dict[str, Json] = field(default_factory=dict)
    positional: list[Json] = field(default_factory=list)


class _Usage(Exception):
    def __init__(self, text: str, *, has_hint: bool = True) -> None:
        super().__init__(text)
        self.text = f"jq: {text}\n" + (_HINT if has_hint else "")


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = _parsed(process, argv[1:])
    except _Usage as problem:
        return Output("", problem.text, 2)
    source = options.program
    if source is None:
        source = "."
    variables = {**options.named, "ENV": dict(process.env)}
    variables["ARGS"] = {"positional": options.positional, "named": dict(options.named)}
    try:
        tree = parse_filter(source)
        errors = undefined(tree, frozenset(variables))
        if errors:
            return _compile_failed(source, errors)
    except CompileProblem as problem:
        return _compile_failed(source, problem.errors)
    except RecursionError:
        return _compile_failed(source, [("the filter is nested too deep", 0)])
    return _Run(process, options, tree, Scope(variables, {})).output()


def _compile_failed(source: str, errors: list[tuple[str, int]]) -> Output:
    lines: list[str] = []
    for text, offset in errors:
        start = source.rfind("\n", 0, offset) + 1
        end = source.find("\n", start)
        line = source[start:] if end == -1 else source[start:end]
        number = source.count("\n", 0, start) + 1
        lines.append(f"jq: error: {text} at <top-level>, line {number}:\n{line}{' ' * (offset - start)}\n")
    noun = "error" if len(errors) == 1 else "errors"
    return Output("", f"{''.join(lines)}jq: {len(errors)} compile {noun}\n", 3)


def _parsed(process: Process, arguments: list[str]) -> _Options:
    options = _Options()
    rest = list(arguments)
    takes_options = True
    takes_values = ""
    while rest:
        argument = rest.pop(0)
        is_option = argument.startswith("-") and (argument[1:2] == "-" or argument[1:2].isalpha())
        if not takes_options or not is_option:
            if options.program is None:
                options.program = argument
            elif takes_values == "args":
                options.positional.append(argument)
            elif takes_values == "jsonargs":
                options.positional.append(_json(argument, "--jsonargs"))
            else:
                options.files.append(argument)
        elif argument == "--":
            takes_options = False
        elif argument in ("--args", "--jsonargs"):
            takes_values = argument[2:]
        elif argument.startswith("--"):
            _long(process, argument, rest, options)
        else:
            _short(process, argument, rest, options)
    if "f" in options.flags and options.program is not None:
        name = options.program
        try:
            options.program = read_input(process, name)
        except ShellFileError as error:
            raise _Usage(f"Could not open {name}: {error.reason}", has_hint=False) from None
    return options


def _long(process: Process, argument: str, rest: list[str], options: _Options) -> None:
    name = argument[2:]
    if name in ("arg", "argjson", "slurpfile", "rawfile", "argfile"):
        if len(rest) < 2:
            what = {"arg": "value", "argjson": "text"}.get(name, "filename")
            raise _Usage(f"--{name} takes two parameters (e.g. --{name} varname {what})")
        key, value = rest.pop(0), rest.pop(0)
        if name == "arg":
            options.named.setdefault(key, value)
        elif name == "argjson":
            options.named.setdefault(key, _json(value, "--argjson"))
        else:
            options.named.setdefault(key, _from_file(process, name, key, value))
    elif name == "indent":
        if not rest:
            raise _Usage("--indent takes one parameter")
        width = rest.pop(0)
        if not width.isdecimal() or int(width[:3]) > 7:
            raise _Usage("--indent takes a number between -1 and 7")
        options.indent = " " * int(width)
        if width == "0":
            options.flags.add("c")
    elif name in _LONG:
        options.flags.add(_LONG[name])
    else:
        raise _Usage(f"Unknown option {argument}")


def _short(process: Process, argument: str, rest: list[str], options: _Options) -> None:
    for letter in argument[1:]:
        if letter not in "sRnCMaSrjecfhV":
            raise _Usage(f"Unknown option {argument}")
        options.flags.add(letter)


def _json(text: str, option: str) -> Json:
    try:
        values = [value for value, _ in read_values(text)]
    except ReadProblem:
        values = []
    if len(values) != 1:
        raise _Usage(f"invalid JSON text passed to {option}")
    return values[0]


def _from_file(process: Process, option: str, key: str, name: str) -> Json:
    try:
        text = read_input(process, name)
        return text if option == "rawfile" else [value for value, _ in read_values(text)]
    except ShellFileError as error:
        raise _Usage(
            f"Bad JSON in --{option} {key} {name}: Could not open {name}: {error.reason}", has_hint=False
        ) from None
    except ReadProblem as problem:
        raise _Usage(f"Bad JSON in --{option} {key} {name}: {problem.text}", has_hint=False) from None


class _Run:
    """One run: reads inputs, evaluates, prints."""

    def __init__(self, process: Process, options: _Options, tree: Node, scope: Scope) -> None:
        self._process = process
        self._options = options
        self._tree = tree
        self._scope = scope
        self._out: list[str] = []
        self._size = 0
        self._problems: list[str] = []
        self._place = "<unknown>"
        self._status = 0
        self._last: Json = None
        self._has_output = False
        self._jq = Evaluator(process, self._inputs(), FORMS, FUNCTIONS)

    def output(self) -> Output:
        try:
            if "n" in self._options.flags:
                self._one(None)
            else:
                for value in self._jq.inputs:
                    self._one(value)
        except ReadProblem as problem:
            self._status = 4
            self._problems.append(f"parse error: {problem.text}\n")
        except Halt as halt:
            self._halt(halt)
        except TooMuch as problem:
            self._status = 5
            self._problems.append(f"jq: error: {problem}\n")
        except RecursionError:
            self._status = 5
            self._problems.append("jq: error: the filter or its input is nested too deep\n")
        status = self._status
        if not status and "e" in self._options.flags:
            status = 4 if not self._has_output else int(not is_true(self._last))
        return Output("".join(self._out), "".join(self._problems), status)

    def _inputs(self) -> Iterator[Json]:
        """Yield the values (or lines, or all of them at once) of standard input or the files."""
        if "R" in self._options.flags:
            yield from self._raw_inputs()
        elif "s" in self._options.flags:
            yield [value for name, text in self._texts() for value, _ in read_values(text)]
        else:
            for name, text in self._texts():
                self._jq.filename = None if name == "<stdin>" else name
                for value, lines in read_values(text):
                    self._place = f"{name}:{lines}"
                    yield value
                if name == "<stdin>":
                    self._place = f"{name}:{text.count(chr(10))}"

    def _raw_inputs(self) -> Iterator[Json]:
        texts = list(self._texts())
        if "s" in self._options.flags:
            yield "".join(text for _, text in texts)
            return
        for name, text in texts:
            for number, line in enumerate(split_lines(text), start=1):
                self._place = f"{name}:{number}"
                yield line

    def _texts(self) -> Iterator[tuple[str, str]]:
        if not self._options.files:
            yield "<stdin>", self._process.stdin
            return
        for name in self._options.files:
            try:
                yield name, self._process.fs.read(self._process.path(name))
            except ShellFileError as error:
                self._status = 2
                if error.reason != IS_DIRECTORY:
                    self._problems.append(f"jq: error: Could not open file {name}: {error.reason}\n")

    def _one(self, value: Json) -> None:
        messages = self._jq.messages
        try:
            for found in self._jq.values(self._tree, self._scope, value):
                self._flush(messages)
                self._print(found)
        except JqError as error:
            self._flush(messages)
            self._status = 5
            self._problems.append(self._complaint(error.value))
        except Break:
            self._status = 5
            self._problems.append(f"jq: error (at {self._place}): break\n")
        self._flush(messages)

    def _flush(self, messages: list[str]) -> None:
        self._problems += messages
        messages.clear()

    def _complaint(self, value: Json) -> str:
        if isinstance(value, str):
            return f"jq: error (at {self._place}): {value}\n"
        return f"jq: error (at {self._place}) (not a string): {compact(value)}\n"

    def _print(self, value: Json) -> None:
        flags = self._options.flags
        self._last = value
        self._has_output = True
        is_raw = bool(flags & {"r", "j"}) and isinstance(value, str)
        sorts = "S" in flags
        if is_raw:
            text = value
        elif "c" in flags:
            text = compact(value, sorts=sorts)
        else:
            text = pretty(value, "\t" if "t" in flags else self._options.indent, sorts=sorts)
        if "a" in flags and not is_raw:
            text = "".join(char if char.isascii() else _escaped(char) for char in text)
        self._out.append(text if "j" in flags else text + "\n")
        self._size += len(text)
        if self._size > _OUTPUT_MAX:
            raise TooMuch("too much output")

    def _halt(self, halt: Halt) -> None:
        self._status = halt.status
        if halt.is_error:
            text = halt.value if isinstance(halt.value, str) else compact(halt.value) + "\n"
            self._problems.append(text if halt.value is not None else "")


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


BUILTIN = Builtin(name="jq", run=_run, source="jq 1.6 (Debian 12); tests/golden/programs/shell 273-309")
