"""l2/facts/errors: requests played in order against the real API server, with what its recorder set up between them."""

from __future__ import annotations

from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.authz import impersonation_text
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Identity
from env_core.cluster import Cluster
from tests.golden import http_requests
from tests.golden.comparison import Comparison, Topic
from tests.golden.http_requests import Plain
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
            self.send(entry, http_requests.TOKENS["tok-admin"])
            self.world.advance(int(entry.get("wait_s", 0) * 1000) + 100)
        self.last = record["id"]
        try:
            code, body = self.send(record, http_requests.authenticate(record.get("token")))
        except StatusError as error:
            code, body = error.code, error.status
        self.world.advance(50)
        return code, "" if record["method"] == "HEAD" else body

    def send(self, record: Record, identity: Identity) -> tuple[int, Any]:
        """Send one request as `identity`; raises `StatusError` for what HTTP or authorisation refuses."""
        server = self.world.server
        headers = record.get("headers") or {}
        asked = http_requests.translate(
            record["method"],
            record["path"],
            identity=self._impersonate(record, headers, identity),
            registry=server.registry,
            headers=headers,
            content_type=record.get("contentType") or "",
            accept=record.get("accept") or "",
            body=record.get("body"),
        )
        if isinstance(asked, Plain):
            return self._plain(asked)
        request = asked.request
        if asked.refusal is not None:
            server.authorize(request.identity, request.verb, asked.kind, request)
            raise asked.refusal
        response = server.handle(request)
        return response.code, http_requests.answered_body(asked.kind, response.object)

    def _impersonate(self, record: Record, headers: Record, identity: Identity) -> Identity:
        wanted = http_requests.impersonated(headers)
        if wanted is None or "system:masters" in identity.groups:
            return wanted or identity
        target = http_requests.target_of(record["path"].partition("?")[0]) or http_requests.Target("", "", "")
        verb = "get" if target.name else "list"
        why = impersonation_text(identity, verb, target.group, target.plural, target.namespace)
        raise errors.forbidden(target.group, target.plural, target.name, why)

    def _plain(self, asked: Plain) -> tuple[int, Any]:
        """Answer what is no resource, as far as the API server itself decides it: who may ask, and not found."""
        authorizer = self.world.server.authorizer
        target = asked.target
        if target is not None:
            what = (
                asked.verb,
                target.group,
                target.plural,
                target.subresource,
                target.namespace,
                target.name,
            )
            if not authorizer.allowed(asked.identity, *what):
                raise authorizer.refusal(asked.identity, *what)
            if any(kind.group == target.group for kind in self.world.server.registry.kinds):
                raise errors.resource_unknown()
            return 404, "404 page not found\n"
        if not authorizer.allowed_path(asked.identity, asked.verb, asked.path):
            raise authorizer.refusal_path(asked.identity, asked.verb, asked.path)
        if asked.path in ("/healthz", "/livez", "/readyz"):
            return 200, "ok"
        return 404, "404 page not found\n"


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
