"""Options of a MariaDB server: from its files and its command line, and what it says of wrong ones.

Source: MariaDB/server mysys/my_getopt.c, my_default.c, include/my_getopt.h (exit codes); tests/golden/programs/mariadb (mariadb.opt.*).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._mariadb_names import DEFAULTS, FLAGS, NAMES, SECONDS, SQL_MODES, TAKEN_BUT_IDLE
from env_core.programs._model import Container

_FILES: Final = ("/etc/my.cnf", "/etc/mysql/my.cnf")
_FOLDERS: Final = ("/etc/mysql/conf.d/", "/etc/mysql/mariadb.conf.d/", "/etc/my.cnf.d/")
_GROUPS: Final = (
    "mysqld",
    "server",
    "mariadb",
    "mariadbd",
    "mysqld-10.11",
    "mariadb-10.11",
    "mariadbd-10.11",
    "galera",
)
_SUFFIXES: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50, "e": 1 << 60}
_NUMBER_MAX: Final = (1 << 64) - 1
UNKNOWN_OPTION, NO_VALUE, UNKNOWN_VARIABLE, BAD_SUFFIX, BAD_VALUE = 2, 5, 7, 9, 13
"""Exit codes of include/my_getopt.h."""
_ON: Final = ("1", "on", "true", "yes")
_OFF: Final = ("0", "off", "false", "no")


class Wrong(NamedTuple):
    """What is said of an option, and the exit code that it brings."""

    texts: tuple[str, ...]
    code: int


class Read(NamedTuple):
    """What files and command line say."""

    settings: Mapping[str, str]
    early: Wrong | None = None
    """A value that cannot be: known before the log is open."""
    late: Wrong | None = None
    """An option that nobody knows: plugins might have known it, so that is said when they are loaded."""
    idle: tuple[str, ...] = ()
    """Options that are taken, and warned of."""

    def get(self, name: str) -> str:
        """Return the value of a variable."""
        return self.settings.get(name) or DEFAULTS.get(name, "")

    def whole(self, name: str) -> int:
        """Return the value of a variable that is a number."""
        return whole(self.get(name))

    def is_on(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.get(name).lower() in _ON


def is_number(name: str) -> bool:
    """Whether a variable takes a whole number."""
    return DEFAULTS.get(name, "").isdigit() or name in (
        "open_files_limit",
        "thread_stack",
        "innodb_force_recovery",
    )


def is_switch(name: str) -> bool:
    """Whether a variable is on or off."""
    return name in FLAGS or DEFAULTS.get(name) in ("ON", "OFF")


def whole(text: str) -> int:
    """Return a number, which may have a suffix; 0 for what is none."""
    digits, suffix = (text[:-1], text[-1:].lower()) if text[-1:].isalpha() else (text, "")
    if not digits.lstrip("-").isdigit() or len(digits) > 20 or (suffix and suffix not in _SUFFIXES):
        return 0
    return min(int(digits) * _SUFFIXES.get(suffix, 1), _NUMBER_MAX)


def number_problem(name: str, value: str) -> tuple[str, ...]:
    """Return what is said of a number that is none, () when it is one."""
    digits = value.lstrip("-")
    end = next((at for at, character in enumerate(digits) if not character.isdigit()), len(digits))
    rest = digits[end:]
    if not rest or (end and rest.lower() in _SUFFIXES):
        return ()
    return (
        f"Unknown suffix '{rest[0]}' used for variable '{name}' (value '{value}')."
        " Legal suffix characters are: K, M, G, T, P, E",
    )


def _value_problem(name: str, value: str) -> Wrong | None:
    text = f"mariadbd: Error while setting value '{value}' to '{name}'"
    if is_number(name):
        problem = number_problem(name, value)
        return (
            Wrong((*(f"Buffered error: {each}" for each in problem), f"Buffered error: {text}"), BAD_SUFFIX)
            if problem
            else None
        )
    if name == "sql_mode":
        words = [word.strip().upper() for word in value.split(",") if word.strip()]
        return (
            None if all(word in SQL_MODES or word.isdigit() for word in words) else Wrong((text,), BAD_VALUE)
        )
    return None


class _Reader:
    """Takes one option after the other: the last value counts."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.early: Wrong | None = None
        self.late: Wrong | None = None
        self.idle: list[str] = []

    def take(self, option: str, *, rest: list[str]) -> None:
        """Take an option without its dashes; `rest` are the words after it, of which it may use one."""
        name, equals, value = option.partition("=")
        plain = name.strip().replace("-", "_").lower()
        is_loose = plain.startswith("loose_")
        plain = plain.removeprefix("loose_")
        if plain not in NAMES:
            for prefix, meant in (("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")):
                bare = plain.removeprefix(prefix)
                if plain != bare and bare in NAMES:
                    self.settings[bare] = meant
                    return
            if not is_loose and self.late is None:
                kind, code = ("variable", UNKNOWN_VARIABLE) if equals else ("option", UNKNOWN_OPTION)
                shown = option if equals else f"--{option}"
                self.late = Wrong((f"mariadbd: unknown {kind} '{shown}'",), code)
            return
        if plain in TAKEN_BUT_IDLE:
            self.idle.append(name.strip().replace("_", "-"))
            return
        value = value.strip()
        if not equals:
            if is_switch(plain) or plain in ("log_bin", "autocommit"):
                value = "ON"
            elif rest and not rest[0].startswith("-"):
                value = rest.pop(0)
            else:
                self._fail(Wrong((f"mariadbd: option '--{name}' requires an argument",), NO_VALUE))
                return
        if is_switch(plain) and value.lower() in (*_ON, *_OFF):
            value = "ON" if value.lower() in _ON else "OFF"
        self._fail(_value_problem(plain, value))
        self.settings[plain] = value

    def _fail(self, problem: Wrong | None) -> None:
        if self.early is None:
            self.early = problem


