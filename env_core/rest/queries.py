"""The query of a request as the options of the API: lists, watches, writes, deletes, logs and commands.

Source: k8s.io/apimachinery pkg/apis/meta/v1 and pkg/runtime/converter; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions, LogOptions, Options
from env_core.objects.problems import quoted
from env_core.rest.refusals import (
    delete_options_problem,
    list_options_problem,
    number_of,
    write_options_problem,
)
from env_core.sim.timefmt import parse_ms

_PAIRS_MAX = 256
_FALSE = ("", "0", "false")


class Query:
    """A parsed query: the first value of each name counts, as Go's decoders of options read it."""

    __slots__ = ("_pairs", "first")

    def __init__(self, text: str) -> None:
        """Read the query of a URL.

        Raises:
            StatusError: 400 for more parameters than any client sends.
        """
        try:
            self._pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_PAIRS_MAX)
        except ValueError:
            raise errors.bad_request("too many query parameters") from None
        self.first: Mapping[str, str] = dict(reversed(self._pairs))

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a name."""
        return tuple(value for key, value in self._pairs if key == name)

    def text(self, name: str) -> str:
        """Return the value of a name, "" without one."""
        return self.first.get(name, "")

    def flag(self, name: str) -> bool:
        """Return a boolean: anything but "", "0" and "false" is true, as Go's query converter has it."""
        value = self.first.get(name)
        return value is not None and value.lower() not in _FALSE

    def given_flag(self, name: str) -> bool | None:
        """Return a boolean, None when it is not given."""
        return self.flag(name) if name in self.first else None

    def number(self, name: str) -> int | None:
        """Return an integer, None without one.

        Raises:
            StatusError: 400 for anything else.
        """
        return number_of(self.first, name)


def read_options(
    verb: str, query: Query, delete_options: Mapping[str, Any] | None, content_type: str
) -> tuple[Options, StatusError | None]:
    """Return the options of a request, and why they are refused if they are.

    `delete_options` are those of a DELETE's body; they hide those of the query.

    Raises:
        StatusError: 400 for a number that is none.
    """
    if verb in ("delete", "deletecollection"):
        return _delete(query, delete_options)
    if verb in ("list", "watch"):
        query.number("timeoutSeconds")
        problem = list_options_problem(query.first, is_watch=verb == "watch")
        return _selection(query), problem
    if verb in ("create", "update", "patch"):
        options = Options(
            dry_run=bool(query.text("dryRun")),
            field_manager=query.text("fieldManager"),
            field_validation=query.text("fieldValidation") or "Warn",
            force=query.flag("force"),
        )
        return options, write_options_problem(verb, query.first, content_type)
    return Options(resource_version=query.text("resourceVersion")), None


def _selection(query: Query, **more: Any) -> Options:
    return Options(
        label_selector=query.text("labelSelector"),
        field_selector=query.text("fieldSelector"),
        resource_version=query.text("resourceVersion"),
        resource_version_match=query.text("resourceVersionMatch"),
        limit=max(query.number("limit") or 0, 0),
        continue_token=query.text("continue"),
        **more,
    )


def _delete(query: Query, given: Mapping[str, Any] | None) -> tuple[Options, StatusError | None]:
    body = given or {}
    policy = body.get("propagationPolicy") or ("" if given else query.text("propagationPolicy"))
    dry_run = (body.get("dryRun") or []) if given else list(query.all("dryRun"))
    preconditions = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds") if given else query.number("gracePeriodSeconds")
    if body.get("orphanDependents") is not None and not policy:
        policy = "Orphan" if body["orphanDependents"] else "Background"
        problem = delete_options_problem("", {}, dry_run)
    else:
        problem = delete_options_problem(policy, body, dry_run)
    options = _selection(
        query,
        dry_run=bool(dry_run),
        propagation_policy=policy,
        grace_period_seconds=grace,
        precondition_uid=preconditions.get("uid") or "",
        precondition_resource_version=preconditions.get("resourceVersion") or "",
    )
    return options, problem


def log_options(query: Query) -> LogOptions:
    """Return the options of a log.

    Raises:
        StatusError: 400 for a number that is none.
    """
    return LogOptions(
        container=query.text("container"),
        previous=query.flag("previous"),
        timestamps=query.flag("timestamps"),
        tail_lines=query.number("tailLines"),
        since_seconds=query.number("sinceSeconds"),
        since_time=_time(query.text("sinceTime")),
        limit_bytes=query.number("limitBytes"),
    )


def _time(text: str) -> str:
    try:
        if text:
            parse_ms(text)
    except ValueError:
        layout = "2006-01-02T15:04:05Z07:00"
        raise errors.bad_request(
            f'parsing time {quoted(text)} as "{layout}": cannot parse {quoted(text)} as "2006"'
        ) from None
    return text


def exec_options(query: Query) -> ExecOptions:
    """Return the options of a command to run, or of a process to attach to."""
    return ExecOptions(command=query.all("command"), container=query.text("container"))


def wanted_streams(query: Query) -> frozenset[str]:
    """Return which of stdin, stdout, stderr and tty a client wants."""
    return frozenset(name for name in ("stdin", "stdout", "stderr", "tty") if query.flag(name))


def forwarded_ports(query: Query) -> tuple[int, ...]:
    """Return the ports that a client without a tunnel of its own wants forwarded; each value may list several.

    Source: k8s.io/apimachinery pkg/apis/meta/v1/conversion.go, Convert_Slice_string_To_Slice_int32.

    Raises:
        StatusError: 400 for what is no port.
    """
    return tuple(_port(word) for value in query.all("ports") for word in value.split(","))


def _port(word: str) -> int:
    is_number = word.isascii() and word.isdecimal()
    if is_number and int(word) < 1 << 16:
        return int(word)
    why = "value out of range" if is_number else "invalid syntax"
    problem = f"strconv.ParseUint: parsing {quoted(word)}: {why}"
    raise errors.bad_request(f"cannot convert to []int32: {problem}")
