"""Priority classes."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, write_events
from env_core.kinds._policy_rules import IMMUTABLE, unsupported
from env_core.kinds._storage_text import pairs_text
from env_core.objects import goformat
from env_core.objects.problems import Problem, forbidden, invalid
from env_core.world import Object

USER_PRIORITY_MAX = 1_000_000_000
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_POLICIES = ("PreemptLowerPriority", "Never")


def _default(obj: Object) -> Object:
    return obj if obj.get("preemptionPolicy") else {**obj, "preemptionPolicy": _POLICIES[0]}


def _validate(obj: Object) -> list[Problem]:
    name, value = obj["metadata"].get("name", ""), obj.get("value") or 0
    found: list[Problem] = []
    if name.startswith("system-"):
        problem = _system_problem(name, value, bool(obj.get("globalDefault")))
        if problem:
            text = "priority class names with 'system-' prefix are reserved for system use only. error: "
            found.append(forbidden("metadata.name", text + problem))
    elif value > USER_PRIORITY_MAX:
        text = f"maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"
        found.append(forbidden("value", text))
    policy = obj.get("preemptionPolicy")
    if policy is not None and policy not in _POLICIES:
        found.append(unsupported("preemptionPolicy", policy, _POLICIES))
    return found


def _system_problem(name: str, value: int, is_default: bool) -> str:
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def _validate_update(new: Object, old: Object) -> list[Problem]:
    found: list[Problem] = []
    if (new.get("value") or 0) != (old.get("value") or 0):
        found.append(forbidden("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        found.append(invalid("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE))
    return found


def _cell_value(obj: Object, _now_ms: int) -> int:
    return int(obj.get("value") or 0)


def _cell_global_default(obj: Object, _now_ms: int) -> bool:
    return bool(obj.get("globalDefault"))


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return str(obj.get("preemptionPolicy") or _POLICIES[0])


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    writer = LineWriter()
    writer.line(0, f"Name:\t{obj['metadata']['name']}")
    writer.line(0, f"Value:\t{obj.get('value') or 0}")
    writer.line(0, f"GlobalDefault:\t{goformat.scalar_text(bool(obj.get('globalDefault')))}")
    writer.line(0, f"PreemptionPolicy:\t{_cell_policy(obj, 0)}")
    writer.line(0, f"Description:\t{obj.get('description') or ''}")
    writer.line(0, f"Annotations:\t{pairs_text(obj['metadata'].get('annotations'))}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="scheduling.k8s.io",
    version="v1",
    kind="PriorityClass",
    plural="priorityclasses",
    singular="priorityclass",
    short_names=("pc",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate=_validate,
    validate_update=_validate_update,
    columns=(
        NAME,
        Column("Value", _cell_value, type="integer"),
        Column("Global-Default", _cell_global_default, type="boolean"),
        AGE,
        Column("PreemptionPolicy", _cell_policy),
    ),
    describe=_describe,
    source="k8s.io/api scheduling/v1 PriorityClass, 1.37; tests/golden/l0",
)
