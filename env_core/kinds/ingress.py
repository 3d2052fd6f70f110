"""The ingress resource: HTTP routes from outside to services."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import NONE, LineWriter, annotations_lines, labels_lines, write_events
from env_core.kinds._endpointslice_addresses import ready_addresses, slices_of
from env_core.kinds._ingress_validation import CLASS_ANNOTATION, validate, validate_status, validate_update
from env_core.world import Object

_HOSTS_MAX = 3


def _default(obj: Object) -> Object:
    status = obj.get("status") or {}
    return (
        obj if status.get("loadBalancer") is not None else {**obj, "status": {**status, "loadBalancer": {}}}
    )


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {"loadBalancer": {}}}


def _warnings(obj: Object) -> list[str]:
    if CLASS_ANNOTATION not in ((obj.get("metadata") or {}).get("annotations") or {}):
        return []
    return [f"annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]


def _addresses(obj: Object) -> str:
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    found = {entry.get("ip") or entry.get("hostname") or "" for entry in ingress}
    return ",".join(sorted(found - {""}))


def _class_name(obj: Object) -> str:
    name = obj["spec"].get("ingressClassName")
    return NONE if name is None else str(name)


def _cell_hosts(obj: Object, _now_ms: int) -> str:
    """Rules without a host count only in the number of those that are not shown."""
    rules = obj["spec"].get("rules") or ()
    shown: list[str] = []
    has_more = False
    for rule in rules:
        has_more = has_more or len(shown) == _HOSTS_MAX
        if not has_more and rule.get("host"):
            shown.append(rule["host"])
    text = ",".join(shown) or "*"
    return f"{text} + {len(rules) - _HOSTS_MAX} more..." if has_more else text


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    spec = obj["spec"]
    namespace = meta.get("namespace") or ""
    events = reader.events(obj) if show_events else None
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.line(0, f"Namespace:\t{namespace}")
    writer.line(0, f"Address:\t{_addresses(obj)}")
    writer.line(0, f"Ingress Class:\t{_class_name(obj)}")
    default = spec.get("defaultBackend")
    default_text = "<default>" if default is None else _backend_text(default, namespace, reader)
    writer.line(0, f"Default backend:\t{default_text}")
    _describe_tls(writer, spec.get("tls") or [])
    writer.line(0, "Rules:")
    writer.line(1, "Host\tPath\tBackends")
    writer.line(1, "----\t----\t--------")
    rules = [rule for rule in spec.get("rules") or () if rule.get("http") is not None]
    for rule in rules:
        writer.line(1, f"{rule.get('host') or '*'}\t")
        for path in rule["http"].get("paths") or ():
            backend = _backend_text(path.get("backend") or {}, namespace, reader)
            writer.line(2, f"\t{path.get('path') or ''} \t{backend}")
    if not rules:
        writer.line(1, f"*\t*\t{default_text}")
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    write_events(writer, events, reader.now_ms)
    return writer.text()


def _describe_tls(writer: LineWriter, entries: list[Object]) -> None:
    if entries:
        writer.line(0, "TLS:")
    for entry in entries:
        secret = entry.get("secretName")
        start = f"{secret} terminates" if secret else "SNI routes"
        writer.line(1, f"{start} {','.join(entry.get('hosts') or ())}")


def _backend_text(backend: Object, namespace: str, reader: Reader) -> str:
    service = backend.get("service")
    if service is not None:
        return _service_backend_text(service, namespace, reader)
    resource = backend.get("resource")
    if resource is None:
        return ""
    group = NONE if resource.get("apiGroup") is None else resource["apiGroup"]
    return f"APIGroup: {group}, Kind: {resource.get('kind') or ''}, Name: {resource.get('name') or ''}"


def _service_backend_text(backend: Object, namespace: str, reader: Reader) -> str:
    name = backend.get("name") or ""
    port = backend.get("port") or {}
    number = port.get("number")
    title = f"{name}:{number or port.get('name') or ''}"
    slices = slices_of(reader, namespace, name)
    service = reader.get("services", namespace, name)
    if service is None:
        return f'{title} (<error: services "{name}" not found>)'
    port_name = ""
    for candidate in service["spec"].get("ports") or ():
        candidate_name = candidate.get("name") or ""
        if (number and number == candidate["port"]) or (port.get("name") and port["name"] == candidate_name):
            port_name = candidate_name
    return f"{title} ({ready_addresses(slices, port_name)})"


KIND = Kind(
    group="networking.k8s.io",
    version="v1",
    kind="Ingress",
    plural="ingresses",
    singular="ingress",
    short_names=("ing",),
    has_generation=True,
    default=_default,
    prepare_create=_prepare_create,
    validate=validate,
    validate_update=validate_update,
    validate_status=validate_status,
    warnings=_warnings,
    columns=(
        NAME,
        Column("Class", lambda obj, _: _class_name(obj)),
        Column("Hosts", _cell_hosts),
        Column("Address", lambda obj, _: _addresses(obj)),
        Column("Ports", lambda obj, _: "80, 443" if obj["spec"].get("tls") else "80"),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api networking/v1 Ingress, 1.37",
)
