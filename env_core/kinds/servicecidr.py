"""Service CIDRs: the ranges that cluster IPs are drawn from."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import (
    LineWriter,
    annotations_lines,
    labels_lines,
    rfc1123z,
    write_events,
)
from env_core.kinds._policy_rules import IMMUTABLE, kept_spec, kept_status, subdomain_name
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required
from env_core.world import Object

_ONE_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    """Check the ranges: one, or one of each IP family.

    Source: k8s.io/kubernetes pkg/apis/networking/validation ValidateServiceCIDR.
    """
    spec = obj.get("spec") or {}
    ranges, field = spec.get("cidrs") or [], "spec.cidrs"
    if not ranges:
        return [required(field, "at least one CIDR required")]
    if len(ranges) > 2:
        return [invalid(field, spec, "may only hold up to 2 values")]
    if len(ranges) == 2 and {names.cidr_family(text) for text in ranges} != {4, 6}:
        return [invalid(field, spec, _ONE_EACH)]
    return [
        invalid(f"{field}[{index}]", text, complaint)
        for index, text in enumerate(ranges)
        for complaint in names.is_cidr(text)
    ]


def _validate_update(new: Object, old: Object) -> list[Problem]:
    ranges = (new.get("spec") or {}).get("cidrs")
    if ranges == (old.get("spec") or {}).get("cidrs"):
        return []
    return [invalid("spec.cidrs", ranges, IMMUTABLE)]


def _cell_ranges(obj: Object, _now_ms: int) -> str:
    return ",".join((obj.get("spec") or {}).get("cidrs") or ())


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"CIDRs:\t{', '.join((obj.get('spec') or {}).get('cidrs') or ())}")
    conditions = (obj.get("status") or {}).get("conditions")
    if conditions:
        writer.line(0, "Status:")
        writer.line(0, "Conditions:")
        writer.line(1, "Type\tStatus\tLastTransitionTime\tReason\tMessage")
        writer.line(1, "----\t------\t------------------\t------\t-------")
        for each in conditions:
            cells = (
                each.get("type", ""),
                each.get("status", ""),
                rfc1123z(each.get("lastTransitionTime")),
                each.get("reason", ""),
                each.get("message", ""),
            )
            writer.line(1, "\t".join(cells))
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="networking.k8s.io",
    version="v1",
    kind="ServiceCIDR",
    plural="servicecidrs",
    singular="servicecidr",
    is_namespaced=False,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(NAME, Column("CIDRs", _cell_ranges), AGE),
    describe=_describe,
    source="k8s.io/api networking/v1 ServiceCIDR, 1.37; tests/golden/l2/facts",
    unrecorded="validation and describe texts; further ranges are kept but no address is drawn from them",
)
