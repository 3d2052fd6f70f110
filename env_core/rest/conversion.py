"""Kinds that are served in more than one version: objects are stored in one, shown and written in the others too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import decode
from env_core.rest.paths import Target
from env_core.world import Object

SCALE = Kind(
    group="autoscaling", version="v1", kind="Scale", plural="scales", source="k8s.io/api/autoscaling/v1 Scale"
)
"""What `scale` subresources answer."""


def asked_version(target: Target) -> str:
    """Return the apiVersion in a path."""
    return f"{target.group}/{target.version}" if target.group else target.version


def reader(kind: Kind, target: Target) -> Callable[[Object], Object] | None:
    """Return what turns a stored object into the version of a path, None when that is the stored one."""
    version = asked_version(target)
    if version == kind.api_version:
        return None
    conversion = kind.conversions.get(version)
    if conversion is not None:
        return conversion.to
    return lambda obj: {**obj, "apiVersion": version}


def to_asked(kind: Kind, target: Target, answer: Object) -> Object:
    """Return an object or list in the version of a path."""
    convert = reader(kind, target)
    if convert is None or answer.get("kind") == "Status":
        return answer
    if isinstance(answer.get("items"), list) and answer.get("kind") == f"{kind.kind}List":
        items = [convert(item) for item in answer["items"]]
        return {**answer, "apiVersion": asked_version(target), "items": items}
    return convert(answer)


def to_stored(kind: Kind, target: Target, body: Any, mode: str) -> Any:
    """Return what a client has written in the version of a path as the stored version has it.

    Raises:
        StatusError: 400 for a body that does not fit that version.
    """
    version = asked_version(target)
    if version == kind.api_version or target.subresource not in ("", "status"):
        return body
    if schema_for(target.group, target.version, kind.kind) is not None:
        body = decode(body, target.group, target.version, kind.kind, mode).object
    conversion = kind.conversions.get(version)
    if conversion is not None:
        return conversion.back(body)
    return {**body, "apiVersion": kind.api_version} if isinstance(body, dict) else body
