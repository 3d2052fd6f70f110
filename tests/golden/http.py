"""Recorded HTTP requests, played against the REST interface of a cluster: tokens as identities, bodies as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from env_core.apiserver.request import ADMIN, Identity
from env_core.apiserver.server import ApiServer
from env_core.rest.api import RestApi, unauthorized
from env_core.rest.message import HttpRequest, HttpResponse
from env_core.rest.watching import Watch
from tests.golden.recordings import Record

AUTHENTICATED = "system:authenticated"
TOKENS: Mapping[str, Identity] = {
    "tok-admin": ADMIN,
    "tok-dev": Identity("dev", ("dev-team", AUTHENTICATED)),
    "tok-node0": Identity("system:node:node-0", ("system:nodes", AUTHENTICATED)),
}
"""The static tokens of the recorded control plane (l2 README: `tok-admin`, `tok-dev`, `tok-node0`)."""
RECORDER = "l2-recorder"
"""What the recorder called itself: the manager of what it wrote."""
ANONYMOUS = Identity("system:anonymous", ("system:unauthenticated",))
"""l2 README: "errors_extra: anonymous requests with --anonymous-auth=true"."""


def request_of(record: Record) -> HttpRequest:
    """Return a recorded request as it went over the wire."""
    method = record["method"]
    headers = [
        (name.lower(), value)
        for name, values in (record.get("headers") or {}).items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    for name, value in (("content-type", record.get("contentType")), ("accept", record.get("accept"))):
        if value:
            headers.append((name, value))
    if "User-Agent" not in (record.get("headers") or {}):
        headers.append(("user-agent", RECORDER))
    body = record.get("body")
    if body is None:
        data = b""
    elif isinstance(body, str):
        data = body.encode()
    else:
        # Go writes the members of an object sorted.
        data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return HttpRequest(method=method, target=record["path"], headers=tuple(headers), body=data)


def send(server: ApiServer, record: Record, identity: Identity | None) -> tuple[int, Any]:
    """Send a recorded request, and return the code and what the recorder kept of the body."""
    code, body, _ = exchange(server, record, identity)
    return code, body


def exchange(server: ApiServer, record: Record, identity: Identity | None) -> tuple[int, Any, list[str]]:
    """Send a recorded request, and return the code, what the recorder kept of the body, and the warnings."""
    if identity is None:
        return answered(unauthorized())
    return answered(RestApi(server).handle(request_of(record), identity))


def answered(answer: Any) -> tuple[int, Any, list[str]]:
    """Return code, body and warnings of an answer; a watch answers what it has so far."""
    if isinstance(answer, Watch):
        return 200, parsed(answer.poll()), [value for name, value in answer.headers if name == "Warning"]
    assert isinstance(answer, HttpResponse), answer
    warnings = [value for name, value in answer.headers if name == "Warning"]
    return answer.code, parsed(answer.body), warnings


def parsed(body: bytes) -> Any:
    """Return JSON as a value, anything else as text."""
    text = body.decode()
    try:
        return json.loads(text)
    except ValueError:
        return text
