"""The configmap resource: configuration as keys and values."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._configdata_bytes import byte_length
from env_core.kinds._configdata_validation import validate_config_map, validate_config_map_update
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, write_events
from env_core.world import Object


def _cell_data(obj: Object, _now_ms: int) -> int:
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    data = obj.get("data") or {}
    binary = obj.get("binaryData") or {}
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.write(0, "\nData\n====\n")
    for key in sorted(data):
        writer.write(0, f"{key}:\n----\n{data[key]}\n\n")
    writer.write(0, "\nBinaryData\n====\n")
    for key in sorted(binary):
        writer.line(0, f"{key}: {byte_length(binary[key])} bytes")
    writer.line(0, "")
    if show_events:
        write_events(writer, reader.events(obj), reader.now_ms)
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="ConfigMap",
    plural="configmaps",
    singular="configmap",
    short_names=("cm",),
    subresources=(),
    has_status=False,
    validate=validate_config_map,
    validate_update=validate_config_map_update,
    columns=(
        NAME,
        Column("Data", _cell_data),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api core/v1 ConfigMap, 1.37",
)
