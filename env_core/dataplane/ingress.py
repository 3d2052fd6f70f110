"""Ingress rules: which Service answers for a host and a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.apiserver.store import Store
from env_core.dataplane.services import port_of
from env_core.programs._http import VERSION
from env_core.world import Object

RESOURCE: Final = "ingresses.networking.k8s.io"
CLASSES: Final = "ingressclasses.networking.k8s.io"
CONTROLLER: Final = "traefik.io/ingress-controller"
_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"


@dataclass(frozen=True, slots=True)
class Route:
    """One path of one rule, with the Service port behind it."""

    host: str
    """"" for every host; "*.example.com" for a wildcard."""
    path: str
    kind: str
    """Exact, Prefix or ImplementationSpecific."""
    namespace: str
    service: str
    port_name: str
    is_default: bool = False

    def matches(self, path: str) -> bool:
        """Whether a request path is covered.

        Source: https://kubernetes.io/docs/concepts/services-networking/ingress/#path-types; an
        ImplementationSpecific path is a prefix of characters for Traefik.
        """
        if self.is_default:
            return True
        if self.kind == "Exact":
            return path == self.path
        if self.kind == "Prefix":
            prefix = self.path.rstrip("/")
            return not prefix or path == prefix or path.startswith(prefix + "/")
        return path.startswith(self.path)


class Routes:
    """The routes of one ingress controller; `refresh` comes before use."""

    __slots__ = ("_by_host", "_hosts", "_stamp", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamp = -1
        self._by_host: dict[str, tuple[Route, ...]] = {}
        self._hosts: frozenset[str] = frozenset()

    def refresh(self) -> None:
        """Read the rules again if Ingresses, classes or Services have changed."""
        store = self._store
        stamp = store.last_write(RESOURCE) + store.last_write(CLASSES) + store.last_write("services")
        if stamp == self._stamp:
            return
        self._stamp = stamp
        rows: dict[str, list[Route]] = {}
        for ingress in store.list(RESOURCE):
            if self._is_ours(ingress):
                for route in self._read(ingress):
                    rows.setdefault(route.host, []).append(route)
        self._by_host = {host: tuple(sorted(routes, key=_order)) for host, routes in rows.items()}
        self._hosts = frozenset(rows)

    def _is_ours(self, ingress: Object) -> bool:
        name = ingress["spec"].get("ingressClassName")
        if name is None:
            annotations = ingress["metadata"].get("annotations") or {}
            return bool(annotations.get(_CLASS_ANNOTATION, "traefik") == "traefik")
        found = self._store.get(CLASSES, "", name)
        return found is not None and bool(found["spec"].get("controller") == CONTROLLER)

    def _read(self, ingress: Object) -> list[Route]:
        namespace = ingress["metadata"]["namespace"]
        spec = ingress["spec"]
        routes: list[Route] = []
        for rule in spec.get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                route = self._route(
                    namespace,
                    path["backend"],
                    rule.get("host", ""),
                    path.get("path") or "/",
                    path.get("pathType", "Prefix"),
                )
                if route is not None:
                    routes.append(route)
        if spec.get("defaultBackend"):
            route = self._route(namespace, spec["defaultBackend"], "", "/", "Prefix", is_default=True)
            if route is not None:
                routes.append(route)
        return routes

    def _route(
        self, namespace: str, backend: Object, host: str, path: str, kind: str, *, is_default: bool = False
    ) -> Route | None:
        wanted = backend.get("service")
        if wanted is None:
            return None
        service = self._store.get("services", namespace, wanted["name"])
        if service is None:
            return None
        port = port_of(service, wanted.get("port") or {})
        if port is None:
            return None
        return Route(host.lower(), path, kind, namespace, wanted["name"], port.get("name", ""), is_default)

    def find(self, host: str, path: str) -> Route | None:
        """Return the route of a request: its host's longest path, then wildcard hosts, then rules without a host."""
        host = host.lower()
        for candidate in (host, f"*.{host.partition('.')[2]}", ""):
            for route in self._by_host.get(candidate, ()):
                if route.matches(path):
                    return route
        return None

    def has_host(self, host: str) -> bool:
        """Whether some rule names a host."""
        return host.lower() in self._hosts or f"*.{host.lower().partition('.')[2]}" in self._hosts


def _order(route: Route) -> tuple[bool, int, int]:
    return route.is_default, -len(route.path), {"Exact": 0, "Prefix": 1}.get(route.kind, 2)


_HOPS: Final = frozenset({"Connection", "connection", "Keep-Alive", "Transfer-Encoding"})


def without_hops(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return an answer's headers without those that concern one connection."""
    return tuple(pair for pair in headers if pair[0] not in _HOPS and pair[0] != VERSION)
