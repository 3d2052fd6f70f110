"""The proxy subresources of services, pods and nodes, and the groups that an APIService puts behind a service.

Source: k8s.io/apimachinery pkg/util/proxy upgradeaware.go, transport.go; k8s.io/kube-aggregator pkg/apiserver
handler_proxy.go; tests/golden/l2/facts/errors.jsonl.gz (ids get-proxy-, apiservice-).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from env_core.apiserver.proxying import Forward, Passed, place_of, unavailable
from env_core.apiserver.server import ApiServer
from env_core.objects import conditions
from env_core.rest.message import HttpRequest, HttpResponse
from env_core.rest.paths import Target
from env_core.rest.rendering import NO_CACHE, text_response
from env_core.world import Object

API_SERVICES = "apiservices.apiregistration.k8s.io"
_PROXIED = ("services", "pods", "nodes")
_UNREACHED = "error trying to reach service: "
_DROPPED = frozenset({"content-length", "connection", "transfer-encoding", "keep-alive"})


def is_proxied(target: Target) -> bool:
    """Whether a path is passed on."""
    return target.subresource == "proxy" and not target.group and target.plural in _PROXIED


def proxied(server: ApiServer, http: HttpRequest, path: str, target: Target) -> HttpResponse:
    """Pass a request on, which is allowed already, and return the answer.

    Raises:
        StatusError: when there is nothing to pass it on to, or nothing answers.
    """
    place = place_of(server, target.plural, target.namespace, target.name)
    query = http.target.partition("?")[2]
    segments = path.strip("/").split("/")
    before = 2 + (2 if target.namespace else 0) + 3
    rest = "/".join(segments[before:])
    if path.endswith("/"):
        rest += "/" if rest else ""
        tail = f"/{rest}"
    elif not rest and http.method in ("GET", "HEAD"):
        where = f"{path}/?{query}" if query else f"{path}/"
        return HttpResponse(code=301, headers=(NO_CACHE, ("Location", where)))
    else:
        tail = f"/{rest}"
    answer = _forward(server, place, http, f"{tail}?{query}" if query else tail)
    if answer.error:
        raise unavailable(_UNREACHED + answer.error)
    return _response(answer)


def api_service(server: ApiServer, group: str, version: str) -> Object | None:
    """Return the APIService that puts a group's version behind a service, None without one."""
    found = server.store.get(API_SERVICES, "", f"{version}.{group}")
    return found if found is not None and (found["spec"].get("service") is not None) else None


def is_available(service: Object) -> bool:
    """Whether an APIService's backend answers, as its controller last saw it."""
    status = conditions.find((service.get("status") or {}).get("conditions"), "Available")
    return status is not None and status.get("status") == "True"


def aggregated(server: ApiServer, http: HttpRequest, service: Object) -> HttpResponse:
    """Pass a request on to the backend of an APIService."""
    if not is_available(service):
        return text_response(503, "service unavailable\n")
    spec = service["spec"]["service"]
    asked = f"https:{spec['name']}:{spec.get('port') or 443}"
    place = place_of(server, "services", spec["namespace"], asked)
    answer = _forward(server, place, http, http.target)
    if answer.error:
        return text_response(503, f"{_UNREACHED}{answer.error}\n")
    return _response(answer)


def groups_behind(server: ApiServer, served: Mapping[str, object]) -> tuple[tuple[str, str, bool], ...]:
    """Return (group, version, is available) of each group behind a service, as discovery lists them after the others."""
    found = [
        obj["spec"] | {"is_available": is_available(obj)}
        for obj in server.store.list(API_SERVICES)
        if obj["spec"].get("service") is not None and obj["spec"].get("group") not in served
    ]
    found.sort(
        key=lambda spec: (
            -(spec.get("groupPriorityMinimum") or 0),
            spec["group"],
            -(spec.get("versionPriority") or 0),
        )
    )
    return tuple((spec["group"], spec["version"], spec["is_available"]) for spec in found)


def _forward(server: ApiServer, place: Forward, http: HttpRequest, path: str) -> Passed:
    if server.forwarder is None:
        return Passed(error=f"dial tcp {place.address}:{place.port}: connect: no route to host")
    headers = {name.title(): value for name, value in http.headers}
    return server.forwarder.forward(
        replace(place, method=http.method, path=path, headers=headers, body=http.body)
    )


def _response(answer: Passed) -> HttpResponse:
    kept = tuple((name, value) for name, value in answer.headers if name.lower() not in _DROPPED)
    return HttpResponse(code=answer.status, headers=kept, body=answer.body)
