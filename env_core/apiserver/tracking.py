"""Who wrote an object: the node that a request's write leaves, and managedFields in the answers to those who look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from env_core.apiserver.decoding import decode_body
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import (
    Write,
    managed_of,
    manager_of_agent,
    with_managed_fields,
)
from env_core.apiserver.managedfields.managers import Managed
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.objects.gojson import read
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def write_of(server: ApiServer, request: ApiRequest, kind: Kind, sent: Object, given: Any = None) -> Write:
    """Return the node of a request's write; `sent` is the object before admission, `given` its own managedFields."""
    manager = request.options.field_manager or manager_of_agent(request.user_agent)
    return Write(manager, request.subresource, kind, server.loop.now_ms, sent, given)


def given_by(request: ApiRequest, metadata: Object) -> Any:
    """Return the managedFields that a request's object brings, None when it brings none.

    An empty list asks to forget all managers; an object in normal form has no empty lists, so that the body is looked at.
    """
    entries = metadata.get("managedFields")
    if entries is not None:
        return entries
    body = request.body
    if type(body) is not dict:
        body = _mentioned(body)
    sent = body.get("metadata")
    return [] if isinstance(sent, dict) and sent.get("managedFields") == [] else None


def _mentioned(body: Any) -> Object:
    """Return the object that a text is, if it mentions managedFields at all."""
    if isinstance(body, bytes):
        body = body.decode(errors="replace")
    found = read(body) if isinstance(body, str) and "managedFields" in body else None
    return found if isinstance(found, dict) else {}


def managed_now(server: ApiServer, kind: Kind, obj: Object) -> Managed:
    """Return the managers of a stored object."""
    return managed_of(_written(server, kind, obj), obj)


def tracked(server: ApiServer, kind: Kind, obj: Object) -> Object:
    """Return a stored object with its managedFields."""
    return with_managed_fields(obj, _written(server, kind, obj))


def dry_run_answer(
    request: ApiRequest, code: int, body: Object, warnings: tuple[str, ...], written: Write
) -> ApiResponse:
    """Return the answer to a write that was not stored; `written` stands behind the node of the live object."""
    return ApiResponse(
        code, with_managed_fields(body, written) if request.sees_managed_fields else body, warnings
    )


def with_trackers(server: ApiServer, request: ApiRequest, kind: Kind, response: ApiResponse) -> ApiResponse:
    """Return an answer with the managedFields of the objects in it."""
    answered = response.object
    if request.options.dry_run or response.output is not None or request.subresource == "scale":
        return response
    if kind.resource in server.virtual:
        if request.verb != "create" or not isinstance(request.body, (dict, str, bytes)):
            return response
        sent = decode_body(request, kind, request.body)[0]
        if sent.get("spec") != answered.get("spec"):
            return response  # an object of the server's own, which nobody wrote
        return response._replace(object=with_managed_fields(answered, write_of(server, request, kind, sent)))
    if answered.get("kind") == (kind.list_kind or f"{kind.kind}List") and "items" in answered:
        items = [tracked(server, kind, item) for item in answered["items"]]
        return response._replace(object={**answered, "items": items})
    if answered.get("kind") != kind.kind or "name" not in (answered.get("metadata") or {}):
        return response
    return response._replace(object=tracked(server, kind, answered))


def _written(server: ApiServer, kind: Kind, obj: Object) -> Write | None:
    metadata = obj["metadata"]
    return server.store.written(kind.resource, metadata.get("namespace", ""), metadata["name"])
