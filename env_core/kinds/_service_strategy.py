"""Defaults of services, and what the server does to one before it looks whether it is valid.

Source: kubernetes pkg/apis/core/v1/defaults.go, pkg/registry/core/service (storage and strategy);
tests/golden/l0/defaulting.jsonl.gz, tests/golden/l2/defaults.jsonl.gz, tests/golden/l2/flows svc-*.
"""

from __future__ import annotations

from env_core.world import Object

_ADDRESSED_TYPES = ("ClusterIP", "NodePort", "LoadBalancer")
_AFFINITY_SECONDS = 10800
_DUAL_STACK = ("PreferDualStack", "RequireDualStack")
_EMPTY_STATUS: Object = {"loadBalancer": {}}


def default(obj: Object) -> Object:
    """Fill in the defaults of a service."""
    spec = dict(obj.get("spec") or {})
    spec.setdefault("sessionAffinity", "None")
    if not spec["sessionAffinity"]:
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
    kind = spec.get("type") or "ClusterIP"
    spec["type"] = kind
    if spec.get("ports"):
        spec["ports"] = [_default_port(port) for port in spec["ports"]]
    if is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in _ADDRESSED_TYPES and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True
    return {**obj, "spec": spec, "status": _default_status(obj.get("status"))}


def _default_port(port: Object) -> Object:
    if port.get("protocol") and port.get("targetPort"):
        return port
    return {
        **port,
        "protocol": port.get("protocol") or "TCP",
        "targetPort": port.get("targetPort") or port.get("port", 0),
    }


def _default_status(status: Object | None) -> Object:
    if not status:
        return _EMPTY_STATUS
    balancer = status.get("loadBalancer")
    if balancer is None:
        return {**status, "loadBalancer": {}}
    ingress = balancer.get("ingress")
    if not ingress or all(not entry.get("ip") or entry.get("ipMode") for entry in ingress):
        return status
    modes = [
        {**entry, "ipMode": entry.get("ipMode") or "VIP"} if entry.get("ip") else entry for entry in ingress
    ]
    return {**status, "loadBalancer": {**balancer, "ingress": modes}}


def is_externally_accessible(spec: Object) -> bool:
    """Say whether traffic from outside the cluster can reach the service."""
    kind = spec.get("type")
    return kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def needs_cluster_ip(spec: Object) -> bool:
    """Say whether the service has a cluster IP ("None" is one, too)."""
    return bool(spec.get("type") != "ExternalName")


def needs_node_port(spec: Object) -> bool:
    """Say whether each port gets a port on every node."""
    kind = spec.get("type")
    return kind == "NodePort" or (
        kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    )


