"""The paths that are no resource: discovery, OpenAPI, version, health.

Source: tests/golden/l2/facts (root_paths, misc, version, errors).
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

from env_core.apiserver.about import SERVER_VERSION
from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import Identity
from env_core.apiserver.server import ApiServer
from env_core.rest import discovery, openapi, openapi_protobuf, proxying
from env_core.rest.health import CHECKS, ENDPOINTS, health
from env_core.rest.message import JSON, Headers, HttpRequest, HttpResponse
from env_core.rest.negotiation import PLAIN, clauses, wants_aggregated_discovery
from env_core.rest.queries import Query
from env_core.rest.refusals import method_not_allowed
from env_core.rest.rendering import NO_CACHE, json_bytes, raw_json_response, response, text_response
from env_core.world import Object

_CRDS = "customresourcedefinitions.apiextensions.k8s.io"
_PUBLIC = ("Cache-Control", "public")
_READS = ("GET", "HEAD")


def answer(
    server: ApiServer, request: HttpRequest, path: str, query: Query, identity: Identity
) -> HttpResponse:
    """Answer a request for what is no resource.

    Raises:
        StatusError: 403 for who may not, 405 for a method that the path does not have.
    """
    path = unquote(path)
    verb = request.method.lower()
    if not server.authorizer.allowed_path(identity, verb, path):
        raise server.authorizer.refusal_path(identity, verb, path)
    parts = path.strip("/").split("/")
    if parts[0] in ENDPOINTS:
        return health(parts, query) or not_found()
    found = _document(server, request, parts)
    if found is None:
        return _behind_service(server, request, parts) or not_found()
    if request.method not in _READS:
        raise method_not_allowed()
    return found


def _behind_service(server: ApiServer, request: HttpRequest, parts: list[str]) -> HttpResponse | None:
    """Return the answer of the service that has a group's version, None when no service has it."""
    if parts[0] != "apis" or len(parts) != 3:
        return None
    service = proxying.api_service(server, parts[1], parts[2])
    return None if service is None else proxying.aggregated(server, request, service)


def not_found() -> HttpResponse:
    """Return the answer for a path that nothing serves."""
    return text_response(404, "404 page not found\n")


def _document(server: ApiServer, request: HttpRequest, parts: list[str]) -> HttpResponse | None:
    registry = server.registry.snapshot()
    if parts == ["version"]:
        return raw_json_response(SERVER_VERSION)
    if parts == [""]:
        return raw_json_response({"paths": list(_root_paths(registry))})
    if parts in (["api"], ["apis"]):
        is_core = parts == ["api"]
        behind = () if is_core else proxying.groups_behind(server, discovery.groups(registry))
        if wants_aggregated_discovery(request.header("accept")):
            data, etag = discovery.aggregated(registry, is_core=is_core, behind=behind)
            headers = (_PUBLIC, ("Content-Type", discovery.AGGREGATED), ("Etag", etag), ("Vary", "Accept"))
            return _cached(request, data, etag, headers)
        document = discovery.core_versions() if is_core else discovery.group_list(registry, behind)
        return response(200, document, PLAIN)
    if parts[0] == "openapi":
        return _openapi(server, request, parts)
    found: Object | None = None
    if parts[0] == "api" and len(parts) == 2:
        found = discovery.resource_list(registry, "", parts[1])
    elif parts[0] == "apis" and len(parts) == 2:
        found = discovery.group_document(registry, parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        found = discovery.resource_list(registry, parts[1], parts[2])
    return None if found is None else response(200, found, PLAIN)


def _openapi(server: ApiServer, request: HttpRequest, parts: list[str]) -> HttpResponse | None:
    registry = server.registry.snapshot()
    if parts == ["openapi", "v3"]:
        return response(200, openapi.index(registry, _schemas(server)), PLAIN)
    if parts == ["openapi", "v2"]:
        return _version_2(request, openapi.version_2(registry, _schemas(server)))
    if parts[:2] != ["openapi", "v3"]:
        return None
    name = "/".join(parts[2:])
    data = openapi.named(registry, name, _schemas(server))
    if data is None:
        return HttpResponse(code=404, headers=(NO_CACHE,))
    etag = openapi.etag_of(data)
    wanted = Query(request.target.partition("?")[2]).text("hash")
    if wanted and wanted != etag:
        where = f"/openapi/v3/{name}?hash={etag}"
        return HttpResponse(code=301, headers=(NO_CACHE, ("Location", where)))
    # An address with its hash never changes what it answers.
    age = ("Cache-Control", "public, immutable") if wanted else NO_CACHE
    return _cached(request, data, f'"{etag}"', (age, ("Content-Type", JSON)))


def _version_2(request: HttpRequest, document: Object) -> HttpResponse:
    """Answer with the document as JSON or as protobuf, whichever the client names first."""
    whole = json_bytes(document)
    media_types = [clause.media for clause in clauses(request.header("accept") or "*/*")]
    known = (*openapi_protobuf.ACCEPTED, JSON, "application/*", "*/*")
    wanted = next((media for media in media_types if media in known), "")
    if not wanted:
        return HttpResponse(code=406, headers=(NO_CACHE, ("Vary", "Accept")))
    data, media = whole, JSON
    if wanted in openapi_protobuf.ACCEPTED:
        data, media = openapi_protobuf.encode(document), openapi_protobuf.TYPE
    # The two have one tag: what varies is told apart by what was asked for.
    headers = (NO_CACHE, ("Content-Type", media), ("Vary", "Accept"))
    return _cached(request, data, f'"{openapi.etag_of(whole)}"', headers)


def _cached(request: HttpRequest, data: bytes, etag: str, headers: Headers) -> HttpResponse:
    if etag in request.header("if-none-match"):
        return HttpResponse(code=304, headers=(("Etag", etag), *headers[:1]))
    tagged = headers if any(name == "Etag" for name, _ in headers) else (*headers, ("Etag", etag))
    return HttpResponse(code=200, headers=tagged, body=data)


def _schemas(server: ApiServer) -> openapi.Schemas:
    def schema_of(kind: Kind, version: str) -> Object | None:
        """Return the schema that a custom resource's definition gives for a version."""
        definition = server.store.get(_CRDS, "", f"{kind.plural}.{kind.group}")
        for each in (definition or {}).get("spec", {}).get("versions") or ():
            if each.get("name") == version:
                found: Object | None = (each.get("schema") or {}).get("openAPIV3Schema")
                return found
        return None

    return schema_of


_OTHERS = (
    "/.well-known/openid-configuration", "/flagz", "/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/",
    "/openid/v1/jwks", "/statusz", "/version",
)  # fmt: skip
"""What else "/" lists; source: tests/golden/l2/kubectl (web)."""


@lru_cache(maxsize=64)
def _root_paths(registry: Registry) -> tuple[str, ...]:
    """Return what "/" lists."""
    found = ["/api", "/api/v1", "/apis", "/apis/"]
    for group, versions in discovery.groups(registry).items():
        if group:
            found += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions)]
    found += [f"/{name}" for name in ENDPOINTS]
    found += [f"/{name}/{check}" for name in ENDPOINTS for check in CHECKS[name]]
    found += _OTHERS
    return tuple(sorted(found))
