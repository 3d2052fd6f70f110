"""Runtime classes."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import IMMUTABLE, label_name, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._storage_warnings import runtime_warnings
from env_core.objects.problems import Problem, invalid
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    handler = obj.get("handler") or ""
    return [invalid("handler", handler, text) for text in label_name(handler, False)]


def _validate_update(new: Object, old: Object) -> list[Problem]:
    handler = new.get("handler") or ""
    return [] if handler == (old.get("handler") or "") else [invalid("handler", handler, IMMUTABLE)]


def _cell_handler(obj: Object, _now_ms: int) -> str:
    return str(obj.get("handler") or "")


KIND = Kind(
    group="node.k8s.io",
    version="v1",
    kind="RuntimeClass",
    plural="runtimeclasses",
    singular="runtimeclass",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    warnings=runtime_warnings,
    columns=(NAME, Column("Handler", _cell_handler), AGE),
    describe=describe_unstructured,
    source="k8s.io/api node/v1 RuntimeClass, 1.37; tests/golden/l2",
)
