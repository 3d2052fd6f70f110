"""What rabbitmq-server logs while it starts and stops: line by line as recorded, with a container's own values in it.

The texts stand in `data/rabbitmq_*.txt`. A line begins with its kind (i, n, w, e: logged with that level; o: as it is; !: to
the other stream; s: with the end of the banner before it; @: to be worked out) and with when it comes: "+" on the first
start over a data directory, "-" on later ones.

Source: tests/golden/programs/rabbitmq; for plugins rabbitmq-server 3.10.8 deps/rabbitmq_management/src/rabbit_mgmt_app.erl,
deps/rabbitmq_prometheus/src/rabbit_prometheus_app.erl, deps/rabbit/src/rabbit.erl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple

from env_core.programs._http import moment
from env_core.programs._model import Line
from env_core.programs._rabbitmq_config import data

_LEVELS: Final = {"i": "info", "n": "notice", "w": "warning", "e": "error"}
_FLAGS: Final = (
    "classic_mirrored_queue_version", "implicit_default_bindings", "maintenance_mode_status", "quorum_queue", "stream_queue",
    "user_limits", "virtual_host_metadata",
)  # fmt: skip
_PID: Final = 223
"""The number of the Erlang process that boots."""

Entry = tuple[str, str]
"""A kind of line and its text."""


class Template(NamedTuple):
    """One line of a text."""

    kind: str
    when: str
    text: str


@cache
def template(name: str) -> tuple[Template, ...]:
    """Return the lines of a text."""
    return tuple(Template(line[0], line[1:2].strip(), line[3:]) for line in data(name).splitlines())


def stamp(at_us: int) -> str:
    """Return a time in microseconds as the log has it."""
    return f"{moment(at_us // 1000):%Y-%m-%d %H:%M:%S}.{at_us % 1_000_000:06d}+00:00"


def logged(level: str, text: str, at_ms: int, pid: int = _PID, extra_us: int = 0) -> Line:
    """Return one line of the log at an absolute time."""
    return Line(at_ms, f"{stamp(at_ms * 1000 + extra_us)} [{level}] <0.{pid}.0> {text}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its values in their places."""
    if "«" not in text:
        return text
    for name, value in values.items():
        text = text.replace(f"«{name}»", value)
    return text.replace("«cr»", "\r")


def entries(
    name: str, values: Mapping[str, str], works_out: Callable[[str], Iterable[Entry]] = lambda _word: (), *, is_first: bool = True
) -> list[Entry]:  # fmt: skip
    """Return the lines of a text for a start; `works_out` gives those of its marks."""
    left_out = "-" if is_first else "+"
    found: list[Entry] = []
    for line in template(name):
        if line.when == left_out:
            continue
        if line.kind == "@":
            found += _flags(line.text[6:]) if line.text.startswith("flags ") else works_out(line.text)
        else:
            found.append((line.kind, filled(line.text, values)))
    return found


def _flags(states: str) -> list[Entry]:
    return [
        ("i", "Feature flags: list of feature flags found:"),
        *(("i", f"Feature flags:   [{state.replace('.', ' ')}] {name}") for state, name in zip(states, _FLAGS, strict=True)),
        ("i", "Feature flags: feature flag states written to disk: yes"),
    ]  # fmt: skip


def spread(found: list[Entry], started_ms: int, from_ms: int, until_ms: int) -> tuple[Line, ...]:
    """Return lines spread over a part of a run, with times from the run's start."""
    lines: list[Line] = []
    for index, (kind, text) in enumerate(found):
        at_us = from_ms * 1000 + (until_ms - from_ms) * 1000 * index // max(len(found), 1) + index * 3
        shown = f"{stamp(started_ms * 1000 + at_us)} [{_LEVELS.get(kind, 'info')}] <0.{_PID}.0> {text}"
        shown = shown.replace("«pid»", f"0.{_PID + 1 + index}.0")
        if kind in _LEVELS:
            lines.append(Line(at_us // 1000, shown))
        elif kind == "s":
            lines.append(Line(at_us // 1000, f"  Starting broker...{shown}"))
        else:
            lines.append(Line(at_us // 1000, text, "stderr" if kind == "!" else "stdout"))
    return tuple(lines)


def configs(paths: tuple[str, ...], *, is_banner: bool) -> list[Entry]:
    """Return which configuration files are read, in the banner or in the log."""
    first, *rest = paths or ("(none)",)
    if is_banner:
        return [("o", f"  Config file(s): {first}"), *(("o", f"                  {each}") for each in rest)]
    return [("i", f" config file(s) : {first}"), *(("i", f"                : {each}") for each in rest)]


ALARM: Final = (
    "",
    "**********************************************************",
    "*** Publishers will be blocked until this alarm clears ***",
    "**********************************************************",
    "",
)


def alarm_set(what: str, node: str) -> list[str]:
    """Return what is logged as a warning when an alarm ("memory" or "disk") is set."""
    return [f"{what} resource limit alarm set on node {node}.", *ALARM]


def listeners(port: int, plugins: Iterable[str], management: int, metrics: int) -> list[Entry]:
    """Return which listeners are started."""
    found = [("i", f"started TCP listener on [::]:{port}")]
    if "rabbitmq_management" in plugins:
        text = "Management plugin: HTTP (non-TLS) listener started on port"
        found.append(("i", f"{text} {management}"))
    if "rabbitmq_prometheus" in plugins:
        text = "Prometheus metrics: HTTP (non-TLS) listener started on port"
        found.append(("i", f"{text} {metrics}"))
    return found


def complete(plugins: tuple[str, ...]) -> list[Entry]:
    """Return how the end of the start is told."""
    return [
        ("i", f"Server startup complete; {len(plugins)} plugins started."),
        *(("i", f" * {each}") for each in plugins),
    ]
