"""CSI nodes: which drivers a node has."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, rfc1123z, write_events
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_webhooks import count_of
from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects import goformat
from env_core.objects.problems import Problem, required
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    found: list[Problem] = []
    for index, driver in enumerate((obj.get("spec") or {}).get("drivers") or ()):
        field = f"spec.drivers[{index}]"
        found += driver_name_problems(driver.get("name", ""), f"{field}.name")
        if not driver.get("nodeID"):
            found.append(required(f"{field}.nodeID"))
    return found


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata, drivers = obj["metadata"], (obj.get("spec") or {}).get("drivers")
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"CreationTimestamp:\t{rfc1123z(metadata.get('creationTimestamp'))}")
    writer.line(0, "Spec:")
    if drivers is not None:
        writer.line(1, "Drivers:")
    for driver in drivers or ():
        writer.line(2, f"{driver.get('name', '')}:")
        writer.line(3, f"Node ID:\t{driver.get('nodeID', '')}")
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            writer.line(3, "Allocatables:")
            writer.line(4, f"Count:\t{count}")
        if driver.get("topologyKeys") is not None:
            writer.line(3, f"Topology Keys:\t{goformat.value_text(driver['topologyKeys'])}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="CSINode",
    plural="csinodes",
    singular="csinode",
    is_namespaced=False,
    has_status=False,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, Column("Drivers", count_of("spec.drivers"), type="integer"), AGE),
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api storage/v1 CSINode, 1.37; tests/golden/l2/facts",
)
