"""The networkpolicy resource: which traffic may reach and leave a set of pods."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines
from env_core.kinds._networkpolicy_validation import DIRECTIONS, validate, validate_update
from env_core.objects.selectors import format_label_selector
from env_core.world import Object

_INDENT = "    "
_UNRESTRICTED = {
    "ingress": "From: <any> (traffic not restricted by source)",
    "egress": "To: <any> (traffic not restricted by destination)",
}


def _default(obj: Object) -> Object:
    spec = dict(obj.get("spec") or {})
    spec.setdefault("podSelector", {})
    for direction, _ in DIRECTIONS:
        if spec.get(direction):
            spec[direction] = [_default_rule(rule) for rule in spec[direction]]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    return {**obj, "spec": spec}


def _default_rule(rule: Object) -> Object:
    ports = rule.get("ports")
    if not ports or all(port.get("protocol") is not None for port in ports):
        return rule
    return {
        **rule,
        "ports": [
            port if port.get("protocol") is not None else {**port, "protocol": "TCP"} for port in ports
        ],
    }


def _describe(obj: Object, _reader: Reader, _show_events: bool) -> str:
    meta = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.line(0, f"Created on:\t{_go_time(meta.get('creationTimestamp'))}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    _describe_spec(writer, obj["spec"])
    return writer.text()


def _go_time(timestamp: str | None) -> str:
    """Return an RFC 3339 time in UTC as Go prints a time value."""
    if not timestamp:
        return "0001-01-01 00:00:00 +0000 UTC"
    return f"{timestamp[:10]} {timestamp[11:19]} +0000 UTC"


def _describe_spec(writer: LineWriter, spec: Object) -> None:
    selector = spec.get("podSelector") or {}
    writer.line(0, "Spec:")
    if selector.get("matchLabels") or selector.get("matchExpressions"):
        text = format_label_selector(selector)
    else:
        text = "<none> (Allowing the specific traffic to all pods in this namespace)"
    # kubectl writes the value with an indent of its own behind the title.
    writer.line(1, f"PodSelector:     {text}")
    kinds = spec.get("policyTypes") or ()
    for direction, side in DIRECTIONS:
        if direction.capitalize() in kinds:
            writer.line(1, f"Allowing {direction} traffic:")
            _describe_rules(writer, spec.get(direction) or [], direction, side)
        else:
            writer.line(1, f"Not affecting {direction} traffic")
    writer.line(1, f"Policy Types: {', '.join(kinds)}")


def _describe_rules(writer: LineWriter, rules: list[Object], direction: str, side: str) -> None:
    if not rules:
        writer.line(0, f"{_INDENT}<none> (Selected pods are isolated for {direction} connectivity)")
    for index, rule in enumerate(rules):
        if index:
            writer.line(0, f"{_INDENT}----------")
        for port in rule.get("ports") or ():
            writer.line(0, f"{_INDENT}{_port_text(port)}")
        if not rule.get("ports"):
            writer.line(0, f"{_INDENT}To Port: <any> (traffic allowed to all ports)")
        for peer in rule.get(side) or ():
            writer.line(0, f"{_INDENT}{side.capitalize()}:")
            _describe_peer(writer, peer)
        if not rule.get(side):
            writer.line(0, f"{_INDENT}{_UNRESTRICTED[direction]}")


def _port_text(port: Object) -> str:
    protocol = port.get("protocol") or "TCP"
    number = "<nil>" if port.get("port") is None else port["port"]
    if port.get("endPort") is None:
        return f"To Port: {number}/{protocol}"
    return f"To Port Range: {number}-{port['endPort']}/{protocol}"


def _describe_peer(writer: LineWriter, peer: Object) -> None:
    selectors = [
        (title, peer[key])
        for title, key in (("NamespaceSelector", "namespaceSelector"), ("PodSelector", "podSelector"))
        if peer.get(key) is not None
    ]
    for title, selector in selectors:
        writer.line(1, f"{_INDENT}{title}: {format_label_selector(selector)}")
    block = peer.get("ipBlock")
    if block is not None and not selectors:
        writer.line(1, f"{_INDENT}IPBlock:")
        writer.line(2, f"{_INDENT}CIDR: {block.get('cidr') or ''}")
        writer.line(2, f"{_INDENT}Except: {', '.join(block.get('except') or ())}")


KIND = Kind(
    group="networking.k8s.io",
    version="v1",
    kind="NetworkPolicy",
    plural="networkpolicies",
    singular="networkpolicy",
    short_names=("netpol",),
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate=validate,
    validate_update=validate_update,
    columns=(
        NAME,
        Column("Pod-Selector", lambda obj, _: format_label_selector(obj["spec"].get("podSelector") or {})),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api networking/v1 NetworkPolicy, 1.37",
)
