"""What a container does whose command is a shell, a script of simple commands, or one of its image's tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from env_core.programs import _script
from env_core.programs._argv import SHELLS, asks_the_network, last_words, shell_line_of, unwrapped
from env_core.programs._http import moment, month_name
from env_core.programs._images import commands_of, create_problem, finds
from env_core.programs._model import Container, Exit, Image, Launch, Line
from env_core.programs._script_tests import holds

Server = Callable[[Container, tuple[str, ...]], Launch | None]
"""What a server's binary does when an argv starts it; None when the argv does not."""


FOREVER_MS: Final = 1 << 40
"""Longer than any episode: `sleep infinity`, or a process that ignores SIGTERM."""


_LINES_MAX: Final = 500


_TURNS_MAX: Final = 2000


_VARIABLE: Final = re.compile(
    r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*)|\$|([?#@*!0-9]))"
)


_SILENT_NAMES: Final = (
    "mkdir touch rm cp mv chmod chown ln set export unset trap umask cd ulimit wget curl nslookup nc ping dig test [ sync"
    " kill read shift wait tee sed awk grep cut tr sort install tar gzip which source . eval exec stty"
)


_SILENT: Final = frozenset(_SILENT_NAMES.split())


def final_argv(container: Container, default: str = "") -> tuple[str, ...]:
    """Return the argv of the program that a container ends up running, through wrappers and one level of `sh -c`."""
    words, is_script = last_words(container.argv, default)
    if not is_script:
        return words
    shell = _Shell(container, None, None)
    return tuple(shell.expand(word) for word in words)


def launch(container: Container, image: Image, server: Server) -> Launch:
    """Return what a container does.

    `server` is tried first for every command that the container (or its script) runs.
    """
    argv = container.argv
    if not argv:
        return Launch(create_error="failed to create containerd task: no command specified")
    first = argv[0]
    if not finds(image, first) and first not in container.files:
        return Launch(create_error=create_problem(first))
    inner = unwrapped(argv, image.command[0] if image.command else "")
    if inner[0] != first and not finds(image, inner[0]) and inner[0] not in container.files:
        name = inner[0]
        text = (
            f"{first}: exec: line 47: {name}: not found"
            if image.base == "alpine"
            else f"{first}: line 47: exec: {name}: not found"
        )
        return Launch(log=(Line(20, text, "stderr"),), exit=Exit(after_ms=30, code=127))
    started = server(container, inner)
    if started is not None:
        return _within_memory(container, started)
    line = shell_line_of(inner)
    shell = _Shell(container, image, server)
    found = shell.run_script(line) if line is not None else shell.run_alone(inner)
    if not found.listeners and not found.create_error and asks_the_network(image, inner, line):
        found = replace(found, log=(), exit=None, live=inner)
    return _within_memory(container, found)


def _within_memory(container: Container, started: Launch) -> Launch:
    """Kill a program whose resting use is over its container's limit, soon after its start."""
    limit = container.memory_limit_bytes
    if limit is None or started.memory_bytes <= limit or started.create_error:
        return started
    kept = tuple(line for line in started.log if line.at_ms <= 100)
    return replace(started, log=kept, listeners=(), exit=Exit(after_ms=120, code=137, reason="OOMKilled"))


class _Ended(Exception):
    """The script is over: it left with a status, became a server, or goes on for ever."""

    def __init__(self, status: int | None) -> None:
        super().__init__()
        self.status = status


@dataclass(slots=True)
class _Shell:
    """Runs a script on paper: what it prints when, and how it ends."""

    container: Container
    image: Image | None
    server: Server | None
    now_ms: int = 15
    lines: list[Line] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    status: int = 0
    turns: int = 0
    has_trap: bool = False
    became: Launch | None = None

    def run_script(self, text: str) -> Launch:
        """Run a whole script."""
        try:
            tree = _script.parse(text)
        except _script.ScriptProblem as problem:
            self.say(f"sh: syntax error: {problem}", "stderr")
            return self._finished(2)
        try:
            self._list(tree)
        except _Ended as ended:
            return self._finished(ended.status)
        return self._finished(self.status)

    def run_alone(self, words: tuple[str, ...]) -> Launch:
        """Run one command as the container's first process."""
        try:
            self._run(words, is_alone=True)
        except _Ended as ended:
            return self._finished(ended.status)
        return self._finished(self.status)

    def _finished(self, status: int | None) -> Launch:
        log = tuple(self.lines[:_LINES_MAX])
        if self.became is not None:
            return replace(
                self.became,
                log=(
                    *log,
                    *(Line(line.at_ms + self.now_ms, line.text, line.stream) for line in self.became.log),
                ),
            )
        stop_ms, stop_code = (50, 143) if self.has_trap else (FOREVER_MS, 137)
        ending = None if status is None else Exit(after_ms=max(self.now_ms + 5, 40), code=status)
        return Launch(
            log=log, exit=ending, memory_bytes=1 << 20, cpu_millis=0, stop_ms=stop_ms, stop_code=stop_code
        )

    def say(self, text: str, stream: str = "stdout") -> None:
        """Print one line."""
        if len(self.lines) < _LINES_MAX:
            self.lines.append(Line(self.now_ms, text, stream))

    def expand(self, word: str) -> str:
        """Return a word with its quotes removed and its variables replaced."""
        out: list[str] = []
        position = 0
        while position < len(word):
            character = word[position]
            if character == "'":
                end = word.find("'", position + 1)
                end = len(word) if end == -1 else end
                out.append(word[position + 1 : end])
                position = end + 1
            elif character == '"':
                end = position + 1
                while end < len(word) and word[end] != '"':
                    end += 2 if word[end] == "\\" else 1
                out.append(self._variables(word[position + 1 : end]).replace('\\"', '"'))
                position = end + 1
            elif character == "\\":
                out.append(word[position + 1 : position + 2])
                position += 2
            else:
                end = position
                while end < len(word) and word[end] not in "'\"\\":
                    end += 1
                out.append(self._variables(word[position:end]))
                position = end
        return "".join(out)

    def _variables(self, text: str) -> str:
        if "$" not in text:
            return text
        if "$(date" in text:
            text = re.sub(r"\$\(date[^)]*\)", lambda _found: self._date(), text)
        text = text.replace("$(hostname)", self.container.pod)

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[3]
            if name is None:
                return str(self.status) if found[4] == "?" else "1" if found[0] == "$$" else ""
            return self.variables.get(name) or self.container.env.get(name) or found[2] or ""

        return _VARIABLE.sub(value, text)

    def _date(self) -> str:
        at = moment(self.container.started_ms + self.now_ms)
        return f"{at:%a} {month_name(at.month)} {at.day:2d} {at:%H:%M:%S} UTC {at.year}"

    def _list(self, tree: _script.Tree) -> None:
        for node in tree:
            self._node(node)

    def _node(self, node: _script.Node) -> None:
        if isinstance(node, _script.Command):
            self._command(node)
        elif isinstance(node, _script.Chain):
            for operator, item in node.items:
                if operator == "" or (operator == "&&") == (self.status == 0):
                    self._node(item)
        elif isinstance(node, _script.Branch):
            for condition, body in node.branches:
                self._list(condition)
                if self.status == 0:
                    self._list(body)
                    return
            self.status = 0
            self._list(node.otherwise)
        else:
            self._loop(node)

    def _loop(self, node: _script.Loop) -> None:
        if node.variable:
            for value in [part for word in node.words for part in self.expand(word).split()]:
                self.variables[node.variable] = value
                self._list(node.body)
            return
        while True:
            self.turns += 1
            if self.turns > _TURNS_MAX or len(self.lines) >= _LINES_MAX:
                raise _Ended(None)
            before_ms = self.now_ms
            self._list(node.condition)
            if (self.status == 0) == node.is_until:
                self.status = 0
                return
            self._list(node.body)
            if self.now_ms == before_ms:
                raise _Ended(None)  # a busy loop: it never prints anything new

    def _command(self, node: _script.Command) -> None:
        words = tuple(self.expand(word) for word in node.words)
        while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
            name, _, value = words[0].partition("=")
            self.variables[name] = value
            words = words[1:]
        if not words:
            self.status = 0
            return
        count = len(self.lines)
        now_ms = self.now_ms
        self._run(words, is_alone=False)
        if node.is_background:
            self.now_ms = now_ms
        if node.output == "&2" or node.output == "/dev/stderr":
            self.lines[count:] = [Line(line.at_ms, line.text, "stderr") for line in self.lines[count:]]
        elif node.output and node.output not in ("&1", "/dev/stdout", "/proc/1/fd/1"):
            self.lines[count:] = [line for line in self.lines[count:] if line.stream == "stderr"]

    def _run(self, words: tuple[str, ...], *, is_alone: bool) -> None:
        name = words[0].rpartition("/")[2]
        self.status = 0
        if name == "exec" and len(words) > 1:
            self._run(words[1:], is_alone=True)
            raise _Ended(self.status)
        if self.server is not None:
            started = self.server(self.container, unwrapped(words))
            if started is not None:
                self.became = started
                if started.exit is not None and not is_alone:
                    self.became = None
                    self.lines += [
                        Line(line.at_ms + self.now_ms, line.text, line.stream) for line in started.log
                    ]
                    self.now_ms += started.exit.after_ms
                    self.status = started.exit.code
                    return
                raise _Ended(None)
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, words)
        elif name == "trap":
            self.has_trap = True
        elif name in _SILENT or (self.image is not None and name in commands_of(self.image)):
            if is_alone and name in SHELLS:
                self.status = 0  # a shell without a terminal reads the end of its input at once
        else:
            self.say(f"sh: {words[0]}: not found", "stderr")
            self.status = 127


