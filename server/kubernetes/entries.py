"""REST actions as journal entries, and requests as they come over the wire."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

import orjson
from starlette.types import Scope

from env_core.dataplane.tunnel import Exchanged
from env_core.rest.api import Answer
from env_core.rest.following import LogFollow
from env_core.rest.message import HttpRequest, HttpResponse
from env_core.world import Output

_KEPT: Final = frozenset(
    {"accept", "audit-id", "connection", "content-type", "if-none-match", "upgrade", "user-agent"}
)
_KEPT_PREFIX: Final = "impersonate-"
CALL: Final = "call"
RUN: Final = "run"
FORWARD: Final = "forward"
ELAPSE: Final = "elapse_ms"


def request_of(scope: Scope, prefix: str, body: bytes = b"", method: str = "") -> HttpRequest:
    """Return a request as the simulator takes it: the path below the prefix, and no header that is not its business."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    path = raw.decode("latin-1").partition("?")[0]
    below = path[path.index(prefix) + len(prefix) :] if prefix in path else "/"
    query = scope.get("query_string", b"").decode("latin-1")
    target = (below or "/") + (f"?{query}" if query else "")
    headers = tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope.get("headers", ())
    )
    kept = tuple(pair for pair in headers if pair[0] in _KEPT or pair[0].startswith(_KEPT_PREFIX))
    return HttpRequest(method=method or scope["method"], target=target, headers=kept, body=body)


def forwarded(request: HttpRequest, port: int, data: bytes, *, is_paced: bool) -> dict[str, Any]:
    """Return the journal entry of what went through a forwarded port."""
    content = _content(request, is_paced=is_paced)
    return {FORWARD: {**content, "port": port, "data": b64encode(data).decode()}}


def data_in(content: Mapping[str, Any]) -> bytes:
    """Return the bytes in the content of such an entry."""
    return b64decode(content["data"])


def _content(request: HttpRequest, *, is_paced: bool) -> dict[str, Any]:
    return {
        "method": request.method,
        "target": request.target,
        "headers": request.headers,
        "body": b64encode(request.body).decode(),
        "is_paced": is_paced,
    }


def entry_of(request: HttpRequest, *, is_paced: bool, stdin: str | None = None) -> dict[str, Any]:
    """Return the journal entry of a request, or of a command in a container with its input."""
    content = _content(request, is_paced=is_paced)
    if stdin is None:
        return {CALL: content}
    return {RUN: {**content, "stdin": b64encode(_bytes(stdin)).decode()}}


def request_in(content: Mapping[str, Any]) -> HttpRequest:
    """Return the request of a journal entry's content."""
    return HttpRequest(
        method=content["method"],
        target=content["target"],
        headers=tuple((name, value) for name, value in content["headers"]),
        body=b64decode(content["body"]),
    )


def stdin_in(content: Mapping[str, Any]) -> str:
    """Return the input in the content of a command's entry."""
    return text_of(b64decode(content["stdin"]))


def text_of(data: bytes) -> str:
    """Return bytes as the simulator's shell holds them."""
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def seal_of(answer: Answer, output: Output | Exchanged | None = None) -> str:
    """Return a short hash of an answer; a replay that does not reproduce it is a bug."""
    said: list[Any] = [type(answer).__name__]
    if isinstance(answer, HttpResponse):
        said += [answer.code, hashlib.sha256(answer.body).hexdigest()]
    elif isinstance(answer, LogFollow):
        said.append(hashlib.sha256(_bytes(answer.first)).hexdigest())
    if isinstance(output, Exchanged):
        said += [hashlib.sha256(output.answer).hexdigest(), output.problem]
    elif output is not None:
        printed = _bytes(f"{output.stdout}\0{output.stderr}")
        said += [hashlib.sha256(printed).hexdigest(), output.exit_code]
    return hashlib.sha256(orjson.dumps(said)).hexdigest()[:16]
