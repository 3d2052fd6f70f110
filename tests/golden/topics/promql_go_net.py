"""promql/go_net: the errors of Go's network clients and of its standard library.

A record's `setup` says in words what happened; here words are mapped to conditions of the simulated library (`go_setups`). What
was asked (method, URL, address, host) is not recorded apart: it is read from the recorded error, and all that follows is computed.
"""

from __future__ import annotations

from typing import Any

from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic
from tests.golden.go_setups import happened
from tests.golden.normalise import go_ports
from tests.golden.recordings import Folder, Record

ANSWERS = ("error", "chain", "timeout", "grpcCode", "httpStatus", "body", "serverLog")


def _judge(record: Record, _folder: Folder) -> Comparison:
    wanted = {field: record[field] for field in ANSWERS if field in record}
    found = happened(record)
    if found is None:
        return Comparison(wanted, NOT_IMPLEMENTED)
    got: dict[str, Any] = {"error": go_ports(found.error.text) if found.error is not None else ""}
    if found.error is not None:
        got["chain"] = list(found.error.chain)
        if found.error.is_timeout is not None:
            got["timeout"] = found.error.is_timeout
    for field, value in (
        ("grpcCode", found.code), ("httpStatus", found.status), ("body", found.body), ("serverLog", found.log),
    ):  # fmt: skip
        if value:
            got[field] = value
    return Comparison(wanted, got)


TOPIC = Topic(name="promql/go_net", files=("go_net.jsonl",), answers=ANSWERS, judge=_judge)
