"""What an argv starts in the end: through init programs, entrypoint scripts and one level of `sh -c`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs import _script
from env_core.programs._images import commands_of
from env_core.programs._model import Image

SHELLS: Final = ("sh", "bash", "ash", "dash")


_WRAPPERS: Final = ("tini", "dumb-init", "docker-entrypoint.sh", "entrypoint.sh", "env")


def shell_line_of(argv: tuple[str, ...]) -> str | None:
    """Return the script of `sh -c script`, or None when an argv does not start a shell with one."""
    if not argv or argv[0].rpartition("/")[2] not in SHELLS:
        return None
    for position, word in enumerate(argv[1:], start=1):
        if word.startswith("-") and "c" in word and position + 1 < len(argv):
            return argv[position + 1]
        if not word.startswith("-"):
            return None
    return None


def unwrapped(argv: tuple[str, ...], default: str = "") -> tuple[str, ...]:
    """Return an argv without the init programs and entrypoint scripts that only start the rest.

    An entrypoint script that is given options puts `default` before them, as the official images' do.
    """
    while len(argv) > 1 and argv[0].rpartition("/")[2] in _WRAPPERS:
        is_script = argv[0].endswith(".sh")
        argv = argv[1:]
        if is_script and default and argv[0].startswith("-"):
            return (default, *argv)
        while not is_script and len(argv) > 1 and argv[0].startswith("-") and argv[0] != "-":
            argv = argv[1:]
    return argv


class Words(NamedTuple):
    """The words of a command."""

    words: tuple[str, ...]
    is_script: bool = False
    """Whether a shell has still to take their quotes off and put its variables in."""


@lru_cache(maxsize=512)
def last_words(argv: tuple[str, ...], default: str) -> Words:
    """Return the last command that an argv starts; the argv itself where its script has none."""
    inner = unwrapped(argv, default)
    line = shell_line_of(inner)
    if line is None:
        return Words(inner)
    try:
        tree = _script.parse(line)
    except _script.ScriptProblem:
        return Words(argv)
    last = tree[-1] if tree else None
    if isinstance(last, _script.Chain):
        last = last.items[-1][1]
    if not isinstance(last, _script.Command) or not last.words:
        return Words(argv)
    words = unwrapped(last.words[1:] if last.words[0] == "exec" else last.words)
    return Words(words, any(mark in word for word in words for mark in "$'\""))


_CLIENTS: Final = frozenset(
    (
        "curl",
        "dig",
        "getent",
        "host",
        "mariadb",
        "mariadb-admin",
        "mysql",
        "mysqladmin",
        "nc",
        "netcat",
        "nslookup",
        "openssl",
        "ping",
        "redis-cli",
        "telnet",
        "wget",
    )
)
"""Programs whose output depends on the network at the moment."""
_CLIENT: Final = re.compile(r"(?:^|[\s;&|(!`])(?:[\w./-]*/)?([a-z][a-z-]*)(?=[\s;&|)`]|$)")
"""A word that may be a command's name."""


def asks_the_network(image: Image, argv: tuple[str, ...], line: str | None) -> bool:
    """Whether a command, or a script, runs a client that the image has."""
    names = _CLIENT.findall(line) if line is not None else [argv[0].rpartition("/")[2]]
    return any(name in _CLIENTS and name in commands_of(image) for name in names)
