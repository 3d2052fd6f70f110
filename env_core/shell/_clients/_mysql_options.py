"""Options of MariaDB's clients: what mysql and mysqladmin take, and what they say of wrong ones.

Source: MariaDB/server mysys/my_getopt.c, client/mysql.cc, client/mysqladmin.cc; tests/golden/programs/mariadb (mysql.badopt,
mysql.badport).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from env_core.programs._mariadb_config import number_problem
from env_core.shell.context import Process, ShellFileError

PORT: Final = 3306
SOCKET: Final = "/run/mysqld/mysqld.sock"
_VALUED: Final = {
    "h": "host", "P": "port", "u": "user", "S": "socket", "D": "database", "e": "execute", "i": "sleep", "w": "wait", "c": "count",
}  # fmt: skip
_FLAGS: Final = {
    "B": "batch", "N": "skip-column-names", "s": "silent", "t": "table", "E": "vertical", "f": "force", "r": "raw", "A": "no-auto-rehash",
    "v": "verbose", "V": "version", "q": "quick", "C": "compress", "n": "unbuffered", "b": "no-beep", "G": "named-commands",
    "I": "help", "?": "help", "w": "wait", "X": "xml", "H": "html", "L": "skip-line-numbers", "U": "safe-updates", "W": "show-warnings",
}  # fmt: skip
_LONG_VALUED: Final = (
    *_VALUED.values(), "connect-timeout", "connect_timeout", "protocol", "default-character-set", "max-allowed-packet", "ssl-ca",
    "ssl-cert", "ssl-key", "ssl-mode", "init-command", "delimiter", "net-buffer-length", "defaults-file", "defaults-extra-file",
    "defaults-group-suffix", "shutdown-timeout", "plugin-dir", "default-auth", "tls-version",
)  # fmt: skip
_LONG_FLAGS: Final = (
    *_FLAGS.values(), "column-names", "ssl", "skip-ssl", "ssl-verify-server-cert", "skip-ssl-verify-server-cert", "no-defaults",
    "disable-ssl", "print-defaults", "comments", "skip-comments", "auto-rehash", "skip-auto-rehash", "reconnect", "skip-reconnect",
    "binary-mode", "abort-source-on-error", "relative", "local-infile", "line-numbers", "beep", "print-query-on-error",
    "skip-print-query-on-error", "no-beep", "disable-auto-rehash",
)  # fmt: skip
_NUMBERS: Final = ("port", "connect_timeout", "connect-timeout")


class Failed(Exception):
    """The client gives up; `text` says why."""

    def __init__(self, text: str, code: int = 1, number: int = 0) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.number = number
        """That of a server's or the library's error."""


@dataclass(slots=True)
class Options:
    """A command line."""

    host: str = ""
    port: int = PORT
    is_port_given: bool = False
    user: str = ""
    password: str = ""
    asks_password: bool = False
    is_password_shown: bool = False
    """Whether everybody may read it on the command line."""
    socket: str = ""
    protocol: str = ""
    timeout_ms: int = 0
    database: str = ""
    execute: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)


def read(process: Process, argv: list[str]) -> Options:
    """Return a command line's options, after those of files and of the environment.

    Raises:
        Failed: one is wrong.
    """
    env = process.env
    found = Options(
        host=env.get("MYSQL_HOST", ""),
        password=env.get("MYSQL_PWD", ""),
        socket=env.get("MYSQL_UNIX_PORT", ""),
        user=process.user,
    )
    program = argv[0].rpartition("/")[2]
    if env.get("MYSQL_TCP_PORT", "").isdigit():
        found.port = int(env["MYSQL_TCP_PORT"][:9])
    for option in _file_options(process, argv, program):
        _long(found, program, option, [])
    found.is_password_shown = False
    rest = list(argv[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.words += rest
            break
        if word.startswith("--"):
            _long(found, program, word[2:], rest)
        elif word.startswith("-") and len(word) > 1:
            _short(found, program, word[1:], rest)
        else:
            found.words.append(word)
    return found


def _file_options(process: Process, argv: list[str], program: str) -> list[str]:
    """Return the options of the clients' groups in files."""
    if "--no-defaults" in argv:
        return []
    only = [word.partition("=")[2] for word in argv if word.startswith("--defaults-file=")]
    extra = [word.partition("=")[2] for word in argv if word.startswith("--defaults-extra-file=")]
    home = process.env.get("HOME", "/root")
    paths = only or ["/etc/my.cnf", "/etc/mysql/my.cnf", *extra, f"{home}/.my.cnf"]
    groups = (
        "client",
        "client-server",
        "client-mariadb",
        program,
        "mariadb-client" if program in ("mysql", "mariadb") else program,
    )
    found: list[str] = []
    for path in paths:
        try:
            text = process.fs.read(process.path(path))
        except ShellFileError:
            if path in only or path in extra:
                raise Failed(
                    f"Could not open required defaults file: {path}\nFatal error in defaults handling. Program aborted"
                ) from None
            continue
        is_ours = False
        for raw in text.split("\n"):
            line = raw.strip()
            if line.startswith("["):
                is_ours = line.strip("[]").strip() in groups
            elif is_ours and line and line[0] not in "#;":
                name, equals, value = line.partition("=")
                found.append(f"{name.strip()}{equals}{value.strip().strip(chr(34) + chr(39))}")
    return found