_SHORT: Final = {
    "-P": "port",
    "-u": "user",
    "-h": "datadir",
    "-b": "basedir",
    "-t": "tmpdir",
    "-r": "chroot",
    "-C": "character-set-server",
}


def _file_options(text: str) -> list[str]:
    """Return the options of the server's groups in a file."""
    found: list[str] = []
    is_ours = False
    for raw in text.split("\n"):
        line = raw.strip()
        if not line or line[0] in "#;!":
            continue
        if line.startswith("["):
            is_ours = line.strip("[]").strip() in _GROUPS
            continue
        if is_ours:
            name, equals, value = line.partition("=")
            bare = value.split(" #")[0].strip()
            if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
                bare = bare[1:-1]
            found.append(f"{name.strip()}{equals}{bare}")
    return found


@lru_cache(maxsize=256)
def _read(files: tuple[str, ...], argv: tuple[str, ...]) -> Read:
    reader = _Reader()
    for text in files:
        for option in _file_options(text):
            reader.take(option, rest=[])
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            if not word.startswith(("--defaults-", "--no-defaults", "--print-defaults")):
                reader.take(word[2:], rest=rest)
        elif word[:2] in _SHORT:
            value = word[2:] or (rest.pop(0) if rest else "")
            reader.take(f"{_SHORT[word[:2]]}={value}", rest=rest)
    return Read(reader.settings, reader.early, reader.late, tuple(reader.idle))


def read(container: Container, argv: tuple[str, ...]) -> Read:
    """Return a server's options; `argv` begins with its name."""
    words = argv[1:]
    only = next((word.partition("=")[2] for word in words if word.startswith("--defaults-file=")), "")
    if only:
        paths = [only]
    elif "--no-defaults" in words:
        paths = []
    else:
        paths = [path for path in _FILES if path in container.files]
        paths += sorted(
            path
            for path in container.files
            if path.endswith(".cnf") and path.startswith(_FOLDERS) and "/" not in path.split(".d/")[-1]
        )
        paths += [word.partition("=")[2] for word in words if word.startswith("--defaults-extra-file=")]
    return _read(tuple(container.files.get(path, "") for path in paths), words)


def seconds_ms(text: str) -> int:
    """Return a length of time in seconds, with or without a fraction, in milliseconds."""
    try:
        return int(min(max(float(text), 0.0), 31_536_000.0) * 1000)
    except ValueError:
        return 0


def fraction(name: str, text: str) -> str:
    """Return a value as variables show it: some have six digits after the point."""
    return f"{seconds_ms(text) / 1000:.6f}" if name in SECONDS else text
