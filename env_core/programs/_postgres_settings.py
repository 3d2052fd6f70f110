"""What a Postgres server's command line and its configuration file say together.

Source: https://www.postgresql.org/docs/16/app-postgres.html; postgres 15 src/backend/postmaster/postmaster.c (PostmasterMain),
src/backend/utils/misc/guc.c (ParseLongOption); tests/golden/programs/postgres (postgres.conf.*, postgres.cli.badopt).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs import _postgres_config
from env_core.programs._model import Container
from env_core.programs._postgres_config import Read
from env_core.programs._postgres_names import NAMES

_LETTERS: Final = {
    "B": "shared_buffers", "D": "data_directory", "h": "listen_addresses", "k": "unix_socket_directories", "N": "max_connections",
    "p": "port", "S": "work_mem",
}  # fmt: skip
"""Options that are short for a setting."""


class Given(NamedTuple):
    """What a command line sets."""

    settings: Mapping[str, str]
    problem: tuple[str, ...] = ()
    """What is said of the first setting that cannot be, before the time zone is known; () if all can."""


@lru_cache(maxsize=256)
def given(argv: tuple[str, ...]) -> Given:
    """Read a server's command line, its name first."""
    settings: dict[str, str] = {}
    words = iter(argv[1:])
    for word in words:
        letter, rest = word[1:2], word[2:]
        if word.startswith("--"):
            shown, text = word, word[2:]
        elif word.startswith("-") and letter == "c":
            text = rest or next(words, "")
            shown = f"-c {text}"
        elif word.startswith("-") and letter in _LETTERS:
            text = f"{_LETTERS[letter]}={rest or next(words, '')}"
            shown = word
        else:
            continue
        name, equals, value = text.partition("=")
        name = name.replace("-", "_").strip().lower()
        problem = _problem(name, value) if equals else (f"FATAL:  {shown} requires a value",)
        if problem:
            return Given(settings, problem)
        settings[name] = value
    return Given(settings)


def _problem(name: str, value: str) -> tuple[str, ...]:
    """Return what is said of a setting on the command line.

    Not recorded: the recorded texts are of files, where guc.c reports at LOG what it reports at FATAL for an argument.
    """
    if name not in NAMES and "." not in name:
        return (f'FATAL:  unrecognized configuration parameter "{name}"',)
    return tuple(
        text.replace("LOG:", "FATAL:", 1) for text in _postgres_config.value_problem(name, value.strip())
    )


def configuration(container: Container, directory: str, argv: tuple[str, ...]) -> Read:
    """Return what a server's configuration file and its command line say; the command line wins."""
    settings, path = given(argv).settings, config_path(directory, argv)
    text = container.files.get(path)
    if text is None:
        return Read(settings)
    found = _postgres_config.read(path, text, tuple(container.files))
    return Read({**found.settings, **settings}, found.problems)


def config_path(directory: str, argv: tuple[str, ...]) -> str:
    """Return the path of the configuration file."""
    return given(argv).settings.get("config_file", f"{directory}/postgresql.conf")


def whole(settings: Mapping[str, str], name: str, default: int) -> int:
    """Return a setting that is a whole number; a server rounds what it is given."""
    value = settings.get(name)
    return default if value is None else round(float(value))
