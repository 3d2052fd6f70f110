"""The endpoints resource: the older list of the addresses behind a service."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    annotations_lines,
    labels_lines,
    write_events,
)
from env_core.kinds._endpointslice_addresses import host_port
from env_core.kinds._endpointslice_validation import validate_endpoints, validate_endpoints_update
from env_core.world import Object

DEPRECATION = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
"""The warning that comes with every answer about this resource, reads included."""

_LISTED_MAX = 3


def _default(obj: Object) -> Object:
    subsets = obj.get("subsets")
    if not subsets or all(port.get("protocol") for subset in subsets for port in subset.get("ports") or ()):
        return obj
    return {**obj, "subsets": [_default_subset(subset) for subset in subsets]}


def _default_subset(subset: Object) -> Object:
    ports = subset.get("ports")
    if not ports:
        return subset
    return {
        **subset,
        "ports": [port if port.get("protocol") else {**port, "protocol": "TCP"} for port in ports],
    }


def _cell_endpoints(obj: Object, _now_ms: int) -> str:
    subsets = obj.get("subsets")
    if not subsets:
        return NONE
    shown: list[str] = []
    count = 0
    for subset in subsets:
        addresses = [entry.get("ip") or "" for entry in subset.get("addresses") or ()]
        for port in subset.get("ports") or (None,):
            count += len(addresses)
            shown += [
                address if port is None else host_port(address, port.get("port") or 0)
                for address in addresses[: _LISTED_MAX - len(shown)]
            ]
    text = ",".join(shown)
    return f"{text} + {count - _LISTED_MAX} more..." if count > _LISTED_MAX else text


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.line(0, "Subsets:")
    for subset in obj.get("subsets") or ():
        _describe_subset(writer, subset)
    if show_events:
        write_events(writer, reader.events(obj), reader.now_ms)
    return writer.text()


def _describe_subset(writer: LineWriter, subset: Object) -> None:
    for title, key in (("Addresses", "addresses"), ("NotReadyAddresses", "notReadyAddresses")):
        addresses = ",".join(entry.get("ip") or "" for entry in subset.get(key) or ())
        writer.line(1, f"{title}:\t{addresses or NONE}")
    if subset.get("ports"):
        writer.line(1, "Ports:")
        writer.line(2, "Name\tPort\tProtocol")
        writer.line(2, "----\t----\t--------")
        for port in subset["ports"]:
            writer.line(
                2, f"{port.get('name') or '<unset>'}\t{port.get('port') or 0}\t{port.get('protocol') or ''}"
            )
    writer.line(0, "")


KIND = Kind(
    group="",
    version="v1",
    kind="Endpoints",
    plural="endpoints",
    singular="endpoints",
    short_names=("ep",),
    subresources=(),
    has_status=False,
    default=_default,
    validate=validate_endpoints,
    validate_update=validate_endpoints_update,
    columns=(
        NAME,
        Column("Endpoints", _cell_endpoints),
        AGE,
    ),
    describe=_describe,
    deprecation=DEPRECATION,
    creates_on_update=True,
    source="k8s.io/api core/v1 Endpoints, 1.37",
)
