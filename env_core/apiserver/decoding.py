"""Read the body of a create or update as its kind; components of the cluster send what is already in normal form."""

from __future__ import annotations

from typing import Any

from env_core.apiserver import custom, errors
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import ApiRequest
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import decode
from env_core.world import Object


def is_trusted(request: ApiRequest) -> bool:
    """Whether a component of the cluster sends the request: its typed objects need no strict decoding."""
    return request.identity.name.startswith("system:")


def decode_as(request: ApiRequest, group: str, version: str, kind: str) -> Object:
    """Return the body of a request as a kind that is not stored: a binding, a review, a scale.

    Raises:
        StatusError: BadRequest, in the server's words.
    """
    body = request.body
    if isinstance(body, dict) and is_trusted(request):
        return body
    empty: Object = {}
    return decode(
        empty if body is None else body, group, version, kind, request.options.field_validation
    ).object


def decode_body(request: ApiRequest, kind: Kind, body: Any) -> tuple[Object, tuple[str, ...]]:
    """Return the body as an object in the normal form of what is stored, and the warnings about it.

    Raises:
        StatusError: BadRequest, in the server's words.
    """
    decoded, warnings = _decoded(request, kind, body)
    return (decoded if kind.conversion is None else kind.conversion.to_stored(decoded)), warnings


def _decoded(request: ApiRequest, kind: Kind, body: Any) -> tuple[Object, tuple[str, ...]]:
    if isinstance(body, dict) and is_trusted(request):
        return body, ()
    if not isinstance(body, (dict, str, bytes)):
        raise errors.bad_request("the body of the request must be an object")
    if kind.coerce is not None:
        decoded = custom.decode(body, kind, kind.coerce, request.options.field_validation)
        return decoded.object, decoded.warnings
    if schema_for(kind.group, kind.version, kind.kind) is None:
        if not isinstance(body, dict):
            raise errors.bad_request("the body of the request must be an object")
        return body, ()
    decoded = decode(body, kind.group, kind.version, kind.kind, request.options.field_validation)
    return decoded.object, decoded.warnings
