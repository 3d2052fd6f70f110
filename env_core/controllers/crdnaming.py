"""The names of custom resources: accepted when nobody else in the group has them.

Source: k8s.io/apiextensions-apiserver pkg/controller/status naming_controller.go; tests/golden/l2/flows (crd-finalizer).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiextensions.definitions import ESTABLISHED, NAMES_ACCEPTED, RESOURCE
from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

_CHECKED = (("plural", "PluralConflict"), ("singular", "SingularConflict"))
_KINDS = (("kind", "KindConflict"), ("listKind", "ListKindConflict"))


def _keys(definition: Object, component: Component) -> Iterable[Key]:
    """Map a definition to itself and the others of its group, for which it may have freed a name."""
    others = [Key("", other["metadata"]["name"]) for other in _others(component, definition)]
    return [*own_key(definition, component), *others]


def _others(component: Component, definition: Object) -> list[Object]:
    group, name = definition["spec"]["group"], definition["metadata"]["name"]
    return [
        other
        for other in component.cache.list(RESOURCE)
        if other["spec"]["group"] == group and other["metadata"]["name"] != name
    ]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    definition = component.cache.get(RESOURCE, "", key.name)
    if definition is None:
        return None
    status = definition.get("status") or {}
    accepted = status.get("acceptedNames") or {}
    if definition["spec"]["names"] == accepted:
        return None
    accepted, reason, message = _accept(component, definition, accepted)
    is_accepted = not reason
    now_ms = component.now_ms
    changed = {**definition, "status": {**status, "acceptedNames": accepted}}
    changed = conditions.set_condition(
        changed,
        NAMES_ACCEPTED,
        conditions.TRUE if is_accepted else conditions.FALSE,
        reason or "NoConflicts",
        message or "no conflicts found",
        now_ms=now_ms,
    )
    if not conditions.is_true(definition, ESTABLISHED):
        words = (
            ("Installing", "the initial names have been accepted")
            if is_accepted
            else ("NotAccepted", "not all names are accepted")
        )
        changed = conditions.set_condition(changed, ESTABLISHED, conditions.FALSE, *words, now_ms=now_ms)
    if changed["status"] != status:
        component.api.update_status(RESOURCE, "", changed)
    return None


def _accept(component: Component, definition: Object, accepted: Object) -> tuple[Object, str, str]:
    """Return the names that are free, and the last conflict."""
    wanted: Object = definition["spec"]["names"]
    names, kinds = _taken(_others(component, definition))
    new, reason, message = dict(accepted), "", ""
    for field, conflict in _CHECKED:
        if wanted.get(field) != accepted.get(field) and wanted.get(field) in names:
            reason, message = conflict, _in_use(wanted[field])
        else:
            new[field] = wanted[field]
    own = accepted.get("shortNames") or ()
    clashes = [name for name in wanted.get("shortNames") or () if name not in own and name in names]
    if clashes:
        texts = [_in_use(name) for name in dict.fromkeys(clashes)]
        reason = "ShortNamesConflict"
        message = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    elif "shortNames" in wanted:
        new["shortNames"] = wanted["shortNames"]
    else:
        new.pop("shortNames", None)
    for field, conflict in _KINDS:
        if wanted.get(field) != accepted.get(field) and wanted.get(field) in kinds:
            reason, message = conflict, _in_use(wanted[field])
        else:
            new[field] = wanted[field]
    if "categories" in wanted:
        new["categories"] = wanted["categories"]
    else:
        new.pop("categories", None)
    return new, reason, message


def _taken(others: list[Object]) -> tuple[set[str], set[str]]:
    names: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        accepted = (other.get("status") or {}).get("acceptedNames") or {}
        names |= {accepted.get("plural") or "", accepted.get("singular") or ""}
        names |= set(accepted.get("shortNames") or ())
        kinds |= {accepted.get("kind") or "", accepted.get("listKind") or ""}
    return names, kinds


def _in_use(name: str) -> str:
    return f'"{name}" is already in use'


CONTROLLER = Controller(
    name="crd-naming",
    watches=((RESOURCE, _keys),),
    reconcile=retrying(_reconcile),
    user="system:apiserver",
    source="k8s.io/apiextensions-apiserver pkg/controller/status; tests/golden/l2/flows (crd-finalizer)",
)
