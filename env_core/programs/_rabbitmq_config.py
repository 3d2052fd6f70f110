"""rabbitmq.conf: its lines, which settings there are, what values they take, and how a wrong one is told.

Source: rabbitmq-server 3.10.8 deps/*/priv/schema, deps/rabbit/apps/rabbitmq_prelaunch/src/rabbit_prelaunch_conf.erl,
deps/rabbit_common/src/rabbit_resource_monitor_misc.erl; Kyorai/cuttlefish src/cuttlefish_generator.erl, cuttlefish_error.erl;
tests/golden/programs/rabbitmq (rabbitmq.conf.bad).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from env_core.programs._model import Container

MAIN: Final = "/etc/rabbitmq/rabbitmq.conf"
MORE: Final = "/etc/rabbitmq/conf.d/"
PLUGINS: Final = "/etc/rabbitmq/enabled_plugins"
NOT_PREPARED: Final = "failed_to_prepare_configuration"
NOT_PARSED: Final = "failed_to_parse_configuration_file"
_PROBLEMS_MAX: Final = 20
"""How many wrong settings are told: a bound of ours."""
_NAME_MAX: Final = 120
"""How much of an unknown name is compared with those there are: a bound of ours."""
_SUGGESTED: Final = 3
_NAME: Final = re.compile(r"[\w$.-]+")
_UNITS: Final = {
    "": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
}  # fmt: skip
_SIZE: Final = re.compile(
    r"([0-9]{1,18})(kB|KB|MB|GB|kb|mb|gb|Kb|Mb|Gb|kiB|KiB|MiB|GiB|kib|mib|gib|KIB|MIB|GIB|k|K|m|M|g|G)?"
)


class Settings(NamedTuple):
    """What a server's configuration files say, or what is wrong with them."""

    values: Mapping[str, str]
    files: tuple[str, ...]
    plugins: tuple[str, ...]
    problems: tuple[str, ...] = ()
    """What is logged of them; none when they can be used."""
    reason: str = ""
    """Why the server gives up, as an Erlang atom."""


def data(name: str) -> str:
    """Return one of the texts that stand beside this module."""
    return files("env_core.programs").joinpath("data", f"rabbitmq_{name}.txt").read_text("utf-8")


@cache
def _known() -> dict[str, str]:
    """Return the settings there are by name, each with its type."""
    rows = (line.partition(" ") for line in data("settings").splitlines())
    return {name: kind for name, _, kind in rows}


@cache
def _patterns() -> tuple[tuple[tuple[str, ...], str], ...]:
    return tuple((tuple(name.split(".")), kind) for name, kind in _known().items() if "$" in name)


@lru_cache(maxsize=1024)
def _kind(name: str) -> str | None:
    """Return a setting's type, None when there is no such setting; a part with "$" stands for any."""
    found = _known().get(name)
    if found is not None and "$" not in name:
        return found
    parts = name.split(".")
    for pattern, kind in _patterns():
        if len(pattern) == len(parts) and all(
            each.startswith("$") or each == part for each, part in zip(pattern, parts, strict=True)
        ):
            return kind
    return None


def _distance(one: str, other: str) -> int:
    """Return Levenshtein's distance."""
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, start=1):
        before, row[0] = row[0], number
        for index, each in enumerate(other, start=1):
            cost = before if letter == each else 1 + min(before, row[index], row[index - 1])
            before, row[index] = row[index], cost
    return row[-1]


@lru_cache(maxsize=256)
def _nearest(name: str) -> tuple[str, ...]:
    ranked = sorted((_distance(name, each), each) for each in _known())
    return tuple(each for _, each in ranked[:_SUGGESTED])


def _wrong(kind: str, value: str) -> str:
    """Return what is said of a value that a type does not take, "" when it does."""
    if kind == "integer" and not re.fullmatch(r"[+-]?[0-9]+", value):
        return f'"{value}" cannot be converted to a(n) integer'
    if kind == "float" and not re.fullmatch(r"[+-]?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?", value):
        return f'"{value}" cannot be converted to a(n) float'
    if kind.startswith("enum "):
        allowed = kind[5:].split(",")
        if value not in allowed:
            return f'"{value}" is not a valid enum value, acceptable values are: {", ".join(allowed)}'
    if kind == "bytesize" and not re.fullmatch(r"[0-9]+(?:[kKmMgG][bB])?", value):
        return f'Error converting value "{value}" to a number of bytes'
    return ""


def size(text: str) -> int | None:
    """Return an amount of memory or disk space in bytes, None when it is none."""
    found = _SIZE.fullmatch(text)
    return None if found is None else int(found[1]) * _UNITS[(found[2] or "").lower()]


def _lines(path: str, text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the settings of a file in order, and what is wrong with its grammar."""
    found: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, rest = line.partition("=")
        value = rest.partition(" #")[0].strip()
        if not value or not _NAME.fullmatch(name.strip()):
            return (
                found,
                f"Syntax error in {path} after line {number} column 1, parsing incomplete",
            )
        found.append((name.strip(), value.strip("'")))
    return found, ""


def _checked(values: Mapping[str, str]) -> list[str]:
    """Return what is logged of settings that do not exist or have wrong values; nothing when all are right."""
    unknown: list[str] = []
    wrong: list[str] = []
    for name, value in values.items():
        kind = _kind(name)
        if kind is None:
            unknown += [
                f"You've tried to set {name}, but there is no setting with that name.",
                "  Did you mean one of these?",
                *(f"    {each}" for each in _nearest(name[:_NAME_MAX])),
            ]
            wrong = [f"  - Conf file attempted to set unknown variable: {name}", *wrong]
        elif problem := _wrong(kind, value):
            wrong = [f"  - Error transforming datatype for: {name}", f"  - {problem}", *wrong]
        if len(wrong) >= _PROBLEMS_MAX:
            break
    return [*unknown, "Error preparing configuration in phase transform_datatypes:", *wrong] if wrong else []


def read(container: Container, image: Mapping[str, str]) -> Settings:
    """Return what a container's files and those of its image configure.

    Mounted files hide the directory of the image in which they lie.
    """
    hidden = {path.rpartition("/")[0] + "/" for path in container.files if path.startswith("/etc/")} - {
        "/etc/"
    }
    own = {path: text for path, text in image.items() if not any(path.startswith(each) for each in hidden)}
    known = {**own, **container.files}
    more = sorted(path for path in known if path.startswith(MORE) and path.endswith(".conf"))
    # RABBITMQ_CONFIG_FILE may be given without its extension.
    main = container.env.get("RABBITMQ_CONFIG_FILE") or MAIN
    main = main if main in known else f"{main}.conf"
    paths = tuple(path for path in (main, *more) if path in known)
    plugins = tuple(re.findall(r"\w+", known.get(PLUGINS, "").partition("]")[0]))
    values: dict[str, str] = {}
    for path in paths:
        rows, problem = _lines(path, known[path])
        if problem:
            told = (
                "Error parsing configuration:",
                f"  - {problem}",
                "Are these files using the Cuttlefish format?",
            )
            return Settings(values, paths, plugins, told, NOT_PARSED)
        values.update(rows)
    problems = tuple(_checked(values))
    return Settings(values, paths, plugins, problems, NOT_PREPARED if problems else "")
