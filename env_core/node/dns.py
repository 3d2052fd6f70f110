"""A pod's resolver: which name servers and search paths it gets, and what the kubelet says when they are too many.

Source: k8s.io/kubernetes pkg/kubelet/network/dns/dns.go, 1.37; texts in tests/golden/kubelet (dns-*, gc-pressure).
"""

from __future__ import annotations

from typing import Final

from env_core.node import node_status
from env_core.node._host import Host
from env_core.node._records import NodeRecord, PodRecord
from env_core.world import Object

NAMESERVERS_MAX: Final = 3
SEARCHES_MAX: Final = 32
SEARCH_CHARS_MAX: Final = 2048
CLUSTER_SEARCHES: Final = 3
CLUSTER_DOMAIN: Final = "cluster.local"
_MISSING: Final = (
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. '
    'Falling back to "Default" policy.'
)


def check(host: Host, record: PodRecord, pod: Object) -> None:
    """Record what is wrong with the resolver that a pod gets; asked for its sandbox and for each container."""
    node = host.node(record.node)
    if node is None or (not node.settings.nameservers and node.settings.has_cluster_dns):
        return
    spec = pod["spec"]
    settings = node.settings
    policy = spec.get("dnsPolicy", "ClusterFirst")
    nameservers, searches = list(settings.nameservers), list(settings.searches)
    is_cluster = policy == "ClusterFirstWithHostNet" or (
        policy == "ClusterFirst" and not spec.get("hostNetwork")
    )
    if policy == "None":
        nameservers, searches = [], []
    elif is_cluster and settings.has_cluster_dns:
        nameservers = ["cluster"]
        searches = [
            f"{record.namespace}.svc.{CLUSTER_DOMAIN}",
            f"svc.{CLUSTER_DOMAIN}",
            CLUSTER_DOMAIN,
            *searches,
        ]
    elif is_cluster:
        text = f'pod: "{record.name}_{record.namespace}({record.uid})". {_MISSING}'
        host.event(record, pod, "Warning", "MissingClusterDNS", text)
        node_status.event(host, node, "Warning", "MissingClusterDNS", _MISSING, has_uid=False)
    own = spec.get("dnsConfig") or {}
    nameservers += [each for each in own.get("nameservers") or () if each not in nameservers]
    searches += [each for each in own.get("searches") or () if each not in searches]
    _check_limits(host, record, pod, nameservers, searches)


def _check_limits(
    host: Host, record: PodRecord, pod: Object, nameservers: list[str], searches: list[str]
) -> None:
    if len(nameservers) > NAMESERVERS_MAX:
        line = " ".join(nameservers[:NAMESERVERS_MAX])
        text = (
            "Nameserver limits were exceeded, some nameservers have been omitted, "
            f"the applied nameserver line is: {line}"
        )
        host.event(record, pod, "Warning", "DNSConfigForming", text)
    kept = searches[:SEARCHES_MAX]
    while len(" ".join(kept)) > SEARCH_CHARS_MAX:
        kept.pop()
    if len(kept) < len(searches):
        text = (
            "Search Line limits were exceeded, some search paths have been omitted, "
            f"the applied search line is: {' '.join(kept)}"
        )
        host.event(record, pod, "Warning", "DNSConfigForming", text)


def check_host(host: Host, node: NodeRecord) -> None:
    """Record what is wrong with a host's own resolv.conf, as a kubelet that starts does."""
    longest = SEARCHES_MAX - CLUSTER_SEARCHES
    if len(node.settings.searches) > longest:
        text = f"Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than {longest} domains!"
        node_status.event(host, node, "Warning", "CheckLimitsForResolvConf", text, has_uid=False)
