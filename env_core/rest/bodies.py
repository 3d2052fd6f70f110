"""The bodies of requests by their content type: JSON as it came, YAML and protobuf as objects, and options of deletes.

Source: k8s.io/apiserver pkg/endpoints/handlers; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import APPLY_PATCH
from env_core.apiserver.schema import resources
from env_core.apiserver.strict import SCHEME, decode
from env_core.objects.gojson import JsonSyntaxError, kind_word, read
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.rest.message import PROTOBUF, YAML
from env_core.rest.paths import Target
from env_core.rest.protobuf import ProtobufError
from env_core.rest.protobuf import decode as decode_protobuf
from env_core.world import Object

_OPTIONS = "DeleteOptions"


def plain_type(content_type: str) -> str:
    """Return a content type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def written_object(body: bytes, content_type: str, kind: Kind, target: Target) -> Any:
    """Return the body of a create or update: text where the client's bytes matter, else a decoded value.

    Raises:
        StatusError: 400 for YAML or protobuf that is none.
    """
    form = plain_type(content_type)
    if form == PROTOBUF:
        gvk = body_kind(kind, target)
        try:
            return decode_protobuf(body, gvk)
        except ProtobufError as why:
            raise _unrecognized(gvk[2], str(why)) from None
    if form == YAML:
        return _yaml(body, body_kind(kind, target)[2])
    return body


def patch_body(body: bytes, content_type: str) -> Any:
    """Return the body of a patch: text for all but server-side apply, which is YAML.

    Raises:
        StatusError: 400 for YAML that is none.
    """
    if content_type != APPLY_PATCH:
        return body
    try:
        return read_yaml(body.decode("utf-8", "replace"))
    except YamlProblem as why:
        raise errors.bad_request(f"error encoding patch: yaml: {why}") from None


def _yaml(body: bytes, kind: str) -> Any:
    try:
        value = read_yaml(body.decode("utf-8", "replace"))
    except YamlProblem as why:
        raise _unrecognized(kind, f"yaml: {why}") from None
    return value if isinstance(value, dict) else body


def _unrecognized(kind: str, problem: str) -> StatusError:
    return errors.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; {problem}"
    )


def body_kind(kind: Kind, target: Target) -> tuple[str, str, str]:
    """Return the (group, version, kind) of what is posted or put at a path: that of a subresource may be another."""
    if target.subresource:
        for row in resources():
            if (row["group"], row["version"], row["plural"]) != (target.group, target.version, target.plural):
                continue
            for part in row.get("subresources") or ():
                if part["name"] == target.subresource:
                    return part["group"] or row["group"], part["version"] or row["version"], part["kind"]
    return kind.group, target.version, kind.kind


def delete_options(body: bytes, content_type: str) -> Object | None:
    """Return the DeleteOptions of a body, None for an empty one.

    Raises:
        StatusError: 400 for anything else.
    """
    if not body:
        return None
    form = plain_type(content_type)
    if form == PROTOBUF:
        try:
            value: Any = decode_protobuf(body, ("", "v1", _OPTIONS))
        except ProtobufError as why:
            raise errors.bad_request(str(why)) from None
    elif form == YAML:
        value = _yaml(body, _OPTIONS)
    else:
        try:
            value = read(body)
        except JsonSyntaxError as why:
            raise errors.bad_request(f"couldn't get version/kind; json parse error: {why}") from None
    if not isinstance(value, dict):
        raise errors.bad_request(
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {kind_word(value)} into Go value of type "
            "struct"
        )
    named, version = value.get("kind") or _OPTIONS, value.get("apiVersion") or "v1"
    if named != _OPTIONS:
        raise errors.bad_request(
            f'no kind "{named}" is registered for version "{version}" in scheme "{SCHEME}"'
        )
    return decode({**value, "apiVersion": "v1"}, "", "v1", _OPTIONS, "Ignore").object
