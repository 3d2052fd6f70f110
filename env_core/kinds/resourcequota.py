"""Resource quotas."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._quota_describe import amount_text, write_scopes
from env_core.kinds._quota_validation import quota_amounts_problems, quota_problems, quota_update_problems
from env_core.objects import quantity
from env_core.objects.problems import Problem
from env_core.world import Object


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    return quota_problems(obj.get("spec") or {})


def _validate_update(new: Object, old: Object) -> list[Problem]:
    return [*_validate(new), *quota_update_problems(new.get("spec") or {}, old.get("spec") or {})]


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    status = new.get("status") or {}
    return [
        problem
        for field in ("hard", "used")
        for problem in quota_amounts_problems(status.get(field) or {}, f"status.{field}")
    ]


def _usage(obj: Object, are_limits: bool) -> str:
    status = obj.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    shown = [name for name in sorted(hard) if name.startswith("limits") == are_limits]
    return ", ".join(f"{name}: {amount_text(used, name)}/{amount_text(hard, name)}" for name in shown)


def _cell_request(obj: Object, _now_ms: int) -> str:
    return _usage(obj, are_limits=False)


def _cell_limit(obj: Object, _now_ms: int) -> str:
    return _usage(obj, are_limits=True)


def _describe(obj: Object, _reader: Reader, _show_events: bool) -> str:
    writer = LineWriter()
    writer.line(0, f"Name:\t{obj['metadata']['name']}")
    writer.line(0, f"Namespace:\t{obj['metadata'].get('namespace', '')}")
    write_scopes(writer, 0, " *", obj)
    writer.line(0, "Resource\tUsed\tHard")
    writer.line(0, "--------\t----\t----")
    status = obj.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    for name in sorted(hard):
        limit = quantity.parse(str(hard[name]))
        usage = quantity.parse(str(used[name])) if name in used else quantity.Quantity(0, text="0")
        if usage.format is not limit.format:
            usage = quantity.from_units(usage.value(), limit.format)
        writer.line(0, f"{name}\t{usage}\t{limit}")
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="ResourceQuota",
    plural="resourcequotas",
    singular="resourcequota",
    short_names=("quota",),
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    columns=(NAME, Column("Request", _cell_request), Column("Limit", _cell_limit), AGE),
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api core/v1 ResourceQuota, 1.37; tests/golden/l0",
)
