"""Resource slices: the devices that a driver offers."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._device_rules import device_name_problems, pool_name_problems, taint_problems
from env_core.kinds._policy_rules import IMMUTABLE, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required, too_many
from env_core.world import Object

DEVICES_MAX = 128
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


def _validate(obj: Object) -> list[Problem]:
    """Check a slice: its driver, pool, nodes and the names and taints of its devices.

    Source: k8s.io/kubernetes pkg/apis/resource/validation validateResourceSliceSpec.
    """
    spec = obj.get("spec") or {}
    pool = spec.get("pool") or {}
    found = driver_name_problems(spec.get("driver") or "", "spec.driver")
    found += pool_name_problems(pool.get("name") or "", "spec.pool.name")
    if (pool.get("resourceSliceCount") or 0) <= 0:
        count = pool.get("resourceSliceCount") or 0
        found.append(invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if (pool.get("generation") or 0) < 0:
        text = "must be greater than or equal to zero"
        found.append(invalid("spec.pool.generation", pool["generation"], text))
    node = spec.get("nodeName")
    if node:
        found += [invalid("spec.nodeName", node, text) for text in names.is_dns1123_subdomain(node)]
    given = [f"`{field}`" for field in _PLACES if spec.get(field)]
    text = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
    if not given:
        found.append(required("spec", text))
    elif len(given) > 1:
        shown = f"{{{', '.join(given)}}}"
        found.append(invalid("spec", shown, f"{text}, but multiple fields are set"))
    devices = spec.get("devices") or []
    if len(devices) > DEVICES_MAX:
        found.append(too_many("spec.devices", len(devices), DEVICES_MAX))
    for index, device in enumerate(devices):
        field = f"spec.devices[{index}]"
        found += device_name_problems(device.get("name") or "", f"{field}.name")
        for position, taint in enumerate(device.get("taints") or ()):
            found += taint_problems(taint, f"{field}.taints[{position}]")
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    before, after = old.get("spec") or {}, new.get("spec") or {}
    pairs = (
        ("spec.pool.name", (after.get("pool") or {}).get("name"), (before.get("pool") or {}).get("name")),
        ("spec.driver", after.get("driver"), before.get("driver")),
        ("spec.nodeName", after.get("nodeName"), before.get("nodeName")),
    )
    return _validate(new) + [invalid(field, now, IMMUTABLE) for field, now, then in pairs if now != then]


def _spec_column(name: str, field: str) -> Column:
    return Column(name, lambda obj, _now_ms: str((obj.get("spec") or {}).get(field) or ""))


def _cell_pool(obj: Object, _now_ms: int) -> str:
    return str(((obj.get("spec") or {}).get("pool") or {}).get("name") or "")


KIND = Kind(
    group="resource.k8s.io",
    version="v1",
    kind="ResourceSlice",
    plural="resourceslices",
    singular="resourceslice",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    field_labels=("metadata.name", "metadata.namespace", "spec.driver", "spec.nodeName"),
    columns=(
        NAME,
        _spec_column("Node", "nodeName"),
        _spec_column("Driver", "driver"),
        Column("Pool", _cell_pool),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api resource/v1 ResourceSlice, 1.37; pkg/apis/resource/validation; tests/golden/l2/facts",
    unrecorded="objects of this kind and their texts; attributes, capacities and counters are not checked",
)