def _echo(shell: _Shell, words: tuple[str, ...]) -> None:
    rest = list(words[1:])
    while rest and rest[0] in ("-n", "-e", "-ne", "-en"):
        rest.pop(0)
    for line in " ".join(rest).replace("\\n", "\n").split("\n"):
        shell.say(line)


def _printf(shell: _Shell, words: tuple[str, ...]) -> None:
    text = words[1] if len(words) > 1 else ""
    for value in words[2:]:
        text = text.replace("%s", value, 1)
    for line in text.replace("\\n", "\n").rstrip("\n").split("\n"):
        shell.say(line)


def _sleep(shell: _Shell, words: tuple[str, ...]) -> None:
    total_ms = 0
    for word in words[1:]:
        if word in ("infinity", "inf"):
            raise _Ended(None)
        unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(word[-1:], 0)
        number = word[:-1] if unit else word
        try:
            total_ms += int(float(number) * (unit or 1) * 1000)
        except ValueError:
            shell.say(f"sleep: invalid number '{word}'", "stderr")
            shell.status = 1
            return
    shell.now_ms += total_ms


def _exit(shell: _Shell, words: tuple[str, ...]) -> None:
    raise _Ended(int(words[1]) & 255 if len(words) > 1 and words[1].isdigit() else shell.status)


