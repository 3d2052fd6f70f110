"""Ingress rules that lead no request, or not those that users make."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from kubedrill.policies._evidence import Evidence, Json
from kubedrill.policies._repair import Repair

_URL = re.compile(r"https?://[^\s,;)\"']+")
_ALIKE_MIN = 0.8


def rule_repairs(evidence: Evidence, text: str) -> Iterator[Repair]:
    """Yield the repairs of rules that do not lead where the addresses in a text ask to be led."""
    asked: dict[str, set[str]] = {}
    for url in _URL.findall(text):
        parts = urlsplit(url.rstrip("."))
        asked.setdefault(parts.hostname or "", set()).add(parts.path or "/")
    hosts = {rule.get("host", "") for spec in evidence.ingresses.values() for rule in spec.get("rules") or ()}
    for name, spec in sorted(evidence.ingresses.items()):
        for index, rule in enumerate(spec.get("rules") or ()):
            host, place = rule.get("host", ""), f"/spec/rules/{index}"
            paths = (rule.get("http") or {}).get("paths") or []
            meant = [] if host in asked else get_close_matches(host, asked.keys() - hosts, 1, _ALIKE_MIN)
            if meant:
                yield _patched(evidence, name, f"{place}/host", meant[0], f"leads requests to {host} only")
            wanted = asked.get(meant[0] if meant else host, set()) if asked else _probed(evidence, paths)
            for field, value in _changes(paths, wanted):
                yield _patched(
                    evidence, name, f"{place}/http/paths/{field}", value, "leads not all that is asked for"
                )
            for field, value in _backends(evidence, paths):
                yield _patched(evidence, name, f"{place}/http/paths/{field}", value, "leads to nobody")


def _patched(evidence: Evidence, name: str, path: str, value: Any, why: str) -> Repair:
    patch = json.dumps([{"op": "replace", "path": path, "value": value}], separators=(",", ":"))
    command = f"kubectl -n {evidence.namespace} patch ingress {name} --type=json -p '{patch}'"
    return Repair(command, f"ingress {name} {why}")


def _changes(paths: list[Json], wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what to put where so that the paths lead what is wanted: one that leads nothing is meant, else one that is too narrow."""
    idle = [index for index, path in enumerate(paths) if not any(_leads(path, each) for each in wanted)]
    for each in sorted(wanted):
        if any(_leads(path, each) for path in paths):
            continue
        if idle:
            index = idle.pop(0)
            depth = len(paths[index].get("path", "/").strip("/").split("/"))
            yield f"{index}/path", "/" if len(paths) == 1 else "/".join(each.split("/")[: depth + 1])
            continue
        narrow = [index for index, path in enumerate(paths) if _prefixes(path.get("path", "/"), each)]
        if narrow:
            index = max(narrow, key=lambda index: len(paths[index].get("path", "/")))
            yield f"{index}/pathType", "Prefix"


def _backends(evidence: Evidence, paths: list[Json]) -> Iterator[tuple[str, Any]]:
    for index, path in enumerate(paths):
        backend = (path.get("backend") or {}).get("service") or {}
        name = backend.get("name", "")
        if name and name not in evidence.services:
            for near in get_close_matches(name, evidence.services, 1):
                yield f"{index}/backend/service/name", near
            continue
        ports = evidence.services[name].get("ports") or [] if name else []
        known = {port.get("name") for port in ports} | {port.get("port") for port in ports}
        given = backend.get("port") or {}
        if len(ports) == 1 and not {given.get("name"), given.get("number")} & known - {None}:
            yield f"{index}/backend/service/port", {"number": ports[0]["port"]}


def _probed(evidence: Evidence, paths: list[Json]) -> set[str]:
    """Return the paths at which the workloads behind an ingress say that they answer: those of their probes."""
    found: set[str] = set()
    if len(paths) != 1:
        return found
    service = ((paths[0].get("backend") or {}).get("service") or {}).get("name", "")
    for workload in evidence.behind(service) if service in evidence.services else ():
        for container in evidence.containers(workload):
            for name in ("readinessProbe", "livenessProbe", "startupProbe"):
                asked = ((container.get(name) or {}).get("httpGet") or {}).get("path")
                if asked:
                    found.add(asked)
    return found if not any(_leads(paths[0], each) for each in found) else set()


def _leads(path: Json, asked: str) -> bool:
    if path.get("pathType") == "Exact":
        return bool(path.get("path", "/") == asked)
    return _prefixes(path.get("path", "/"), asked)


def _prefixes(prefix: str, path: str) -> bool:
    stem = prefix.rstrip("/")
    return path == stem or path.startswith(f"{stem}/")
