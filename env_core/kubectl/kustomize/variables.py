"""Variables: $(NAME) in the fields where kustomize looks for them, from a field of some resource.

Source: sigs.k8s.io/kustomize/api types (var.go), filters/refvar, internal/accumulator (resaccumulator.go).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from env_core.kubectl.kustomize.defaults import Config
from env_core.kubectl.kustomize.fieldspecs import apply_spec
from env_core.kubectl.kustomize.ids import Gvk, ResId, gvk_of
from env_core.kubectl.kustomize.paths import looked_up
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.replacing import field_path
from env_core.kubectl.kustomize.resmap import ResMap
from env_core.kubectl.kustomize.values import is_null, text_of

_DEFAULT_PATH = "metadata.name"
_TOKEN = re.compile(r"\$(?:\$|\(([^)]*)\)|(.)|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Variable:
    """A name, and the field that it stands for."""

    name: str
    target: ResId
    path: str

    def __str__(self) -> str:
        target = self.target
        parts = [str(target.gvk)] + [part for part in (target.name, target.namespace) if part]
        return f"{{{self.name} {' '.join(parts)} {{{self.path}}}}}"


def variable_of(row: dict[str, Any]) -> Variable:
    """Return a variable as an entry of `vars` has it."""
    objref = row.get("objref") or {}
    gvk = Gvk(*(objref.get(name) or "" for name in ("group", "version", "kind")))
    if objref.get("apiVersion"):
        gvk = gvk_of(objref["apiVersion"], gvk.kind)
    path = (row.get("fieldref") or {}).get("fieldPath") or _DEFAULT_PATH
    return Variable(
        row.get("name") or "", ResId(gvk, objref.get("name") or "", objref.get("namespace") or ""), path
    )


def bind(resources: ResMap, rows: list[dict[str, Any]], known: dict[str, Variable]) -> None:
    """Remember which resources the variables of a kustomization are read from.

    Raises:
        KustomizeError: when a name is taken, or may mean several resources.
    """
    for row in rows:
        variable = variable_of(row)
        target = variable.target
        found = resources.by_any_id(
            target.equals
            if target.namespace or target.gvk.is_cluster_wide
            else lambda one, target=target: one.name == target.name and one.gvk == target.gvk  # type: ignore[misc]
        )
        if len(found) > 1:
            raise KustomizeError(
                f"found {len(found)} resId matches for var {variable} (unable to disambiguate)"
            )
        if found:
            found[0].variables.append(variable.name)
    for row in rows:
        variable = variable_of(row)
        if variable.name in known:
            raise KustomizeError(f"var '{variable.name}' already encountered")
        known[variable.name] = variable


def resolve(resources: ResMap, known: dict[str, Variable], config: Config) -> list[str]:
    """Replace all variables, and return the names of those that stand nowhere.

    Raises:
        KustomizeError: when one cannot be read.
    """
    values = {name: _value(resources, known[name]) for name in sorted(known)}
    used: set[str] = set()
    if not values:
        return []
    for resource in resources.resources:
        for spec in config.of("varReference"):

            def replace(container: Any, key: Any) -> None:
                _replace(container, key, values, used)

            apply_spec(resource, spec, replace)
    return [name for name in values if name not in used]


def _value(resources: ResMap, variable: Variable) -> Any:
    for resource in resources.resources:
        if variable.name in resource.variables:
            try:
                slot = looked_up(resource.tree, field_path(variable.path))
            except KustomizeError:
                slot = None
            if slot is None or is_null(slot.value):
                raise KustomizeError(
                    f"field specified in var '{variable}' not found in corresponding resource"
                )
            return slot.value
    raise KustomizeError(f"var '{variable}' cannot be mapped to a field in the set of known resources")


def _replace(container: Any, key: Any, values: dict[str, Any], used: set[str]) -> None:
    node = container[key]
    if isinstance(node, str):
        container[key] = expanded(node, values, used)
    elif isinstance(node, dict):
        for name, value in node.items():
            if isinstance(value, str):
                node[name] = expanded(value, values, used)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            if not isinstance(value, str):
                raise KustomizeError("invalid value type expect a string")
            node[index] = expanded(value, values, used)


def expanded(text: str, values: dict[str, Any], used: set[str]) -> Any:
    """Return a text with its variables replaced; one that stands alone keeps its type."""
    whole = re.fullmatch(r"\$\(([^)]*)\)", text)
    if whole is not None and _is_known(whole.group(1), values):
        used.add(whole.group(1))
        return values[whole.group(1)]

    def part(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            # Two dollars are one; what begins no name stays.
            return "$" if found.group() == "$$" else found.group()
        if not _is_known(name, values):
            return found.group()
        used.add(name)
        return text_of(values[name])

    return _TOKEN.sub(part, text)


def _is_known(name: str, values: dict[str, Any]) -> bool:
    return name in values and not isinstance(values[name], (dict, list))
