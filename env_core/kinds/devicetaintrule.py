"""Rules by which an administrator taints devices."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import translate_age
from env_core.kinds._device_rules import device_name_problems, pool_name_problems, taint_problems
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects.problems import Problem
from env_core.world import Object


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    """Check a rule.

    Source: k8s.io/kubernetes pkg/apis/resource/validation validateDeviceTaintRuleSpec.
    """
    spec = obj.get("spec") or {}
    selector = spec.get("deviceSelector") or {}
    found: list[Problem] = []
    for field, check in (
        ("driver", driver_name_problems),
        ("pool", pool_name_problems),
        ("device", device_name_problems),
    ):
        if selector.get(field) is not None:
            found += check(selector[field], f"spec.deviceSelector.{field}")
    return found + taint_problems(spec.get("taint") or {}, "spec.taint")


def _taint(obj: Object) -> Object:
    found: Object = (obj.get("spec") or {}).get("taint") or {}
    return found


def _taint_column(name: str, field: str) -> Column:
    return Column(name, lambda obj, _now_ms: str(_taint(obj).get(field) or ""))


def _cell_added(obj: Object, now_ms: int) -> str:
    return translate_age(_taint(obj).get("timeAdded"), now_ms)


KIND = Kind(
    group="resource.k8s.io",
    version="v1",
    kind="DeviceTaintRule",
    plural="devicetaintrules",
    singular="devicetaintrule",
    is_namespaced=False,
    has_generation=True,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(
        NAME,
        _taint_column("Key", "key"),
        _taint_column("Value", "value"),
        _taint_column("Effect", "effect"),
        Column("TimeAdded", _cell_added),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api resource/v1 DeviceTaintRule, 1.37; pkg/apis/resource/validation; tests/golden/l2/facts",
    unrecorded="objects of this kind, their cells and texts; no device is tainted; timeAdded is not filled in",
)
