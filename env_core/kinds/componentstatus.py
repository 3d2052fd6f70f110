"""Component statuses: what the API server sees of the scheduler, the controllers and etcd."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.apiserver.store import Store
from env_core.kinds._columns_workload import NAME
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.world import Object

# The scheduler and the controller manager of the recorded control plane do not listen where the server asks.
_PORTS = (("controller-manager", 10257), ("scheduler", 10259))


def _status(name: str, is_healthy: bool, message: str) -> Object:
    condition = {"type": "Healthy", "status": "True" if is_healthy else "False", "message": message}
    return {
        "apiVersion": "v1",
        "kind": "ComponentStatus",
        "metadata": {"name": name},
        "conditions": [condition],
    }


_STATUSES = [
    *(
        _status(
            name,
            False,
            f'Get "https://127.0.0.1:{port}/healthz": dial tcp 127.0.0.1:{port}: connect: connection refused',
        )
        for name, port in _PORTS
    ),
    _status("etcd-0", True, "ok"),
]


def _computed(_store: Store) -> list[Object]:
    return _STATUSES


def _condition(obj: Object) -> Object:
    found: Object = (obj.get("conditions") or [{}])[0]
    return found


def _cell_status(obj: Object, _now_ms: int) -> str:
    """Return the health.

    Source: k8s.io/kubernetes pkg/printers/internalversion printComponentStatus; tests/golden/l2/facts/tables.
    """
    status = _condition(obj).get("status")
    return {"True": "Healthy", "False": "Unhealthy"}.get(str(status), "Unknown")


def _cell_message(obj: Object, _now_ms: int) -> str:
    return str(_condition(obj).get("message") or "")


def _cell_error(obj: Object, _now_ms: int) -> str:
    return str(_condition(obj).get("error") or "")


KIND = Kind(
    group="",
    version="v1",
    kind="ComponentStatus",
    plural="componentstatuses",
    singular="componentstatus",
    short_names=("cs",),
    is_namespaced=False,
    verbs=("get", "list"),
    subresources=(),
    has_status=False,
    computed=_computed,
    columns=(
        NAME,
        Column("Status", _cell_status),
        Column("Message", _cell_message),
        Column("Error", _cell_error),
    ),
    describe=describe_unstructured,
    deprecation="v1 ComponentStatus is deprecated in v1.19+",
    source="k8s.io/api core/v1 ComponentStatus, 1.37; tests/golden/l2/facts",
)
