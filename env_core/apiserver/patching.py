"""Apply a request's patch to the live object, by its content type, and read the result as its kind."""

from __future__ import annotations

from typing import Any

from env_core.apiserver import custom, errors
from env_core.apiserver.decoding import is_trusted
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, ApiRequest
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import Decoded, decode_json_patched, decode_strategic_patched
from env_core.objects._patch_problem import PatchError
from env_core.objects.gojson import is_json
from env_core.objects.patch_json import apply_json_patch, read_json_patch
from env_core.objects.patch_merge import apply_merge_patch, read_merge_patch
from env_core.objects.patch_strategic import apply_strategic_patch, merge_strategic_patch
from env_core.world import Object

ACCEPTED = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
CUSTOM_ACCEPTED = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
"""What custom resources take; source: tests/golden/l2/facts/errors (cr-sm-patch)."""
_MANAGED_FIELDS = "/metadata/managedFields"


def apply(request: ApiRequest, kind: Kind, live: Object) -> Decoded:
    """Return the patched object in normal form, with the warnings about it.

    Raises:
        StatusError: the patch does not decode, does not apply, or its result does not fit the kind.
    """
    conversion = kind.conversion
    if conversion is None:
        return _applied(request, kind, live)
    # The client patches the form that it asked for.
    done = _applied(request, kind, conversion.from_stored(live))
    return Decoded(conversion.to_stored(done.object), done.warnings)


def _applied(request: ApiRequest, kind: Kind, live: Object) -> Decoded:
    schema = schema_for(kind.group, kind.version, kind.kind)
    body = request.body
    if isinstance(body, (str, bytes)) and not is_json(body):
        raise errors.bad_request("invalid JSON patch")
    try:
        if request.content_type == STRATEGIC_PATCH and schema is not None:
            if isinstance(body, (str, bytes)):
                body, warnings = read_merge_patch(body, "")
            else:
                body, warnings = _mapping(body), ()
            if is_trusted(request):
                return Decoded(apply_strategic_patch(live, body, schema))
            merged = merge_strategic_patch(live, body, schema)
            mode = request.options.field_validation
            gvk = (kind.group, kind.version, kind.kind)
            return decode_strategic_patched(
                merged.object, merged.patch_left, *gvk, mode, patch_warnings=warnings
            )
        patched, warnings = _plainly(request, live)
    except PatchError as error:
        raise _refused(error) from None
    if kind.coerce is not None and not is_trusted(request):
        mode = request.options.field_validation
        return custom.decode_patched(patched, kind, kind.coerce, mode, patch_warnings=warnings)
    if schema is None or is_trusted(request):
        return Decoded(_mapping(patched))
    return decode_json_patched(
        patched,
        kind.group,
        kind.version,
        kind.kind,
        request.options.field_validation,
        patch_warnings=warnings,
    )


def check_type(request: ApiRequest, kind: Kind) -> None:
    """Refuse a type of patch that the kind does not take.

    Raises:
        StatusError: 415.
    """
    if kind.coerce is not None and request.content_type == STRATEGIC_PATCH:
        raise _unknown_format(CUSTOM_ACCEPTED)


def apply_plain(request: ApiRequest, live: Object) -> Object:
    """Apply a JSON or merge patch to an object that has no schema here (a Scale)."""
    try:
        return _mapping(_plainly(request, live)[0])
    except PatchError as error:
        raise _refused(error) from None


def reads_managed_fields(request: ApiRequest) -> bool:
    """Whether a JSON patch names managedFields, which live objects do not carry."""
    return request.content_type == JSON_PATCH and _MANAGED_FIELDS in str(request.body)


def _plainly(request: ApiRequest, live: Object) -> tuple[Any, tuple[str, ...]]:
    body = request.body
    warnings: tuple[str, ...] = ()
    if request.content_type == JSON_PATCH:
        if isinstance(body, (str, bytes)):
            body, warnings = read_json_patch(body)
        return apply_json_patch(live, body), warnings
    if request.content_type in (MERGE_PATCH, STRATEGIC_PATCH):
        if isinstance(body, (str, bytes)):
            body, warnings = read_merge_patch(body)
        return apply_merge_patch(live, _mapping(body)), warnings
    raise _unknown_format(ACCEPTED)


def _unknown_format(accepted: tuple[str, ...]) -> errors.StatusError:
    listed = ", ".join(accepted)
    return errors.unsupported_media_type(
        f"the body of the request was in an unknown format - accepted media types include: {listed}"
    )


def _refused(error: PatchError) -> errors.StatusError:
    details: Object | None = {} if error.is_bodyless else None
    return errors.StatusError(errors.status(error.code, error.reason, error.message, details))


def _mapping(value: Any) -> Object:
    if not isinstance(value, dict):
        text = (
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
        )
        raise errors.bad_request(text)
    return value