def _long(found: Options, program: str, text: str, rest: list[str]) -> None:
    name, equals, value = text.partition("=")
    plain = name.replace("_", "-")
    if plain == "password":
        found.password, found.asks_password = (value, False) if equals else (found.password, True)
        found.is_password_shown = bool(value)
    elif plain in _LONG_VALUED or name in _LONG_VALUED:
        if not equals:
            if not rest:
                raise Failed(f"{program}: option '--{name}' requires an argument", 5)
            value = rest.pop(0)
        _take(found, program, plain, value)
    elif plain in _LONG_FLAGS or plain.startswith("loose-"):
        found.flags.add(plain)
    else:
        kind = "variable" if equals else "option"
        raise Failed(f"{program}: unknown {kind} '{text if equals else f'--{text}'}'", 7 if equals else 2)


def _short(found: Options, program: str, text: str, rest: list[str]) -> None:
    while text:
        letter, text = text[0], text[1:]
        if letter == "p":
            found.password, found.asks_password = (text, False) if text else (found.password, True)
            found.is_password_shown = bool(text)
            return
        if letter in _VALUED and not (letter == "w" and not text and program in ("mysql", "mariadb")):
            value = text or (rest.pop(0) if rest else "")
            if not text and not value:
                raise Failed(f"{program}: option '-{letter}' requires an argument", 5)
            _take(found, program, _VALUED[letter], value)
            return
        if letter not in _FLAGS:
            raise Failed(f"{program}: unknown option '-{letter}'", 2)
        found.flags.add(_FLAGS[letter])


def _take(found: Options, program: str, name: str, value: str) -> None:
    if name in _NUMBERS:
        variable = name.replace("-", "_")
        problem = number_problem(variable, value)
        if problem or not value:
            raise Failed(
                "\n".join((*problem, f"{program}: Error while setting value '{value}' to '{variable}'")), 9
            )
        digits = int("".join(filter(str.isdigit, value))[:9] or "0")
        if name == "port":
            found.port, found.is_port_given = digits, True
        else:
            found.timeout_ms = digits * 1000
    elif name == "host":
        found.host = value
    elif name == "user":
        found.user = value
    elif name == "socket":
        found.socket = value
    elif name == "database":
        found.database = value
    elif name == "execute":
        found.execute.append(value)
    elif name == "protocol":
        if value.lower() not in ("tcp", "socket", "pipe", "memory"):
            raise Failed(f"Unknown option to protocol: {value}\nAlternatives are: 'tcp','socket','pipe'")
        found.protocol = value.lower()
