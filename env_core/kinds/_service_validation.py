"""What makes a service invalid.

Source: kubernetes pkg/apis/core/validation (services); tests/golden/l0/validation.jsonl.gz, tests/golden/l2/defaults.jsonl.gz.
"""

from __future__ import annotations

from typing import Any

from env_core.kinds._endpointslice_validation import endpoint_address_problems
from env_core.kinds._service_addresses import cluster_ip_changes, cluster_ip_problems
from env_core.kinds._service_strategy import is_externally_accessible, is_headless, needs_health_check_port
from env_core.objects import names
from env_core.objects.problems import (
    DUPLICATE,
    Problem,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from env_core.world import Object

_TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
_PROTOCOLS = ["SCTP", "TCP", "UDP"]
_AFFINITIES = ["ClientIP", "None"]
_TRAFFIC_POLICIES = ["Cluster", "Local"]
_TRAFFIC_DISTRIBUTIONS = ["PreferClose", "PreferSameNode", "PreferSameZone"]
_IP_MODES = ["Proxy", "VIP"]
_AFFINITY_SECONDS_MAX = 86400
_RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"
_HINTS_ANNOTATION = "service.kubernetes.io/topology-aware-hints"
_MODE_ANNOTATION = "service.kubernetes.io/topology-mode"
_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
_NO_ADDRESS = "must be a DNS name, not an IP address"


def validate(obj: Object) -> list[Problem]:
    """Check a prepared service."""
    spec = obj["spec"]
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    found = _topology_annotation_problems(annotations)
    if not spec.get("ports") and not is_headless(spec) and spec.get("type") != "ExternalName":
        found.append(required("spec.ports"))
    found += _type_problems(spec)
    found += _port_problems(spec)
    found += label_problems(spec.get("selector"), "spec.selector")
    found += _affinity_problems(spec)
    found += cluster_ip_problems(spec)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        found += _external_ip_problems(address, f"spec.externalIPs[{index}]")
    if spec.get("type") not in _TYPES:
        found.append(not_supported("spec.type", spec.get("type"), _TYPES))
    found += _repeated_port_problems(spec)
    found += _source_range_problems(spec, annotations)
    if spec.get("allocateLoadBalancerNodePorts") is not None and spec.get("type") != "LoadBalancer":
        found.append(forbidden("spec.allocateLoadBalancerNodePorts", _BALANCER_ONLY))
    found += _balancer_class_problems(spec)
    found += _traffic_problems(spec)
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed service: addresses, families and the load balancer's class stay what they are."""
    spec = new["spec"]
    before = old["spec"]
    found = cluster_ip_changes(spec, before)
    if spec.get("type") == before.get("type") == "LoadBalancer":
        if spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
            found.append(
                invalid("spec.loadBalancerClass", spec.get("loadBalancerClass"), "may not change once set")
            )
    if needs_health_check_port(spec) and needs_health_check_port(before):
        if (spec.get("healthCheckNodePort") or 0) != (before.get("healthCheckNodePort") or 0):
            found.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return found + validate(new)


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check the load balancer's addresses."""
    found: list[Problem] = []
    ingress = ((new.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    if ingress and new["spec"].get("type") != "LoadBalancer":
        return [forbidden("status.loadBalancer.ingress", "may only be used when `spec.type` is LoadBalancer")]
    for index, entry in enumerate(ingress):
        path = f"status.loadBalancer.ingress[{index}]"
        address = entry.get("ip")
        mode = entry.get("ipMode")
        if address:
            found += [invalid(f"{path}.ip", address, text) for text in names.is_ip(address)]
        if mode is None:
            if address:
                found.append(required(f"{path}.ipMode", "must be specified when `ip` is set"))
        elif not address:
            found.append(forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set"))
        elif mode not in _IP_MODES:
            found.append(not_supported(f"{path}.ipMode", mode, _IP_MODES))
        found += hostname_problems(entry.get("hostname"), f"{path}.hostname")
    return found


def hostname_problems(hostname: str | None, path: str) -> list[Problem]:
    """Check the name of a load balancer's address."""
    if not hostname:
        return []
    found = [invalid(path, hostname, text) for text in names.is_dns1123_subdomain(hostname)]
    if names.ip_family(hostname):
        found.append(invalid(path, hostname, _NO_ADDRESS))
    return found


def label_problems(labels: dict[str, str] | None, path: str) -> list[Problem]:
    """Check a map of labels, in key order."""
    found: list[Problem] = []
    for key in sorted(labels or ()):
        found += [invalid(path, key, text) for text in names.is_qualified_name(key)]
        value = (labels or {})[key]
        found += [invalid(path, value, text) for text in names.is_valid_label_value(value)]
    return found


def port_reference_problems(value: Any, path: str) -> list[Problem]:
    """Check a port that is given by number or by name."""
    if isinstance(value, str):
        return [invalid(path, value, text) for text in names.is_port_name(value)]
    return [invalid(path, value, text) for text in names.is_port_number(value or 0)]


def _topology_annotation_problems(annotations: dict[str, str]) -> list[Problem]:
    mode = annotations.get(_MODE_ANNOTATION)
    hints = annotations.get(_HINTS_ANNOTATION)
    if mode is None or hints is None or mode == hints:
        return []
    text = f"must match annotations[{_HINTS_ANNOTATION}] when both are specified"
    return [invalid(f"metadata.annotations[{_MODE_ANNOTATION}]", mode, text)]


def _type_problems(spec: Object) -> list[Problem]:
    kind = spec.get("type")
    if kind in ("LoadBalancer", "NodePort"):
        if not is_headless(spec):
            return []
        return [invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")]
    if kind != "ExternalName":
        return []
    text = "may not be set for ExternalName services"
    found = [forbidden(f"spec.{key}", text) for key in ("clusterIPs", "ipFamilies") if spec.get(key)]
    if spec.get("ipFamilyPolicy") is not None:
        found.append(forbidden("spec.ipFamilyPolicy", text))
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        return [*found, required("spec.externalName")]
    return found + [invalid("spec.externalName", name, text) for text in names.is_dns1123_subdomain(name)]


def _port_problems(spec: Object) -> list[Problem]:
    found: list[Problem] = []
    ports = spec.get("ports") or ()
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        name = port.get("name") or ""
        if name:
            found += [invalid(f"{path}.name", name, text) for text in names.is_dns1123_label(name)]
            if name in seen:
                found.append(duplicate(f"{path}.name", name))
            seen.add(name)
        elif len(ports) > 1:
            found.append(required(f"{path}.name"))
        number = port.get("port") or 0
        found += [invalid(f"{path}.port", number, text) for text in names.is_port_number(number)]
        protocol = port.get("protocol")
        if not protocol:
            found.append(required(f"{path}.protocol"))
        elif protocol not in _PROTOCOLS:
            found.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
        found += port_reference_problems(port.get("targetPort"), f"{path}.targetPort")
        application = port.get("appProtocol")
        if application is not None:
            found += [
                invalid(f"{path}.appProtocol", application, text)
                for text in names.is_qualified_name(application)
            ]
    return found


def _affinity_problems(spec: Object) -> list[Problem]:
    affinity = spec.get("sessionAffinity")
    path = "spec.sessionAffinity"
    if affinity not in _AFFINITIES:
        return [not_supported(path, affinity, _AFFINITIES)] if affinity else [required(path)]
    config = spec.get("sessionAffinityConfig")
    path += "Config"
    if affinity == "None":
        return (
            [forbidden(path, "must not be set when session affinity is None")] if config is not None else []
        )
    if config is None:
        return [required(path, "when session affinity type is ClientIP")]
    client = config.get("clientIP")
    if client is None:
        return [required(f"{path}.clientIP", "when session affinity type is ClientIP")]
    seconds = client.get("timeoutSeconds")
    path += ".clientIP.timeoutSeconds"
    if seconds is None:
        return [required(path, "when session affinity type is ClientIP")]
    if not 0 < seconds <= _AFFINITY_SECONDS_MAX:
        return [invalid(path, seconds, f"must be greater than 0 and less than {_AFFINITY_SECONDS_MAX}")]
    return []


def _external_ip_problems(address: str, path: str) -> list[Problem]:
    found = [invalid(path, address, text) for text in names.is_ip(address)]
    return found or endpoint_address_problems(address, path)


def _repeated_port_problems(spec: Object) -> list[Problem]:
    ports = spec.get("ports") or ()
    found: list[Problem] = []
    if spec.get("type") == "ClusterIP":
        text = "may not be used when `type` is 'ClusterIP'"
        found += [
            forbidden(f"spec.ports[{index}].nodePort", text)
            for index, port in enumerate(ports)
            if port.get("nodePort")
        ]
    node_ports: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        node_port = port.get("nodePort")
        if not node_port:
            continue
        if (port.get("protocol") or "", node_port) in node_ports:
            found.append(duplicate(f"spec.ports[{index}].nodePort", node_port))
        node_ports.add((port.get("protocol") or "", node_port))
    numbers: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        pair = (port.get("protocol") or "", port.get("port") or 0)
        if pair in numbers:
            found.append(_repeated_port(f"spec.ports[{index}]", *pair))
        numbers.add(pair)
    return found


def _repeated_port(path: str, protocol: str, number: int) -> Problem:
    """The value is printed as the internal Go struct with only protocol and port filled in."""
    struct = f'{{"Name":"","Protocol":"{protocol}","AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}'
    return Problem(DUPLICATE, path, struct, "")


def _source_range_problems(spec: Object, annotations: dict[str, str]) -> list[Problem]:
    is_balancer = spec.get("type") == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges")
    if ranges:
        path = "spec.LoadBalancerSourceRanges"
        found = [] if is_balancer else [forbidden(path, _BALANCER_ONLY)]
        for index, value in enumerate(ranges):
            network = value.strip()
            found += [invalid(f"{path}[{index}]", network, text) for text in names.is_cidr(network)]
        return found
    listed = annotations.get(_RANGES_ANNOTATION)
    if listed is None:
        return []
    path = f"metadata.annotations[{_RANGES_ANNOTATION}]"
    found = [] if is_balancer else [forbidden(path, _BALANCER_ONLY)]
    for value in listed.split(",") if listed.strip() else ():
        network = value.strip()
        found += [invalid(path, network, text) for text in names.is_cidr(network)]
    return found


def _balancer_class_problems(spec: Object) -> list[Problem]:
    name = spec.get("loadBalancerClass")
    if name is None:
        return []
    if spec.get("type") != "LoadBalancer":
        return [forbidden("spec.loadBalancerClass", _BALANCER_ONLY)]
    return [invalid("spec.loadBalancerClass", name, text) for text in names.is_qualified_name(name)]


def _traffic_problems(spec: Object) -> list[Problem]:
    found: list[Problem] = []
    outside = spec.get("externalTrafficPolicy")
    if not is_externally_accessible(spec):
        if outside:
            text = "may only be set for externally-accessible services"
            found.append(invalid("spec.externalTrafficPolicy", outside, text))
    elif outside not in _TRAFFIC_POLICIES:
        path = "spec.externalTrafficPolicy"
        found.append(not_supported(path, outside, _TRAFFIC_POLICIES) if outside else required(path))
    probe_port = spec.get("healthCheckNodePort")
    if probe_port:
        if needs_health_check_port(spec):
            found += [
                invalid("spec.healthCheckNodePort", probe_port, text)
                for text in names.is_port_number(probe_port)
            ]
        else:
            text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            found.append(invalid("spec.healthCheckNodePort", probe_port, text))
    inside = spec.get("internalTrafficPolicy")
    if inside is not None and inside not in _TRAFFIC_POLICIES:
        found.append(not_supported("spec.internalTrafficPolicy", inside, _TRAFFIC_POLICIES))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _TRAFFIC_DISTRIBUTIONS:
        found.append(not_supported("spec.trafficDistribution", distribution, _TRAFFIC_DISTRIBUTIONS))
    return found
