"""l2/defaults: objects posted as dry runs, as the whole real chain answered them."""

from __future__ import annotations

import re
from typing import Any

from env_core.cluster import Cluster
from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import generated_name, node_ports, server_drawn, stored
from tests.golden.recordings import Folder, Record
from tests.golden.topics.errors import comparable

ANSWERS = ("status", "response", "warnings")
UIDS = {"tok-admin": "1", "tok-dev": "4"}
"""The uids of the static tokens' users, as the recorded reviews show them."""
TOKENS = {
    token: identity._replace(uid=UIDS.get(token, "")) for token, identity in http.TOKENS.items()
}


def _cluster() -> Cluster:
    """A control plane with the namespace that the recorder posted to."""
    made = Cluster(seed=1)
    made.boot()
    made.server.tokens = TOKENS
    made.client().create("namespaces", "", {"metadata": {"name": "defaults"}})
    made.advance(1_000)
    return made


def _described(request: Any) -> Any:
    """Return the body that a record describes instead of holding it: "ConfigMap with a 1100000 byte value"."""
    note = request.get("note") if isinstance(request, dict) else None
    found = re.fullmatch(r"ConfigMap with a (\d+) byte value", note or "")
    if found is None:
        return request
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    return {**body, "data": {"a": "x" * int(found[1])}}


def _answer(cluster: Cluster, record: Record) -> tuple[int, Any, list[str]]:
    posted = {**record, "body": _described(record["request"])}
    return http.exchange(cluster.server, posted, TOKENS["tok-admin"])


def _comparable(record: Record, code: int, body: Any, warnings: list[str]) -> Record:
    if code >= 400:
        return {**comparable(code, body), "warnings": warnings}
    body = generated_name(stored(body), record["request"])
    return {"code": code, "warnings": warnings, "object": node_ports(server_drawn(body))}


def _judge(record: Record, folder: Folder) -> Comparison:
    cluster = folder.once("cluster", _cluster)
    code, body, warnings = _answer(cluster, record)
    return Comparison(
        _comparable(record, record["status"], record["response"], record["warnings"]),
        _comparable(record, code, body, warnings),
    )


TOPIC = Topic(name="l2/defaults", files=("defaults.jsonl",), answers=ANSWERS, judge=_judge)
