"""promql: asks the cluster's monitoring from the terminal, and prints as promtool does.

Source: https://prometheus.io/docs/prometheus/latest/command-line/promtool/ (query instant, query range); the texts of
values are those of github.com/prometheus/common model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlencode

from env_core.observability.promql import labels_of, labels_text, plain_number
from env_core.shell.context import Process, Program
from env_core.world import Output

Telemetry = Callable[[str, str], tuple[int, str, str]]

_USAGE: Final = """\
usage: promql [<flags>] <expr>

Evaluate a PromQL expression over the cluster's metrics.

  --time=TIME      evaluate at this time (RFC 3339 or seconds; now by default)
  --start=TIME     first time of a range
  --end=TIME       last time of a range (now by default)
  --step=DURATION  step of a range (15s by default)
  -o, --format=FORMAT  promql or json
"""
_FLAGS: Final = ("time", "start", "end", "step", "format")


class _Wrong(Exception):
    """A command line that says nothing sensible."""


def bound(telemetry: Telemetry) -> Program:
    """Return the program for one monitoring system."""

    def run(process: Process, argv: list[str]) -> Output:
        if any(word in ("-h", "--help") for word in argv[1:]):
            return Output(_USAGE)
        try:
            flags, words = _parsed(argv[1:])
            if len(words) != 1:
                raise _Wrong(
                    "required argument 'expr' not provided" if not words else f"unexpected {words[1]}"
                )
        except _Wrong as problem:
            return Output("", f"promql: error: {problem}, try --help\n", 1)
        return _asked(telemetry, flags, words[0], process.now_ms())

    return run


def _parsed(words: list[str]) -> tuple[dict[str, str], list[str]]:
    flags: dict[str, str] = {}
    rest: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        name, equals, value = word.lstrip("-").partition("=")
        if word == "--":
            rest += words[position:]
            break
        if word == "-o":
            name = "format"
        elif not word.startswith("--"):
            rest.append(word)
            continue
        if name not in _FLAGS:
            raise _Wrong(f"unknown long flag '--{name}'")
        if not equals:
            if position == len(words):
                raise _Wrong(f"expected argument for flag '--{name}'")
            value = words[position]
            position += 1
        flags[name] = value
    if flags.get("format", "promql") not in ("promql", "json"):
        raise _Wrong(f"enum value must be one of promql,json, got {flags['format']!r}")
    return flags, rest


def _asked(telemetry: Telemetry, flags: dict[str, str], expr: str, now_ms: int) -> Output:
    form = {"query": expr}
    if "start" in flags:
        end = flags.get("end", str(now_ms / 1000))
        form |= {"start": flags["start"], "end": end, "step": flags.get("step", "15s")}
    elif "time" in flags:
        form["time"] = flags["time"]
    path = "/api/v1/query_range" if "start" in flags else "/api/v1/query"
    _, body, _ = telemetry(path, urlencode(form))
    try:
        answer = json.loads(body)
    except ValueError:
        return Output("", f"query error: {body.strip()}\n", 1)
    if answer.get("status") != "success":
        return Output("", f"query error: {answer['errorType']}: {answer['error']}\n", 1)
    notes = "".join(f"{text}\n" for text in (*answer.get("warnings", ()), *answer.get("infos", ())))
    data = answer["data"]
    if flags.get("format") == "json":
        return Output(json.dumps(data["result"], separators=(",", ":")) + "\n", notes)
    return Output("\n".join(_lines(data["resultType"], data["result"])) + "\n", notes)


def _metric(labels: dict[str, str]) -> str:
    rest = labels_text(labels_of({name: text for name, text in labels.items() if name != "__name__"}))
    name = labels.get("__name__", "")
    return name if name and rest == "{}" else name + rest


def _lines(kind: str, result: Any) -> Iterator[str]:
    if kind in ("scalar", "string"):
        at, value = result
        yield f"{kind}: {value} @[{plain_number(at)}]" if kind == "scalar" else value
        return
    for row in result:
        metric = _metric(row["metric"])
        if kind == "vector":
            at, value = row["value"]
            yield f"{metric} => {plain_number(float(value))} @[{plain_number(at)}]"
        else:
            yield f"{metric} =>"
            for at, value in row["values"]:
                yield f"{plain_number(float(value))} @[{plain_number(at)}]"
