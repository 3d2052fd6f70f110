"""find: walks directories (names, paths, types, depth, -delete, -exec)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from env_core.shell import _pattern
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import Entry, ShellFileError
from env_core.world import Output

_Test = Callable[[str, Entry], bool]


class _Problem(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(slots=True)
class _Walk:
    process: Process
    out: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    depth_max: int = 1_000
    depth_min: int = 0
    status: int = 0
    prints: bool = True


def _run(process: Process, argv: list[str]) -> Output:
    rest = argv[1:]
    names: list[str] = []
    while rest and not rest[0].startswith(("-", "!", "(")):
        names.append(rest.pop(0))
    walk = _Walk(process)
    try:
        test = _alternatives(rest, walk)
        if rest:
            raise _Problem(f"paths must precede expression: `{rest[0]}'")
    except _Problem as problem:
        return Output("", f"find: {problem.text}\n", 1)
    for name in names or ["."]:
        try:
            if not name:
                raise ShellFileError(name, "No such file or directory")
            entry = process.fs.entry(process.path(name))
        except ShellFileError as error:
            walk.problems.append(_complaint(process, name, error.reason))
            walk.status = 1
            continue
        _visit(walk, name, entry, test, 0)
    return Output("".join(walk.out), "".join(walk.problems), walk.status)


def _complaint(process: Process, name: str, reason: str) -> str:
    return f"find: {name}: {reason}\n" if process.is_busybox else f"find: '{name}': {reason}\n"


def _visit(walk: _Walk, name: str, entry: Entry, test: _Test, depth: int) -> None:
    if depth >= walk.depth_min and test(name, entry) and walk.prints:
        walk.out.append(name + "\n")
    if not entry.is_dir or depth >= walk.depth_max:
        return
    path = walk.process.path(name)
    try:
        children = walk.process.fs.listdir(path)
    except ShellFileError as error:
        if walk.process.fs.exists(path):
            walk.problems.append(_complaint(walk.process, name, error.reason))
            walk.status = 1
        return
    for each in children:
        inner = f"{name.rstrip('/')}/{each}"
        _visit(walk, inner, walk.process.fs.entry(walk.process.path(inner)), test, depth + 1)


def _alternatives(rest: list[str], walk: _Walk) -> _Test:
    tests = [_conjunction(rest, walk)]
    while rest and rest[0] in ("-o", "-or"):
        rest.pop(0)
        tests.append(_conjunction(rest, walk))
    if len(tests) == 1:
        return tests[0]
    return lambda name, entry: any(test(name, entry) for test in tests)


def _conjunction(rest: list[str], walk: _Walk) -> _Test:
    tests: list[_Test] = []
    while rest and rest[0] not in ("-o", "-or", ")"):
        if rest[0] in ("-a", "-and"):
            rest.pop(0)
            continue
        tests.append(_primary(rest, walk))
    return lambda name, entry: all(test(name, entry) for test in tests)


def _primary(rest: list[str], walk: _Walk) -> _Test:
    word = rest.pop(0)
    if word in ("!", "-not"):
        if not rest:
            raise _Problem("expected an expression after '!'")
        inner = _primary(rest, walk)
        return lambda name, entry: not inner(name, entry)
    if word == "(":
        inner = _alternatives(rest, walk)
        if not rest or rest.pop(0) != ")":
            raise _Problem("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
        return inner
    if word in ("-print", "-print0"):
        walk.prints = False
        end = "\n" if word == "-print" else "\0"
        return lambda name, entry: _print(walk, name + end)
    if word == "-delete":
        walk.prints = False
        return lambda name, entry: _delete(walk, name)
    if word in ("-exec", "-ok"):
        return _exec(rest, walk)
    if word == "-empty":
        return lambda name, entry: not (entry.names if entry.is_dir else entry.text)
    if word in (
        "-name",
        "-iname",
        "-path",
        "-wholename",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-newer",
    ):
        if not rest:
            missing = "requires an argument" if walk.process.is_busybox else "missing argument to"
            text = f"{word} {missing}" if walk.process.is_busybox else f"{missing} `{word}'"
            raise _Problem(text)
        return _valued(word, rest.pop(0), walk)
    unknown = f"unrecognized: {word}" if walk.process.is_busybox else f"unknown predicate `{word}'"
    raise _Problem(unknown)


def _valued(word: str, value: str, walk: _Walk) -> _Test:
    if word in ("-maxdepth", "-mindepth"):
        if not value.isdecimal():
            raise _Problem(f"Expected a positive decimal integer argument to {word}, but got '{value}'")
        if word == "-maxdepth":
            walk.depth_max = int(value[:4])
        else:
            walk.depth_min = int(value[:4])
        return lambda name, entry: True
    if word == "-type":
        if walk.process.is_busybox and value not in ("f", "d", "l", "b", "c", "p", "s"):
            raise _Problem(f"invalid argument '{value}' to '-type'")
        if any(each not in ("f", "d", "l", "b", "c", "p", "s") for each in value.split(",")):
            raise _Problem(f"Unknown argument to -type: {value}")
        return lambda name, entry: ("d" if entry.is_dir else "f") in value
    if word in ("-size", "-mtime", "-newer"):
        return lambda name, entry: True
    if word in ("-path", "-wholename"):
        return lambda name, entry: _pattern.compiled(value).match(name) is not None
    if word == "-iname":
        lowered = value.lower()
        return lambda name, entry: _pattern.compiled(lowered).match(_base(name).lower()) is not None
    return lambda name, entry: _pattern.compiled(value).match(_base(name)) is not None


def _base(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name


def _print(walk: _Walk, text: str) -> bool:
    walk.out.append(text)
    return True


def _delete(walk: _Walk, name: str) -> bool:
    try:
        walk.process.fs.remove(walk.process.path(name))
    except ShellFileError as error:
        walk.problems.append(f"find: cannot delete '{name}': {error.reason}\n")
        walk.status = 1
        return False
    return True


def _exec(rest: list[str], walk: _Walk) -> _Test:
    walk.prints = False
    command: list[str] = []
    while rest and rest[0] not in (";", "+"):
        command.append(rest.pop(0))
    if not rest or not command:
        raise _Problem("missing argument to `-exec'")
    rest.pop(0)

    def test(name: str, entry: Entry) -> bool:
        output = walk.process.start([each.replace("{}", name) for each in command])
        if output is None:
            missing = command[0] if walk.process.is_busybox else f"'{command[0]}'"
            walk.problems.append(f"find: {missing}: No such file or directory\n")
            return False
        walk.out.append(output.stdout)
        walk.problems.append(output.stderr)
        return output.exit_code == 0

    return test


BUILTIN = Builtin(name="find", run=_run, source="GNU findutils 4.9 find; tests/golden/programs/shell 174-179")
