"""l2/facts/errors: requests played in order against the real API server, with what its recorder set up between them."""

from __future__ import annotations

from typing import Any

from env_core.cluster import Cluster
from tests.golden import http
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import node_ports, server_drawn, stored
from tests.golden.recordings import Folder, Record

ANSWERS = ("status", "response")
APART = ("ns-recreate", "ns-term-get")
"""README: "also wait 8 s between ns-recreate and ns-term-get"."""


class Replay:
    """One control plane that answers the requests of a file in order."""

    def __init__(self, setup: list[Record]) -> None:
        self.world = Cluster(seed=1)
        self.world.boot()
        self.before: dict[str, list[Record]] = {}
        self.last = ""
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
        code, body = http.send(self.world.server, record, http.TOKENS.get(record.get("token") or ""))
        self.world.advance(50)
        return code, body


def _setup(folder: Folder) -> list[Record]:
    found: list[Record] = folder.companion("l2/facts/errors_setup.json")
    return found


def comparable(code: int | None, body: Any) -> Record:
    """Return what is compared of an answer: the code and the whole Status, or the object."""
    if isinstance(body, dict) and body.get("kind") == "Status":
        # "details: {}" and no details at all say the same.
        plain = {key: value for key, value in body.items() if key != "details" or value}
        return {"http": code, **server_drawn(plain)}
    if isinstance(body, dict) and "metadata" in body:
        if isinstance(body.get("items"), list):
            items = [stored(item, has_managed_fields=False) for item in body["items"]]
            body = {**body, "metadata": {}, "items": items}
        return {"code": code, "object": node_ports(server_drawn(stored(body, has_managed_fields=False)))}
    return {"code": code, "body": body}


def _judge(record: Record, folder: Folder) -> list[Comparison]:
    replay = folder.once("replay", lambda: Replay(_setup(folder)))
    code, body = replay.answer(record)
    if "status" not in record:  # "no complete answer": nothing to compare, but the request was sent.
        return []
    return [Comparison(comparable(record["status"], record.get("response")), comparable(code, body))]


TOPIC = Topic(name="l2/facts/errors", files=("errors.jsonl",), answers=ANSWERS, judge=_judge)
