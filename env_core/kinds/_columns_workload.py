"""The columns of deployments, replica sets, stateful sets, daemon sets and their like.

Source: kubernetes pkg/printers/internalversion; tests/golden/l0/printers.jsonl.gz and printer_columns.json.gz.
"""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.kind import Column
from env_core.kinds._describe_text import NONE, translate_age
from env_core.objects import selectors
from env_core.world import Object


def _cell_name(obj: Object, _now_ms: int) -> str:
    name: str = obj["metadata"]["name"]
    return name


def _cell_age(obj: Object, now_ms: int) -> str:
    created = obj["metadata"].get("creationTimestamp")
    return translate_age(created, now_ms) if created else "<unknown>"


NAME = Column("Name", _cell_name, format="name")
AGE = Column("Age", _cell_age)


def spec_count(field: str, default: int = 0) -> Callable[[Object, int], int]:
    """Return a cell that shows an integer of the spec."""

    def cell(obj: Object, _now_ms: int) -> int:
        value = (obj.get("spec") or {}).get(field)
        return default if value is None else int(value)

    return cell


def status_count(field: str) -> Callable[[Object, int], int]:
    """Return a cell that shows an integer of the status, 0 when it is not there."""

    def cell(obj: Object, _now_ms: int) -> int:
        return int((obj.get("status") or {}).get(field) or 0)

    return cell


_desired = spec_count("replicas", 1)
_ready = status_count("readyReplicas")


def _cell_ready(obj: Object, now_ms: int) -> str:
    return f"{_ready(obj, now_ms)}/{_desired(obj, now_ms)}"


def containers_cell(containers: Callable[[Object], list[Object]], field: str) -> Callable[[Object, int], str]:
    """Return a cell that joins a field of the containers that `containers` finds in an object."""

    def cell(obj: Object, _now_ms: int) -> str:
        return ",".join(container.get(field, "") for container in containers(obj))

    return cell


def _template_containers(obj: Object) -> list[Object]:
    return ((obj["spec"].get("template") or {}).get("spec") or {}).get("containers") or []


CONTAINERS = Column("Containers", containers_cell(_template_containers, "name"), priority=1)
IMAGES = Column("Images", containers_cell(_template_containers, "image"), priority=1)


def _cell_exact_selector(obj: Object, _now_ms: int) -> str:
    return str(selectors.from_object(obj["spec"].get("selector")))


def _cell_selector(obj: Object, _now_ms: int) -> str:
    return selectors.format_label_selector(obj["spec"].get("selector"))


SELECTOR = Column("Selector", _cell_selector, priority=1)


def equality_text(labels: Object | None) -> str:
    """Return a map of labels as "a=b,c=d", sorted; `<none>` without any."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else NONE


def _cell_node_selector(obj: Object, _now_ms: int) -> str:
    return equality_text(((obj["spec"].get("template") or {}).get("spec") or {}).get("nodeSelector"))


def _cell_equality_selector(obj: Object, _now_ms: int) -> str:
    return equality_text(obj["spec"].get("selector"))


_REPLICAS = (
    NAME,
    Column("Desired", _desired, "integer"),
    Column("Current", status_count("replicas"), "integer"),
    Column("Ready", _ready, "integer"),
    AGE,
    CONTAINERS,
    IMAGES,
)

DEPLOYMENT = (
    NAME,
    Column("Ready", _cell_ready),
    Column("Up-to-date", status_count("updatedReplicas")),
    Column("Available", status_count("availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    Column("Selector", _cell_exact_selector, priority=1),
)
REPLICASET = (*_REPLICAS, SELECTOR)
REPLICATIONCONTROLLER = (*_REPLICAS, Column("Selector", _cell_equality_selector, priority=1))
STATEFULSET = (NAME, Column("Ready", _cell_ready), AGE, CONTAINERS, IMAGES)
DAEMONSET = (
    NAME,
    Column("Desired", status_count("desiredNumberScheduled"), "integer"),
    Column("Current", status_count("currentNumberScheduled"), "integer"),
    Column("Ready", status_count("numberReady"), "integer"),
    Column("Up-to-date", status_count("updatedNumberScheduled"), "integer"),
    Column("Available", status_count("numberAvailable"), "integer"),
    Column("Node Selector", _cell_node_selector),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
)


def _cell_controller(obj: Object, _now_ms: int) -> str:
    """Return the controller as "statefulset.apps/name"."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group, slash, _ = owner["apiVersion"].partition("/")
            kind = f"{owner['kind']}.{group}" if slash else owner["kind"]
            return f"{kind.lower()}/{owner['name']}"
    return NONE


def _cell_revision(obj: Object, _now_ms: int) -> int:
    return int(obj.get("revision") or 0)


CONTROLLERREVISION = (NAME, Column("Controller", _cell_controller), Column("Revision", _cell_revision), AGE)
