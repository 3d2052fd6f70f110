"""What the HTTP layer of an API server refuses before a resource is asked: methods, media types, options.

Source: tests/golden/l2/facts/errors.jsonl.gz; k8s.io/apimachinery pkg/apis/meta/v1/validation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from env_core.objects.problems import Problem, quoted

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DIGITS_MAX = 20
_INT64_BOUND = 1 << 63
FIELD_MANAGER_LENGTH_MAX = 128
BODY_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
_ITEM_METHODS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION_METHODS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_WRITE = ("POST",)
_READ_WRITE = ("GET", "PUT", "PATCH")
_SUBRESOURCE_METHODS: Mapping[str, tuple[str, ...]] = {
    "attach": ("GET", "POST"),
    "binding": _WRITE,
    "eviction": _WRITE,
    "exec": ("GET", "POST"),
    "finalize": ("PUT",),
    "log": ("GET",),
    "portforward": ("GET", "POST"),
    "proxy": ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"),
    "token": _WRITE,
}
_OPTIONS_OF = {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}


def method_not_allowed() -> StatusError:
    """405: the path has no such method."""
    text = "the server does not allow this method on the requested resource"
    return StatusError(errors.status(405, "MethodNotAllowed", text))


def method_problem(method: str, kind: Kind, name: str, subresource: str) -> StatusError | None:
    """Return the refusal of a method that a resource's path does not have."""
    if subresource:
        allowed = method in _SUBRESOURCE_METHODS.get(subresource, _READ_WRITE)
    else:
        verb = (_ITEM_METHODS if name else _COLLECTION_METHODS).get(method, "")
        allowed = verb in kind.verbs
    return None if allowed else method_not_allowed()


def body_type_problem(method: str, content_type: str) -> StatusError | None:
    """Return the refusal of a body of a type that is not read."""
    plain = content_type.partition(";")[0].strip()
    if method == "PATCH":
        if plain in PATCH_TYPES:
            return None
        return errors.unsupported_media_type("415: Unsupported Media Type")
    if method in ("POST", "PUT") and plain and plain not in BODY_TYPES:
        listed = ", ".join(BODY_TYPES)
        return errors.unsupported_media_type(
            f"the body of the request was in an unknown format - accepted media types include: {listed}"
        )
    return None


def accept_problem(accept: str, *, is_list: bool) -> StatusError | None:
    """Return the refusal to answer in none of the types that a client accepts."""
    if not accept:
        return None
    types = [entry.partition(";") for entry in accept.split(",")]
    if all(head.strip() not in ("*/*", "application/*", *BODY_TYPES) for head, _, _ in types):
        streams = [f"{kind};stream=watch" for kind in (BODY_TYPES[0], BODY_TYPES[2])] if is_list else []
        text = f"406: Not Acceptable\n\nAvailable representations: {', '.join([*BODY_TYPES, *streams])}"
        return StatusError(errors.status(406, "NotAcceptable", text))
    if all("as=Table" in rest and "v=v1;" not in rest + ";" for _, _, rest in types):
        text = f"only the following media types are accepted: {', '.join(BODY_TYPES)}"
        return StatusError(errors.status(406, "NotAcceptable", text))
    return None


def number_of(query: Mapping[str, str], name: str) -> int | None:
    """Return an integer parameter.

    Raises:
        StatusError: 400 for anything else.
    """
    text = query.get(name)
    if text is None:
        return None
    if not _INTEGER.fullmatch(text):
        raise errors.bad_request(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    if len(text) > _DIGITS_MAX or not -_INT64_BOUND <= int(text) < _INT64_BOUND:
        raise errors.bad_request(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return int(text)


def _unsupported(field: str, value: str, supported: str) -> Problem:
    return Problem("FieldValueNotSupported", field, value, f"supported values: {supported}")


def _invalid_options(name: str, problems: list[Problem]) -> StatusError | None:
    return errors.invalid("meta.k8s.io", name, "", problems) if problems else None


def write_options_problem(verb: str, query: Mapping[str, str], content_type: str) -> StatusError | None:
    """Return the refusal of the options of a create, update or patch."""
    problems = []
    is_apply = content_type == APPLY_PATCH
    if verb == "patch" and not is_apply and query.get("force") is not None:
        problems.append(
            Problem("FieldValueForbidden", "force", "", "may not be specified for non-apply patch")
        )
    manager = query.get("fieldManager", "")
    if verb == "patch" and is_apply and not manager:
        problems.append(Problem("FieldValueRequired", "fieldManager", "", "is required for apply patch"))
    if len(manager.encode()) > FIELD_MANAGER_LENGTH_MAX:
        detail = f"may not be more than {FIELD_MANAGER_LENGTH_MAX} bytes"
        problems.append(Problem("FieldValueTooLong", "fieldManager", "", detail))
    dry_run = query.get("dryRun")
    if dry_run not in (None, "", "All"):
        problems.append(_unsupported("dryRun", f'["{dry_run}"]', '"All"'))
    validation = query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        problems.append(_unsupported("fieldValidation", f'"{validation}"', '"", "Ignore", "Strict", "Warn"'))
    return _invalid_options(_OPTIONS_OF[verb], problems)


def delete_options_problem(policy: str, given: Mapping[str, Any], dry_run: list[str]) -> StatusError | None:
    """Return the refusal of the options of a delete."""
    problems = []
    if policy and given.get("orphanDependents") is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(Problem("FieldValueInvalid", "propagationPolicy", f'"{policy}"', detail))
    if policy not in ("", "Foreground", "Background", "Orphan"):
        supported = '"Foreground", "Background", "Orphan", "nil"'
        problems.append(_unsupported("propagationPolicy", f'"{policy}"', supported))
    if any(entry != "All" for entry in dry_run):
        problems.append(
            _unsupported("dryRun", "[" + " ".join(f'"{entry}"' for entry in dry_run) + "]", '"All"')
        )
    return _invalid_options("DeleteOptions", problems)


def list_options_problem(query: Mapping[str, str], *, is_watch: bool) -> StatusError | None:
    """Return the refusal of the options of a list or watch."""
    problems = []
    version, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    initial = query.get("sendInitialEvents")
    field = "resourceVersionMatch"
    if initial is not None:
        if not is_watch:
            detail = "sendInitialEvents is forbidden for list"
            problems.append(Problem("FieldValueForbidden", "sendInitialEvents", "", detail))
        elif match != "NotOlderThan":
            detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            problems.append(Problem("FieldValueForbidden", field, "", detail))
    elif match and is_watch:
        problems.append(
            Problem("FieldValueForbidden", field, "", "resourceVersionMatch is forbidden for watch")
        )
    elif match:
        if not version:
            detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            problems.append(Problem("FieldValueForbidden", field, "", detail))
        if query.get("continue"):
            detail = "resourceVersionMatch is forbidden when continue is provided"
            problems.append(Problem("FieldValueForbidden", field, "", detail))
        if match not in ("Exact", "NotOlderThan"):
            problems.append(_unsupported(field, f'"{match}"', '"Exact", "NotOlderThan", ""'))
        if match == "Exact" and version == "0":
            detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            problems.append(Problem("FieldValueForbidden", field, "", detail))
    return _invalid_options("ListOptions", problems)
