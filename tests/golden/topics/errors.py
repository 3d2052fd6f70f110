"""l2/facts/errors: requests played in order against the real API server, with what its recorder set up between them."""

from __future__ import annotations

import json
from typing import Any

from env_core.apiserver.registry import Registry, ServedKinds
from env_core.cluster import Cluster, registry
from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import (
    node_ports,
    server_drawn,
    stored,
    without_hashes_of_prose,
    without_prose_of_columns,
)
from tests.golden.recordings import Folder, Record

METRICS = "metrics.k8s.io"
ANSWERS = ("status", "response")
APART = ("ns-recreate", "ns-term-get")
"""README: "also wait 8 s between ns-recreate and ns-term-get"."""


class Replay:
    """One control plane that answers the requests of a file in order."""

    def __init__(self, setup: list[Record]) -> None:
        self.world = Cluster(seed=1)
        # README: "`metrics.k8s.io` is a stub …: present for flows hpa-* … and for all kubectl cases", not here.
        served = [kind for kind in registry().kinds if kind.group != METRICS]
        builtin = Registry([*served, *registry().others])
        self.world.server.registry = ServedKinds(builtin, self.world.store)
        self.world.boot()
        self.before: dict[str, list[Record]] = {}
        self.last = ""
        self.warnings: list[str] = []
        self.tokens: dict[str, str] = {}
        for entry in setup:
            self.before.setdefault(entry["before"], []).append(entry)

    def answer(self, record: Record) -> tuple[int, Any]:
        """Set up what stands before a record, send its request, and return code and body."""
        if (self.last, record["id"]) == APART:
            self.world.advance(8_000)
        for entry in self.before.pop(record["id"], ()):
            http.send(self.world.server, entry, http.TOKENS["tok-admin"])
            self.world.advance(int(entry.get("wait_s", 0) * 1000) + 100)
        self.last = record["id"]
        sent = {**record, "path": self._with_own_tokens(record["path"])}
        identity = http.TOKENS.get(record.get("token") or "")
        code, body, self.warnings = http.exchange(self.world.server, sent, identity)
        self._note_token(record.get("response"), body)
        self.world.advance(50)
        return code, body

    def _note_token(self, recorded: Any, body: Any) -> None:
        """Remember which of our continue tokens stands for a recorded one: the recorder sends on what it was given."""
        theirs, ours = _token(recorded), _token(body)
        if theirs and ours:
            self.tokens[theirs] = ours

    def _with_own_tokens(self, path: str) -> str:
        for theirs, ours in self.tokens.items():
            path = path.replace(f"continue={theirs}", f"continue={ours}")
        return path


def _token(body: Any) -> str:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return (metadata or {}).get("continue") or ""


def _setup(folder: Folder) -> list[Record]:
    found: list[Record] = folder.companion("l2/facts/errors_setup.json")
    return found


def comparable(code: int | None, body: Any) -> Record:
    """Return what is compared of an answer: the code and the whole Status, object, list, Table or row of watch events."""
    events = _events(body)
    if events is not None:
        return {"code": code, "events": events}
    if isinstance(body, dict) and body.get("kind") == "Status":
        # "details: {}" and no details at all say the same.
        plain = {key: value for key, value in body.items() if key != "details" or value}
        return {"http": code, **server_drawn(plain)}
    if isinstance(body, dict) and "metadata" in body:
        return {"code": code, "object": shown(body)}
    return {"code": code, "body": without_hashes_of_prose(server_drawn(body))}


def shown(body: Record) -> Record:
    """Return an object, list or Table without what a server draws."""
    if isinstance(body.get("items"), list):
        items = [stored(item, has_managed_fields=False) for item in body["items"]]
        body = {**body, "metadata": {}, "items": items}
    if body.get("kind") == "Table":
        rows = [{**row, "object": _in_row(row.get("object"))} for row in body.get("rows") or ()]
        body = {**without_prose_of_columns(body), "metadata": {}, "rows": rows}
    return node_ports(server_drawn(stored(body, has_managed_fields=False)))


def _in_row(obj: Any) -> Any:
    return stored(obj, has_managed_fields=False) if isinstance(obj, dict) else obj


def _events(body: Any) -> list[Record] | None:
    """Return the events of a watch, None for any other body."""
    if isinstance(body, str) and body.startswith('{"type":'):
        found = [json.loads(line) for line in body.splitlines()]
    elif isinstance(body, dict) and body.keys() == {"type", "object"}:
        found = [body]
    else:
        return None
    return [{"type": event["type"], "object": shown(event["object"])} for event in found]


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    replay = folder.once("replay", lambda: Replay(_setup(folder)))
    code, body = replay.answer(record)
    if "status" not in record:  # "no complete answer": nothing to compare, but the request was sent.
        return []
    wanted, got = comparable(record["status"], record.get("response")), comparable(code, body)
    wanted["warnings"] = (record.get("respHeaders") or {}).get("Warning") or []
    got["warnings"] = replay.warnings
    return [Comparison(wanted, got)]


TOPIC = Topic(name="l2/facts/errors", files=("errors.jsonl",), answers=ANSWERS, judge=_judge)
