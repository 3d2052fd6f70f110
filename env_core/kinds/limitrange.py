"""Limit ranges."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Reader
from env_core.kinds._columns_workload import NAME
from env_core.kinds._describe_text import LineWriter
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._quota_describe import write_limits, write_limits_header
from env_core.kinds._quota_validation import limits_problems
from env_core.kinds._rbac_text import CREATED
from env_core.objects.problems import Problem
from env_core.world import Object


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    limits = spec.get("limits") or []
    filled = [_default_limit(limit) for limit in limits]
    if all(new is old for new, old in zip(filled, limits, strict=True)):
        return obj
    return {**obj, "spec": {**spec, "limits": filled}}


def _default_limit(limit: Object) -> Object:
    """Fill in a container's default from max, and its default request from default, then min."""
    if limit.get("type") != "Container":
        return limit
    default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
    request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
    changes = {
        key: value
        for key, value in (("default", default), ("defaultRequest", request))
        if value and value != limit.get(key)
    }
    return {**limit, **changes} if changes else limit


def _validate(obj: Object) -> list[Problem]:
    return limits_problems((obj.get("spec") or {}).get("limits") or [])


def _describe(obj: Object, _reader: Reader, _show_events: bool) -> str:
    writer = LineWriter()
    writer.line(0, f"Name:\t{obj['metadata']['name']}")
    writer.line(0, f"Namespace:\t{obj['metadata'].get('namespace', '')}")
    write_limits_header(writer, "")
    write_limits(writer, obj, "")
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="LimitRange",
    plural="limitranges",
    singular="limitrange",
    short_names=("limits",),
    subresources=(),
    has_status=False,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, CREATED),
    describe=_describe,
    creates_on_update=True,
    source="k8s.io/api core/v1 LimitRange, 1.37; tests/golden/l0",
)