def _cat(shell: _Shell, words: tuple[str, ...]) -> None:
    for path in words[1:]:
        text = shell.container.files.get(path)
        if text is None and shell.image is not None:
            text = shell.image.files.get(path)
        if text is None:
            shell.say(f"cat: {path}: No such file or directory", "stderr")
            shell.status = 1
            continue
        for line in text.rstrip("\n").split("\n"):
            shell.say(line)


def _tail(shell: _Shell, words: tuple[str, ...]) -> None:
    if any(word.startswith("-") and ("f" in word or "F" in word) for word in words[1:]):
        raise _Ended(None)


def _test(shell: _Shell, words: tuple[str, ...]) -> None:
    inner = list(words[1:-1] if words[0] == "[" else words[1:])
    is_negated = bool(inner) and inner[0] == "!"
    if is_negated:
        inner.pop(0)
    answer = holds(shell.container.files, inner)
    shell.status = int(answer == is_negated)


def _environment(shell: _Shell, words: tuple[str, ...]) -> None:
    if len(words) > 1:
        value = shell.container.env.get(words[1])
        shell.status = int(value is None)
        if value is not None:
            shell.say(value)
        return
    for name, value in shell.container.env.items():
        shell.say(f"{name}={value}")


def _succeed(_shell: _Shell, _words: tuple[str, ...]) -> None:
    return


def _fail(shell: _Shell, _words: tuple[str, ...]) -> None:
    shell.status = 1


def _hostname(shell: _Shell, _words: tuple[str, ...]) -> None:
    shell.say(shell.container.pod)


def _print_date(shell: _Shell, _words: tuple[str, ...]) -> None:
    shell.say(shell._date())


_HANDLERS: Final[dict[str, Callable[[_Shell, tuple[str, ...]], None]]] = {
    "echo": _echo, "printf": _printf, "sleep": _sleep, "exit": _exit, "cat": _cat, "tail": _tail, "test": _test, "[": _test,
    "env": _environment, "printenv": _environment, "true": _succeed, ":": _succeed, "false": _fail, "hostname": _hostname,
    "date": _print_date,
}  # fmt: skip
