"""Priority: from a pod's priority class to its priority and preemption policy; rules about the classes."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.store import Store
from env_core.world import Object

CLASSES = "priorityclasses.scheduling.k8s.io"
_SYSTEM_PREFIX = "system-"
_LOWER = "PreemptLowerPriority"


def default_class(store: Store) -> Object | None:
    """Return the class for pods that name none: of those marked global default, the lowest."""
    marked = [entry for entry in store.list(CLASSES) if entry.get("globalDefault")]
    return min(marked, key=lambda entry: int(entry["value"])) if marked else None


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if attributes.kind.resource != "pods" or attributes.operation != "CREATE":
        return body
    spec = body["spec"]
    name = spec.get("priorityClassName") or ""
    if name:
        chosen = attributes.store.get(CLASSES, "", name)
        if chosen is None:
            why = f"no PriorityClass with name {name} was found"
            raise refusal(attributes, why, is_mutating=True)
    else:
        chosen = default_class(attributes.store)
    value = chosen["value"] if chosen is not None else 0
    policy = (chosen or {}).get("preemptionPolicy") or _LOWER
    _check_given(attributes, spec, value, policy)
    changed = {**spec, "priority": value, "preemptionPolicy": policy}
    if chosen is not None:
        changed["priorityClassName"] = chosen["metadata"]["name"]
    return {**body, "spec": changed}


def _check_given(attributes: Attributes, spec: Object, value: int, policy: str) -> None:
    computed = "must not be provided in pod spec; priority admission controller computed"
    given = spec.get("priority")
    if given is not None and given != value:
        why = f"the integer value of priority ({given}) {computed} {value} from the given PriorityClass name"
        raise refusal(attributes, why, is_mutating=True)
    wanted = spec.get("preemptionPolicy")
    if wanted and wanted != policy:
        why = f"the string value of PreemptionPolicy ({wanted}) {computed} {policy} from the given PriorityClass name"
        raise refusal(attributes, why, is_mutating=True)


def _validate(attributes: Attributes) -> None:
    if attributes.kind.resource != CLASSES:
        return
    if attributes.operation == "DELETE":
        if attributes.name.startswith(_SYSTEM_PREFIX):
            raise refusal(attributes, "this is a system priority class and cannot be deleted")
        return
    body = attributes.object
    if body is None or not body.get("globalDefault"):
        return
    other = default_class(attributes.store)
    if other is not None and other["metadata"]["name"] != body["metadata"]["name"]:
        why = f"PriorityClass {other['metadata']['name']} is already marked as default. Only one default can exist"
        raise refusal(attributes, why)


ADMISSION = Admission(
    name="Priority",
    order=140,
    operations=("CREATE", "UPDATE", "DELETE"),
    resources=("pods", CLASSES),
    mutate=_mutate,
    validate=_validate,
    source=(
        "tests/golden/l2/defaults.jsonl.gz, ids pod-priority-*; tests/golden/l2/flows/priority-default.json.gz; "
        "tests/golden/l2/facts/errors.jsonl.gz, ids pc-missing, del-system-pc"
    ),
)
