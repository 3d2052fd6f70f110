"""test and [, as dash has them built in."""

from __future__ import annotations

from collections.abc import Callable

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_UNARY = frozenset(
    [
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-h",
        "-k",
        "-L",
        "-n",
        "-p",
        "-r",
        "-s",
        "-S",
        "-t",
        "-u",
        "-w",
        "-x",
        "-z",
        "-O",
        "-G",
    ]
)
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
_BINARY = frozenset([*_NUMERIC, "=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"])
_DEPTH_MAX = 30


class _Problem(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _run(process: Process, argv: list[str]) -> Output:
    name, rest = argv[0], argv[1:]
    shown = "" if process.is_busybox else f"{name}: "
    if name in ("[", "[["):
        closer = "]" * len(name)
        if not rest or rest[-1] != closer:
            closer = "`]'" if process.is_bash else closer
            return Output("", f"{shown}missing {closer}\n", 2)
        rest = rest[:-1]
    try:
        if process.is_bash:
            _check_for_bash(rest)
        return Output(exit_code=int(not _Expression(process, rest).value()))
    except _Problem as problem:
        return Output("", f"{shown}{problem.text}\n", 2)


def holds(process: Process, words: list[str]) -> bool:
    """Tell whether a test of one or two words holds, as `[[` asks; one that makes no sense does not."""
    try:
        return _Expression(process, words).value()
    except _Problem:
        return False


def _check_for_bash(words: list[str]) -> None:
    """Refuse what bash refuses by the number of words."""
    if len(words) == 2 and words[0] not in _UNARY and words[0] != "!":
        raise _Problem(f"{words[0]}: unary operator expected")
    if len(words) == 3 and words[1] not in (*_BINARY, "-a", "-o") and words[0] not in ("!", "("):
        raise _Problem(f"{words[1]}: binary operator expected")
    if len(words) == 4 and words[0] not in ("!", "("):
        raise _Problem("too many arguments")


class _Expression:
    def __init__(self, process: Process, words: list[str]) -> None:
        self._process = process
        self._words = words
        self._index = 0
        self._depth = 0

    def value(self) -> bool:
        """Return what the expression says; short ones go by their number of words, as POSIX asks."""
        words = self._words
        if not words:
            return False
        if len(words) == 1:
            return words[0] != ""
        if len(words) == 3 and words[1] in _BINARY:
            return self._binary(words[0], words[1], words[2])
        result = self._or()
        if self._index < len(words):
            self._unexpected(words[self._index if self._process.is_busybox else self._index - 1])
        return result

    def _unexpected(self, word: str) -> None:
        if self._process.is_bash:
            raise _Problem("too many arguments")
        raise _Problem(
            f"{word}: unknown operand" if self._process.is_busybox else f"{word}: unexpected operator"
        )

    def _peek(self) -> str | None:
        return self._words[self._index] if self._index < len(self._words) else None

    def _or(self) -> bool:
        value = self._and()
        while self._peek() == "-o":
            self._index += 1
            right = self._and()
            value = value or right
        return value

    def _and(self) -> bool:
        value = self._not()
        while self._peek() == "-a":
            self._index += 1
            right = self._not()
            value = value and right
        return value

    def _not(self) -> bool:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise _Problem("too many arguments")
        if self._peek() == "!" and self._index + 1 < len(self._words):
            self._index += 1
            value = not self._not()
        else:
            value = self._primary()
        self._depth -= 1
        return value

    def _primary(self) -> bool:
        word = self._peek()
        if word is None:
            return False
        left = len(self._words) - self._index
        following = self._words[self._index + 1] if left > 1 else None
        if word == "(" and left > 1 and following not in _BINARY:
            self._index += 1
            value = self._or()
            if self._peek() != ")":
                raise _Problem("closing paren expected")
            self._index += 1
            return value
        if following in _BINARY and left > 2:
            assert following is not None
            self._index += 3
            return self._binary(word, following, self._words[self._index - 1])
        if following in _NUMERIC and left == 2 and not self._process.is_busybox:
            raise _Problem(f"{following}: argument expected")
        if word in _UNARY and following is not None:
            self._index += 2
            return self._unary(word, following)
        self._index += 1
        return word != ""

    def _unary(self, operator: str, operand: str) -> bool:
        if operator == "-n":
            return operand != ""
        if operator == "-z":
            return operand == ""
        if operator == "-t":
            return False
        fs, path = self._process.fs, self._process.path(operand)
        if not operand or not fs.exists(path):
            return False
        checks: dict[str, Callable[[], bool]] = {
            "-e": lambda: True,
            "-d": lambda: fs.is_dir(path),
            "-f": lambda: not fs.is_dir(path) and not path.startswith("/dev/"),
            "-s": lambda: fs.is_dir(path) or fs.entry(path).text != "",
            "-r": lambda: fs.may(path, 4),
            "-w": lambda: fs.may(path, 2),
            "-x": lambda: fs.may(path, 1),
            "-c": lambda: path.startswith("/dev/"),
            "-O": lambda: fs.entry(path).owner == self._process.user,
        }
        check = checks.get(operator)
        return check() if check is not None else False

    def _binary(self, left: str, operator: str, right: str) -> bool:
        if operator in ("=", "=="):
            if operator == "==" and not self._process.is_busybox and not self._process.is_bash:
                self._unexpected(left)
            return left == right
        if operator == "!=":
            return left != right
        if operator in ("<", ">"):
            return left < right if operator == "<" else left > right
        if operator in _NUMERIC:
            return _NUMERIC[operator](self._number(left), self._number(right))
        fs = self._process.fs
        one, two = self._process.path(left), self._process.path(right)
        if operator == "-ef":
            return one == two and fs.exists(one)
        first = fs.entry(one).changed_ms if fs.exists(one) else -1
        second = fs.entry(two).changed_ms if fs.exists(two) else -1
        return first > second if operator == "-nt" else first < second

    def _number(self, text: str) -> int:
        digits = text.strip()
        bare = digits[1:] if digits[:1] in ("-", "+") and digits else digits
        if not (bare.isascii() and bare.isdecimal()) or len(bare) > 19:
            if self._process.is_bash:
                raise _Problem(f"{text}: integer expression expected")
            raise _Problem(f"{text}: bad number" if self._process.is_busybox else f"Illegal number: {text}")
        return int(digits)


BUILTIN = Builtin(
    name="test",
    run=_run,
    source="dash 0.5.12 test; tests/golden/programs/shell 029-032, 080",
    aliases=("[",),
    in_shell=True,
)