def needs_health_check_port(spec: Object) -> bool:
    """Say whether the load balancer gets a port of its own to probe nodes at."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_headless(spec: Object) -> bool:
    """Say whether the service has no address of its own."""
    return bool(spec.get("clusterIPs") == ["None"])


def prepare_create(obj: Object) -> Object:
    """Drop the status, pair `clusterIP` with `clusterIPs` and choose the address family (IPv4, single stack)."""
    spec = obj["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec = {**spec, "clusterIPs": [spec["clusterIP"]]}
    return {**obj, "spec": with_families(spec), "status": _EMPTY_STATUS}


def with_families(spec: Object) -> Object:
    """Return the spec with `ipFamilies` and `ipFamilyPolicy` of a cluster that has IPv4 only.

    A headless service without selector may list addresses of both families, so it gets both.
    """
    if not needs_cluster_ip(spec):
        return spec
    families = spec.get("ipFamilies")
    policy = spec.get("ipFamilyPolicy")
    if spec.get("clusterIP") == "None" and not spec.get("selector"):
        policy = policy or "RequireDualStack"
        families = families or ["IPv4"]
        if len(families) == 1 and policy != "SingleStack":
            families = [*families, "IPv6" if families[0] == "IPv4" else "IPv4"]
    if families == spec.get("ipFamilies") and families and policy:
        return spec
    return {**spec, "ipFamilies": families or ["IPv4"], "ipFamilyPolicy": policy or "SingleStack"}


def prepare_update(new: Object, old: Object) -> Object:
    """Keep what the server has allocated, then drop what the (changed) type has no use for."""
    return drop_type_dependent(keep_allocated(new, old), old)


def keep_allocated(new: Object, old: Object) -> Object:
    """Return `new` with allocated values that the client left out, as a manifest that is applied again does.

    `clusterIPs` follows `clusterIP` when only that one changed.
    """
    spec = dict(new["spec"])
    before = old["spec"]
    if needs_cluster_ip(before) and needs_cluster_ip(spec):
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
        if (
            not spec.get("clusterIPs")
            and before.get("clusterIPs")
            and spec.get("clusterIP") == before.get("clusterIP")
        ):
            spec["clusterIPs"] = before["clusterIPs"]
    if needs_node_port(before) and needs_node_port(spec):
        spec["ports"] = _ports_with_known_node_ports(spec.get("ports") or [], before.get("ports") or [])
    if (
        needs_health_check_port(before)
        and needs_health_check_port(spec)
        and not spec.get("healthCheckNodePort")
    ):
        if before.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = before["healthCheckNodePort"]
    _pair_cluster_ips(spec, before)
    if before.get("ipFamilyPolicy") in _DUAL_STACK and spec.get("ipFamilyPolicy") == "SingleStack":
        for key in ("clusterIPs", "ipFamilies"):
            if len(spec.get(key) or ()) > 1:
                spec[key] = spec[key][:1]
    return {**new, "spec": with_families(spec)}


def _pair_cluster_ips(spec: Object, before: Object) -> None:
    """Adjust the fresh copy `spec`: `clusterIPs` follows `clusterIP` unless the client changed it as well."""
    same_list = (spec.get("clusterIPs") or []) == (before.get("clusterIPs") or [])
    if (spec.get("clusterIP") or "") == (before.get("clusterIP") or "") or not same_list:
        return
    if spec.get("clusterIP"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    else:
        spec.pop("clusterIPs", None)


def _ports_with_known_node_ports(ports: list[Object], before: list[Object]) -> list[Object]:
    kept = {port.get("nodePort") for port in ports}
    used = {port["nodePort"] for port in before if port.get("nodePort") and port["nodePort"] in kept}
    known = {port.get("name") or "": port.get("nodePort") for port in before}
    patched: list[Object] = []
    for port in ports:
        node_port = known.get(port.get("name") or "")
        if not port.get("nodePort") and node_port and node_port not in used:
            used.add(node_port)
            port = {**port, "nodePort": node_port}
        patched.append(port)
    return patched


def drop_type_dependent(new: Object, old: Object) -> Object:
    """Return `new` without fields that its type does not need and that the client did not change."""
    spec = dict(new["spec"])
    before = old["spec"]
    if needs_cluster_ip(before) and not needs_cluster_ip(spec):
        _drop_addresses(spec, before)
    if needs_node_port(before) and not needs_node_port(spec):
        _drop_node_ports(spec, before)
    if needs_health_check_port(before) and not needs_health_check_port(spec):
        _drop_unchanged(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        _drop_unchanged(spec, before, "allocateLoadBalancerNodePorts")
        _drop_unchanged(spec, before, "loadBalancerClass")
    if is_externally_accessible(before) and not is_externally_accessible(spec):
        _drop_unchanged(spec, before, "externalTrafficPolicy")
    status = old.get("status") or _EMPTY_STATUS
    if spec.get("type") != "LoadBalancer" and status.get("loadBalancer"):
        status = {**status, "loadBalancer": {}}
    return {**new, "spec": spec, "status": status}


def _drop_addresses(spec: Object, before: Object) -> None:
    same = (spec.get("clusterIPs") or []) == (before.get("clusterIPs") or [])
    if same and spec.get("clusterIP") == before.get("clusterIP"):
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
    _drop_unchanged(spec, before, "ipFamilies")
    _drop_unchanged(spec, before, "ipFamilyPolicy")


def _drop_node_ports(spec: Object, before: Object) -> None:
    known = {port.get("nodePort") for port in before.get("ports") or ()}
    ports = spec.get("ports") or []
    if all(not port.get("nodePort") or port["nodePort"] in known for port in ports):
        spec["ports"] = [{key: value for key, value in port.items() if key != "nodePort"} for port in ports]


def _drop_unchanged(spec: Object, before: Object, key: str) -> None:
    if key in spec and spec[key] == before.get(key):
        del spec[key]
