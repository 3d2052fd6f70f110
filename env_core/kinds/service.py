"""The service resource: a stable address in front of pods, or an alias for a DNS name."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME, equality_text
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    annotations_lines,
    labels_lines,
    write_events,
)
from env_core.kinds._endpointslice_addresses import ready_addresses, slices_of
from env_core.kinds._policy_rules import label_name
from env_core.kinds._service_strategy import default, prepare_create, prepare_update
from env_core.kinds._service_validation import validate, validate_status, validate_update
from env_core.world import Object

_OUTSIDE_TYPES = ("ClusterIP", "NodePort")


def _warnings(obj: Object) -> list[str]:
    """Warn of fields that are set and have no effect, or that are on their way out.

    Source: kubernetes pkg/api/service/warnings.go; tests/golden/l2/flows svc-expose, svc-externalname.
    """
    spec = obj["spec"]
    found: list[str] = []
    if spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None":
        if spec.get("loadBalancerIP"):
            found.append("spec.loadBalancerIP is ignored for headless services")
        if spec.get("externalIPs"):
            found.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") != "None":
            found.append("spec.SessionAffinity is ignored for headless services")
    if spec.get("externalIPs"):
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("type") == "ExternalName":
        if spec.get("externalIPs"):
            found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    elif spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def _cell_cluster_ip(obj: Object, _now_ms: int) -> str:
    addresses = obj["spec"].get("clusterIPs")
    return addresses[0] if addresses else NONE


def _balancer_addresses(obj: Object) -> list[str]:
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    found = {entry.get("ip") or entry.get("hostname") or "" for entry in ingress}
    return sorted(found - {""})


def _cell_external_ip(obj: Object, _now_ms: int) -> str:
    spec = obj["spec"]
    kind = spec.get("type")
    if kind in _OUTSIDE_TYPES:
        return ",".join(spec.get("externalIPs") or ()) or NONE
    if kind == "LoadBalancer":
        return ",".join([*_balancer_addresses(obj), *(spec.get("externalIPs") or ())]) or "<pending>"
    if kind == "ExternalName":
        return spec.get("externalName") or ""
    return "<unknown>"


def _cell_ports(obj: Object, _now_ms: int) -> str:
    ports = obj["spec"].get("ports")
    if not ports:
        return NONE
    return ",".join(
        f"{port['port']}:{port['nodePort']}/{port['protocol']}"
        if port.get("nodePort")
        else f"{port['port']}/{port['protocol']}"
        for port in ports
    )


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    spec = obj["spec"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.line(0, f"Selector:\t{equality_text(spec.get('selector'))}")
    writer.line(0, f"Type:\t{spec.get('type') or ''}")
    if spec.get("ipFamilyPolicy"):
        writer.line(0, f"IP Family Policy:\t{spec['ipFamilyPolicy']}")
    writer.line(0, f"IP Families:\t{','.join(spec.get('ipFamilies') or ()) or NONE}")
    writer.line(0, f"IP:\t{spec.get('clusterIP') or ''}")
    writer.line(0, f"IPs:\t{','.join(spec.get('clusterIPs') or ()) or NONE}")
    _describe_outside(writer, obj)
    slices = slices_of(reader, meta.get("namespace") or "", meta["name"])
    for port in spec.get("ports") or ():
        _describe_port(writer, port, slices)
    _describe_policies(writer, spec)
    if show_events:
        write_events(writer, reader.events(obj), reader.now_ms)
    return writer.text()


def _describe_outside(writer: LineWriter, obj: Object) -> None:
    spec = obj["spec"]
    if spec.get("externalIPs"):
        writer.line(0, f"External IPs:\t{','.join(spec['externalIPs'])}")
    if spec.get("loadBalancerIP"):
        writer.line(0, f"Desired LoadBalancer IP:\t{spec['loadBalancerIP']}")
    if spec.get("externalName"):
        writer.line(0, f"External Name:\t{spec['externalName']}")
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    if ingress:
        writer.line(0, f"LoadBalancer Ingress:\t{', '.join(_ingress_text(entry) for entry in ingress)}")


def _ingress_text(entry: Object) -> str:
    if not entry.get("ip"):
        return entry.get("hostname") or ""
    return f"{entry['ip']} ({entry['ipMode']})" if entry.get("ipMode") is not None else str(entry["ip"])


def _describe_port(writer: LineWriter, port: Object, slices: list[Object]) -> None:
    name = port.get("name") or "<unset>"
    protocol = port.get("protocol") or ""
    writer.line(0, f"Port:\t{name}\t{port['port']}/{protocol}")
    writer.line(0, f"TargetPort:\t{port.get('targetPort', 0)}/{protocol}")
    if port.get("appProtocol") is not None:
        writer.line(0, f"AppProtocol:\t{port['appProtocol']}")
    if port.get("nodePort"):
        writer.line(0, f"NodePort:\t{name}\t{port['nodePort']}/{protocol}")
    writer.line(0, f"Endpoints:\t{ready_addresses(slices, port.get('name') or '')}")


def _describe_policies(writer: LineWriter, spec: Object) -> None:
    writer.line(0, f"Session Affinity:\t{spec.get('sessionAffinity') or ''}")
    if spec.get("externalTrafficPolicy"):
        writer.line(0, f"External Traffic Policy:\t{spec['externalTrafficPolicy']}")
    if spec.get("internalTrafficPolicy"):
        writer.line(0, f"Internal Traffic Policy:\t{spec['internalTrafficPolicy']}")
    if spec.get("healthCheckNodePort"):
        writer.line(0, f"HealthCheck NodePort:\t{spec['healthCheckNodePort']}")
    if spec.get("loadBalancerSourceRanges"):
        writer.line(0, f"LoadBalancer Source Ranges:\t{','.join(spec['loadBalancerSourceRanges'])}")
    if spec.get("trafficDistribution"):
        writer.line(0, f"Traffic Distribution:\t{spec['trafficDistribution']}")


KIND = Kind(
    group="",
    version="v1",
    kind="Service",
    plural="services",
    singular="service",
    short_names=("svc",),
    categories=("all",),
    subresources=("proxy", "status"),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate_name=label_name,
    validate=validate,
    validate_update=validate_update,
    validate_status=validate_status,
    warnings=_warnings,
    field_labels=("metadata.name", "metadata.namespace", "spec.clusterIP", "spec.type"),
    columns=(
        NAME,
        Column("Type", lambda obj, _: obj["spec"].get("type") or ""),
        Column("Cluster-IP", _cell_cluster_ip),
        Column("External-IP", _cell_external_ip),
        Column("Port(s)", _cell_ports),
        AGE,
        Column("Selector", lambda obj, _: equality_text(obj["spec"].get("selector")), priority=1),
    ),
    describe=_describe,
    returns_deleted=True,
    creates_on_update=True,
    source="k8s.io/api core/v1 Service, 1.37",
)
