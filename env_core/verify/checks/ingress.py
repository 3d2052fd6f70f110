"""Checks about what an Ingress lets through, and what it does not."""

from __future__ import annotations

from env_core.verify.checks._model import Check
from env_core.verify.view import View

_NOT_FOUND = 404
_TIMEOUT_MS = 3_000


def closed_to_other_hosts(hosts: tuple[str, ...], paths: tuple[str, ...]) -> Check:
    """Requests for hosts that no rule names are not found, whatever their path."""

    def fails(view: View) -> str:
        for host in hosts:
            for path in paths:
                reply = view.request_from_outside(host, path, _TIMEOUT_MS)
                if reply.failure or reply.status != _NOT_FOUND:
                    return f"{path} of host {host or '(none)'} answers {reply.failure or reply.status}"
        return ""

    return Check("other hosts are not found", fails)


def unknown_paths_as_before(host: str, paths: tuple[str, ...], contains: str) -> Check:
    """Paths that nobody watches are either not routed at all, or answered by the application as it always did."""

    def fails(view: View) -> str:
        for path in paths:
            reply = view.request_from_outside(host, path, _TIMEOUT_MS)
            is_application = reply.status == 200 and contains in reply.body
            if reply.failure or not (is_application or reply.status == _NOT_FOUND):
                return f"{path} answers {reply.failure or reply.status}"
        return ""

    return Check("unknown paths answer as before", fails)


def hosts_routed(namespace: str, ingress: str, hosts: tuple[str, ...], service: str) -> Check:
    """The Ingress has rules for exactly these hosts, and every path of theirs leads to the Service."""

    def fails(view: View) -> str:
        found = view.get("ingresses.networking.k8s.io", namespace, ingress)
        if found is None:
            return f"ingress {ingress} is gone"
        spec = found["spec"]
        rules = spec.get("rules") or ()
        if sorted(rule.get("host", "") for rule in rules) != sorted(hosts) or spec.get("defaultBackend"):
            return f"ingress {ingress} has other hosts than {', '.join(hosts)}"
        for rule in rules:
            for path in (rule.get("http") or {}).get("paths") or ():
                if (path["backend"].get("service") or {}).get("name") != service:
                    return f"ingress {ingress} leads past service {service}"
        return ""

    return Check(f"ingress {ingress} leads to {service}", fails)
