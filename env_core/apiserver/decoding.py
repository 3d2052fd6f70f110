"""Read the body of a create or update as its kind; components of the cluster send what is already in normal form."""

from __future__ import annotations

from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import ApiRequest
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import decode
from env_core.world import Object


def is_trusted(request: ApiRequest) -> bool:
    """Whether a component of the cluster sends the request: its typed objects need no strict decoding."""
    return request.identity.name.startswith("system:")


def decode_part(request: ApiRequest, group: str, version: str, kind: str) -> Object:
    """Return the body of a subresource that takes a kind of its own (Eviction, Binding, Scale) in normal form.

    Raises:
        StatusError: BadRequest, in the server's words.
    """
    body = request.body
    if isinstance(body, dict) and is_trusted(request):
        return body
    if body is None:
        body = {}
    if not isinstance(body, (dict, str, bytes)):
        raise errors.bad_request("the body of the request must be an object")
    return decode(body, group, version, kind, request.options.field_validation).object


def decode_body(request: ApiRequest, kind: Kind, body: Any) -> tuple[Object, tuple[str, ...]]:
    """Return the body as an object in normal form, and the warnings about it.

    Raises:
        StatusError: BadRequest, in the server's words.
    """
    if isinstance(body, dict) and is_trusted(request):
        return body, ()
    if not isinstance(body, (dict, str, bytes)):
        raise errors.bad_request("the body of the request must be an object")
    if schema_for(kind.group, kind.version, kind.kind) is None:
        if not isinstance(body, dict):
            raise errors.bad_request("the body of the request must be an object")
        return body, ()
    decoded = decode(body, kind.group, kind.version, kind.kind, request.options.field_validation)
    return decoded.object, decoded.warnings
