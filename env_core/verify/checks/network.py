"""Checks about what network policies let through."""

from __future__ import annotations

from env_core.verify.checks._model import Check
from env_core.verify.view import View
from env_core.world import Object, Objects


def _stranger(namespace: str, labels: dict[str, str], address: str) -> Object:
    return {
        "metadata": {"namespace": namespace, "name": "stranger", "uid": "", "labels": labels},
        "spec": {},
        "status": {"podIP": address, "podIPs": [{"ip": address}]} if address else {},
    }


def reachable(namespace: str, source: str, target: str, port: int) -> Check:
    """Every ready pod of one Deployment may connect to every ready pod of another."""

    def fails(view: View) -> str:
        sources = view.ready_pods_of(namespace, source)
        targets = view.ready_pods_of(namespace, target)
        if not sources or not targets:
            return f"{source} or {target} has no ready pod"
        if all(view.can_connect(one, other, port) for one in sources for other in targets):
            return ""
        return f"{source} may not connect to {target}:{port}"

    return Check(f"{source} may reach {target}:{port}", fails)


def closed_to_strangers(namespace: str, target: str, port: int, source: str) -> Check:
    """Only pods of `source` may connect to those of `target`, and only to `port`, as far as policies can tell.

    Strangers are tried, with and without an address; and no policy that selects the target's pods lets in anybody
    but pods with the labels that `source` selects its own by.
    """

    def fails(view: View) -> str:
        targets = view.pods_of(namespace, target)
        if not targets:
            return f"{target} has no pod"
        for where in (namespace, "default", "kube-system"):
            for address in ("", "10.244.250.250", "203.0.113.7"):
                stranger = _stranger(where, {"app": "stranger"}, address)
                if any(view.can_connect(stranger, pod, port) for pod in targets):
                    return f"{target}:{port} is open to strangers in {where}"
        owner = view.get("deployments.apps", namespace, source)
        wanted = (owner["spec"]["selector"].get("matchLabels") or {}) if owner is not None else {}
        for policy in view.list("networkpolicies.networking.k8s.io", namespace):
            if _lets_in_others(view, policy, targets, wanted, port):
                return f"policy {policy['metadata']['name']} opens {target} to more than {source}"
        return ""

    return Check(f"{target}:{port} is closed to strangers", fails)


def _lets_in_others(view: View, policy: Object, targets: Objects, wanted: dict[str, str], port: int) -> bool:
    spec = policy["spec"]
    if "Ingress" not in (spec.get("policyTypes") or ("Ingress",)):
        return False
    if not any(
        view.label_selector_matches(spec.get("podSelector") or {}, pod["metadata"].get("labels") or {})
        for pod in targets
    ):
        return False
    return any(not _is_rule_for(rule, wanted, port) for rule in spec.get("ingress") or ())


def _is_rule_for(rule: Object, wanted: dict[str, str], port: int) -> bool:
    ports, peers = rule.get("ports") or (), rule.get("from") or ()
    are_ports_right = all(
        entry.get("protocol", "TCP") == "TCP"
        and (not isinstance(entry.get("port"), int) or entry["port"] == port)
        and entry.get("port") is not None
        and "endPort" not in entry
        for entry in ports
    )
    are_peers_right = all(
        "ipBlock" not in peer
        and "namespaceSelector" not in peer
        and wanted.items() <= ((peer.get("podSelector") or {}).get("matchLabels") or {}).items()
        for peer in peers
    )
    return bool(peers) and bool(wanted) and bool(ports) and are_ports_right and are_peers_right
