"""IP addresses that services hold: what the server has allocated, found anew when it is read."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.apiserver.store import Store
from env_core.kinds._columns_workload import NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, write_events
from env_core.kinds._policy_rules import IMMUTABLE
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required
from env_core.sim import ids
from env_core.world import Object


def _name(name: str, _is_prefix: bool) -> list[str]:
    """Check that the name is an address in its canonical form.

    Source: k8s.io/kubernetes pkg/apis/networking/validation ValidateIPAddressName.
    """
    return names.is_ip(name)


def _validate(obj: Object) -> list[Problem]:
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        return [required("spec.parentRef")]
    found: list[Problem] = []
    group = parent.get("group") or ""
    if group:
        found += [invalid("spec.parentRef.group", group, text) for text in names.is_dns1123_subdomain(group)]
    for field in ("resource", "name", "namespace"):
        text = parent.get(field) or ""
        if text:
            found += [
                invalid(f"spec.parentRef.{field}", text, complaint)
                for complaint in names.is_path_segment_name(text)
            ]
        elif field != "namespace":
            found.append(required(f"spec.parentRef.{field}"))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    parent = (new.get("spec") or {}).get("parentRef")
    if parent == (old.get("spec") or {}).get("parentRef"):
        return []
    return [invalid("spec.parentRef", parent, IMMUTABLE)]


def _computed(store: Store) -> list[Object]:
    """Return an object for each address that a service holds.

    Source: tests/golden/l2/facts/default_objects.json.gz; the server's allocator makes them with the service.
    """
    found: list[Object] = []
    for service in store.list("services"):
        metadata = service["metadata"]
        parent = {"resource": "services", "namespace": metadata["namespace"], "name": metadata["name"]}
        for address in (service.get("spec") or {}).get("clusterIPs") or ():
            family = names.ip_family(address)
            if family:
                found.append(_address(address, family, parent, metadata))
    return sorted(found, key=lambda obj: str(obj["metadata"]["name"]))


def _address(address: str, family: int, parent: Object, owner: Object) -> Object:
    metadata = {
        "name": address,
        "uid": ids.uid_of(f"{owner['uid']} {address}"),
        "resourceVersion": owner["resourceVersion"],
        "creationTimestamp": owner["creationTimestamp"],
        "labels": {
            "ipaddress.kubernetes.io/ip-family": f"IPv{family}",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        },
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": metadata,
        "spec": {"parentRef": parent},
    }


def _cell_parent(obj: Object, _now_ms: int) -> str:
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        return "<none>"
    group = parent.get("group") or ""
    resource = f"{parent.get('resource', '')}.{group}" if group else str(parent.get("resource", ""))
    parts = [resource.lower(), parent.get("namespace") or "", parent.get("name") or ""]
    return "/".join(part for index, part in enumerate(parts) if part or index != 1)


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is not None:
        writer.line(0, "Parent Reference:")
        for field in ("group", "resource", "namespace", "name"):
            writer.line(1, f"{field.capitalize()}:\t{parent.get(field) or ''}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="networking.k8s.io",
    version="v1",
    kind="IPAddress",
    plural="ipaddresses",
    singular="ipaddress",
    short_names=("ip",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    validate_name=_name,
    validate=_validate,
    validate_update=_validate_update,
    field_labels=(
        "metadata.name",
        "metadata.namespace",
        "spec.parentRef.group",
        "spec.parentRef.resource",
        "spec.parentRef.namespace",
        "spec.parentRef.name",
    ),
    computed=_computed,
    columns=(NAME, Column("ParentRef", _cell_parent)),
    describe=_describe,
    source="k8s.io/api networking/v1 IPAddress, 1.37; pkg/printers printIPAddress; tests/golden/l2/facts",
    unrecorded="validation and describe texts; rows have one cell more than columns, which kubectl drops",
)
