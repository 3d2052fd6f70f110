"""Reads the bodies of requests for kinds that no Go type has: custom resources.

Source: k8s.io/apimachinery pkg/runtime/serializer/json, k8s.io/apiextensions-apiserver pkg/apiserver
customresource_handler.go (schemaCoercingDecoder), k8s.io/apiserver pkg/endpoints/handlers; tests/golden/l2/facts/errors.
"""

from __future__ import annotations

from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.kind import Coerce, Kind
from env_core.apiserver.strict import (
    IGNORE,
    STRICT,
    Decoded,
    DecodeError,
    ValueRefused,
    _invalid_patch,
    _text_in_order,
    _unrecognized,
)
from env_core.objects.gojson import JsonSyntaxError, kind_word, plain, read, repeated_fields
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import invalid
from env_core.world import Object


def decode(body: str | bytes | Object, kind: Kind, coerce: Coerce, mode: str) -> Decoded:
    """Read the body of a create or an update; `coerce` fits it to the kind's schema.

    Raises:
        DecodeError: 400, in the server's words; 422 when the body is of another kind.
    """
    try:
        value = body if isinstance(body, dict) else read(body)
    except JsonSyntaxError as why:
        text = f"couldn't get version/kind; json parse error: {why}"
        raise _unrecognized(kind.kind, text, body) from None
    if not isinstance(value, dict):
        text = f"json: cannot unmarshal {kind_word(value)} into Go value of type map[string]interface {{}}"
        raise _unrecognized(kind.kind, text, body)
    found = value.get("kind")
    if not isinstance(found, str) or not found:
        shown = body if isinstance(body, str) else to_compact_json(plain(value))
        raise _unrecognized(kind.kind, f"Object 'Kind' is missing in '{shown}'", body)
    try:
        decoded = _coerced(value, kind, coerce, mode)
        if decoded.warnings and mode == STRICT:
            raise ValueRefused("strict decoding error: " + ", ".join(decoded.warnings))
    except ValueRefused as why:
        version = str(value.get("apiVersion", "")).rpartition("/")[2]
        raise DecodeError(
            f'{found} in version "{version}" cannot be handled as a {kind.kind}: {why}'
        ) from None
    check_type(decoded.object, kind)
    return decoded


def decode_patched(
    patched: Any, kind: Kind, coerce: Coerce, mode: str, *, patch_warnings: tuple[str, ...] = ()
) -> Decoded:
    """Read the result of a JSON or merge patch.

    Raises:
        DecodeError: 422 that shows the whole patched document.
    """
    try:
        if not isinstance(patched, dict):
            what = "into Go value of type map[string]interface {}"
            raise ValueRefused(f"json: cannot unmarshal {kind_word(patched)} {what}")
        if not patched.get("kind"):
            raise ValueRefused(f"Object 'Kind' is missing in '{_text_in_order(patched)}'")
        decoded = _coerced(patched, kind, coerce, mode)
        warnings = () if mode == IGNORE else (*patch_warnings, *decoded.warnings)
        if warnings and mode == STRICT:
            raise ValueRefused("strict decoding error: " + ", ".join(warnings))
    except ValueRefused as why:
        raise _invalid_patch(_text_in_order(patched), str(why)) from None
    check_type(decoded.object, kind)
    return Decoded(decoded.object, warnings)


def _coerced(value: Object, kind: Kind, coerce: Coerce, mode: str) -> Decoded:
    repeated = repeated_fields(value)
    coerced, unknown = coerce(plain(value))
    if mode == IGNORE:
        return Decoded(coerced)
    return Decoded(coerced, (*repeated, *(f'unknown field "{path}"' for path in unknown)))


def check_type(obj: Object, kind: Kind) -> None:
    """Refuse an object that says to be of another version or kind.

    Raises:
        StatusError: BadRequest for another version, Invalid for another kind.
    """
    api_version, found = obj.get("apiVersion", ""), obj.get("kind", "")
    if api_version != kind.api_version:
        raise errors.bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version ({kind.api_version})"
        )
    if found != kind.kind:
        problem = invalid("kind", found, f"must be {kind.kind}")
        name = (obj.get("metadata") or {}).get("name", "")
        raise errors.invalid(kind.group, found, name, [problem])
