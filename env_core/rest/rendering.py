"""Answers as bytes: objects and lists in the form that a client wants, in the server's order of fields.

Source: k8s.io/apimachinery pkg/runtime/serializer/json; k8s.io/apiserver pkg/endpoints/handlers/response.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import schema_for
from env_core.apiserver.typed import in_type_order, list_in_type_order
from env_core.objects.jsonout import to_compact_json
from env_core.objects.yamlout import YamlTextError, to_yaml
from env_core.rest.message import TEXT, YAML, Headers, HttpResponse
from env_core.rest.negotiation import PLAIN, Form
from env_core.rest.tables import partial, table
from env_core.world import Object

NO_CACHE = ("Cache-Control", "no-cache, private")
_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
)


def json_bytes(value: Any, *, is_pretty: bool = False) -> bytes:
    """Return JSON as Go writes it, in the order of the members as they are; indented by two blanks if wanted."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2 if is_pretty else 0)
    except TypeError:  # Integers beyond 64 bits, lone surrogates.
        return to_compact_json(value).encode()
    for plain, escaped in _ESCAPES:
        if plain in data:
            data = data.replace(plain, escaped)
    return data


def shaped(
    kind: Kind | None,
    answer: Object,
    form: Form,
    now_ms: int,
    *,
    include: str = "",
) -> Object:
    """Return an object, list or Status as the client wants it: itself, a Table, or metadata alone."""
    items = answer.get("items")
    is_list = (
        isinstance(items, list)
        and kind is not None
        and answer.get("kind") == (kind.list_kind or f"{kind.kind}List")
    )
    if kind is None or answer.get("kind") == "Status":
        return in_type_order(answer)
    if not form.kind:
        return _listed(kind, answer) if is_list else in_type_order(answer)
    found: list[Object] = answer["items"] if is_list else [answer]
    if form.kind == "Table":
        metadata = answer["metadata"] if is_list else _version_only(answer)
        return table(kind, form, found, metadata, now_ms, include=include, is_list=is_list)
    if not is_list:
        return partial(answer, form)
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": form.api_version,
        "metadata": answer["metadata"],
        "items": [partial(item, form) for item in found],
    }


def _version_only(obj: Object) -> Object:
    version = (obj.get("metadata") or {}).get("resourceVersion")
    return {"resourceVersion": version} if version else {}


def _listed(kind: Kind, answer: Object) -> Object:
    if schema_for(kind.group, kind.version, kind.kind) is not None:
        return list_in_type_order(answer)
    # Custom resources are written as they are: sorted, and each item says what it is.
    return {
        "apiVersion": answer["apiVersion"],
        "items": [in_type_order(item) for item in answer["items"]],
        "kind": answer["kind"],
        "metadata": {"continue": "", **answer["metadata"]},
    }


def written(value: Any, media: str, *, is_pretty: bool = False) -> bytes:
    """Return a shaped value as the bytes of a body."""
    if media == YAML:
        return to_yaml(value).encode()
    return json_bytes(value, is_pretty=is_pretty) + b"\n"


def response(
    code: int, value: Any, form: Form = PLAIN, *, headers: Headers = (), is_pretty: bool = False
) -> HttpResponse:
    """Return the answer with a shaped value.

    What cannot be written (YAML has no place for some control characters) is answered with why, and a failure keeps its
    code: k8s.io/apiserver pkg/endpoints/handlers/responsewriters, SerializeObject.
    """
    try:
        body = written(value, form.media, is_pretty=is_pretty)
    except YamlTextError as failure:
        why = in_type_order(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": str(failure),
                "code": 500,
            }
        )
        code, body = code if code >= 400 else 500, written(why, form.media)
    return HttpResponse(code=code, headers=(NO_CACHE, ("Content-Type", form.media), *headers), body=body)


def raw_json_response(value: Any) -> HttpResponse:
    """Return an answer that is no API object: indented, without a final line end (responsewriters.WriteRawJSON)."""
    return HttpResponse(
        code=200, headers=(NO_CACHE, ("Content-Type", PLAIN.media)), body=json_bytes(value, is_pretty=True)
    )


def status_response(status: Object, form: Form = PLAIN, headers: Headers = ()) -> HttpResponse:
    """Return the answer with a Status."""
    retry = (status.get("details") or {}).get("retryAfterSeconds")
    more = (("Retry-After", str(retry)),) if retry else ()
    return response(int(status.get("code", 200)), in_type_order(status), form, headers=(*more, *headers))


def text_response(code: int, text: str, headers: Headers = ()) -> HttpResponse:
    """Return a plain text answer, as Go's http package sends them."""
    return HttpResponse(
        code=code,
        headers=(NO_CACHE, ("Content-Type", TEXT), ("X-Content-Type-Options", "nosniff"), *headers),
        body=text.encode(),
    )


def warning_header(text: str) -> tuple[str, str]:
    """Return the header that carries one warning."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return ("Warning", f'299 - "{escaped}"')
