"""The endpointslice resource: a part of the addresses behind a service."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import (
    LineWriter,
    annotations_lines,
    labels_lines,
    write_events,
)
from env_core.kinds._endpointslice_validation import validate_slice, validate_slice_update
from env_core.world import Object

_LISTED_MAX = 3
_UNSET = "<unset>"


def _default(obj: Object) -> Object:
    ports = obj.get("ports")
    endpoints = obj.get("endpoints")
    return {
        **obj,
        "endpoints": [_default_endpoint(entry) for entry in endpoints] if endpoints else endpoints,
        "ports": [_default_port(port) for port in ports] if ports else ports,
    }


def _default_endpoint(endpoint: Object) -> Object:
    return endpoint if endpoint.get("conditions") is not None else {**endpoint, "conditions": {}}


def _default_port(port: Object) -> Object:
    if port.get("name") is not None and port.get("protocol"):
        return port
    return {**port, "name": port.get("name") or "", "protocol": port.get("protocol") or "TCP"}


def _warnings(obj: Object) -> list[str]:
    return ["spec.addressType: FQDN endpoints are deprecated"] if obj.get("addressType") == "FQDN" else []


def _listed(values: list[str]) -> str:
    if len(values) > _LISTED_MAX:
        return f"{','.join(values[:_LISTED_MAX])} + {len(values) - _LISTED_MAX} more..."
    return ",".join(values) or _UNSET


def _cell_ports(obj: Object, _now_ms: int) -> str:
    return _listed([str(_port_text(port)) for port in obj.get("ports") or ()])


def _port_text(port: Object) -> Any:
    if port.get("port") is not None:
        return port["port"]
    return "*" if port.get("name") is None else port["name"]


def _cell_endpoints(obj: Object, _now_ms: int) -> str:
    return _listed(
        [address for entry in obj.get("endpoints") or () for address in entry.get("addresses") or ()]
    )


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.line(0, f"AddressType:\t{obj.get('addressType') or ''}")
    if obj.get("ports"):
        writer.line(0, "Ports:")
        writer.line(1, "Name\tPort\tProtocol")
        writer.line(1, "----\t----\t--------")
        for port in obj["ports"]:
            number = _UNSET if port.get("port") is None else port["port"]
            writer.line(1, f"{port.get('name') or _UNSET}\t{number}\t{port.get('protocol') or ''}")
    else:
        writer.line(0, "Ports: <unset>")
    if obj.get("endpoints"):
        writer.line(0, "Endpoints:")
        for endpoint in obj["endpoints"]:
            _describe_endpoint(writer, endpoint)
    else:
        writer.line(0, "Endpoints: <none>")
    if show_events:
        write_events(writer, reader.events(obj), reader.now_ms)
    return writer.text()


def _describe_endpoint(writer: LineWriter, endpoint: Object) -> None:
    ready = (endpoint.get("conditions") or {}).get("ready")
    writer.line(1, f"- Addresses:\t{', '.join(endpoint.get('addresses') or ()) or '<none>'}")
    writer.line(2, "Conditions:")
    writer.line(3, f"Ready:\t{_UNSET if ready is None else str(ready).lower()}")
    writer.line(2, f"Hostname:\t{_or_unset(endpoint.get('hostname'))}")
    target = endpoint.get("targetRef")
    if target is not None:
        writer.line(2, f"TargetRef:\t{target.get('kind') or ''}/{target.get('name') or ''}")
    writer.line(2, f"NodeName:\t{_or_unset(endpoint.get('nodeName'))}")
    writer.line(2, f"Zone:\t{_or_unset(endpoint.get('zone'))}")


def _or_unset(value: str | None) -> str:
    return _UNSET if value is None else value


KIND = Kind(
    group="discovery.k8s.io",
    version="v1",
    kind="EndpointSlice",
    plural="endpointslices",
    singular="endpointslice",
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate=validate_slice,
    validate_update=validate_slice_update,
    warnings=_warnings,
    columns=(
        NAME,
        Column("AddressType", lambda obj, _: obj.get("addressType") or ""),
        Column("Ports", _cell_ports),
        Column("Endpoints", _cell_endpoints),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api discovery/v1 EndpointSlice, 1.37",
)
