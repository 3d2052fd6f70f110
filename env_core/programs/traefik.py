"""Traefik: the ingress controller; the data plane finds the route, this program answers for itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.programs._commands import final_argv, launch
from env_core.programs._http import PORT
from env_core.programs._images import image_or_first
from env_core.programs._model import (
    EMPTY,
    Container,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Served,
    Upstream,
)
from env_core.programs._web import TEXT, go_reply, port_of
from env_core.sim.timefmt import rfc3339

NOT_FOUND: Final = "404 page not found\n"
_RELEASES: Final = (
    "3.6.2",
    "3.5.6",
    "3.4.5",
    "3.3.7",
    "3.3.6",
    "3.3.5",
    "3.3.4",
    "3.2.5",
    "3.1.7",
    "3.0.4",
    "2.11.30",
    "2.10.7",
)
_MINORS: Final = tuple(dict.fromkeys(release.rpartition(".")[0] for release in _RELEASES))

IMAGES: Final = (
    Image(
        repository="traefik",
        tags=(
            "latest", "v3", "v2", "3", "2",
            *(f"v{each}" for each in (*_RELEASES, *_MINORS)), *_RELEASES, *_MINORS,
        ),
        size_bytes=62_000_118, entrypoint=("/entrypoint.sh",), command=("traefik",), binaries=("traefik",), base="alpine",
        files={"/entrypoint.sh": "#!/bin/sh\nset -e\n"},
    ),
)  # fmt: skip


def entry_points(container: Container) -> dict[str, int]:
    """Return the entry points of a Traefik command line by name, with their ports."""
    return dict(_entry_points(container.argv))


@lru_cache(maxsize=128)
def _entry_points(argv: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for word in argv:
        name, _, value = word.lstrip("-").partition("=")
        parts = name.lower().split(".")
        if parts[0] == "entrypoints" and len(parts) == 3 and parts[2] == "address":
            found[parts[1]] = port_of(value, 80)
    return tuple((found or {"http": 80, "traefik": 8080}).items())


def routes_ingresses(container: Container, port: int) -> bool:
    """Whether a port is an entry point on which Ingress objects are served."""
    return port in _routing_ports(container.argv)


@lru_cache(maxsize=128)
def _routing_ports(argv: tuple[str, ...]) -> frozenset[int]:
    if not any(word.lower().lstrip("-").startswith("providers.kubernetesingress") for word in argv):
        return frozenset()
    return frozenset(number for name, number in _entry_points(argv) if name != "traefik")


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    name = argv[0].rpartition("/")[2]
    if name != "traefik" and not argv[0].startswith("--"):
        return None
    stamp = rfc3339(container.started_ms + 120)
    version = container.image.rpartition(":")[2].removeprefix("v")
    texts = (
        f"{stamp} INF Traefik version {version} built on 2025-04-18T09:20:54Z version={version}",
        f"{stamp} INF Stats collection is disabled.",
        f"{stamp} INF Starting provider aggregator *aggregator.ProviderAggregator",
        f"{stamp} INF Starting provider *traefik.Provider",
        f"{stamp} INF Starting provider *ingress.Provider",
        f"{stamp} INF ingress label selector is: \"\" providerName=kubernetes",
        f"{stamp} INF Creating in-cluster Provider client providerName=kubernetes",
    )  # fmt: skip
    ports = entry_points(container)
    return Launch(
        listeners=tuple(
            Listener(port=port, protocol="http", after_ms=250) for port in dict.fromkeys(ports.values())
        ),
        log=tuple(Line(120, text, "stderr") for text in texts),
        memory_bytes=38 << 20,
        cpu_millis=2,
        stop_ms=120,
        stop_code=0,
    )


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def not_found(upstream: Upstream) -> Reply:
    """Return what Traefik answers when no rule matches."""
    return go_reply(upstream, NOT_FOUND, 404, TEXT, ("X-Content-Type-Options", "nosniff"))


def failed(upstream: Upstream, status: int, text: str) -> Reply:
    """Return Traefik's own answer for a backend that did not give one."""
    return go_reply(upstream, text, status, TEXT)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    if request.protocol != "http":
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    ports = entry_points(container)
    port = int(request.headers.get(PORT, "0"))
    path = request.path.partition("?")[0]
    has_ping = any(word.lower().lstrip("-").startswith("ping") for word in final_argv(container, "traefik"))
    if path == "/ping" and has_ping and port == ports.get("traefik", 8080):
        return Served(reply=go_reply(upstream, "OK"), cpu_ms=0)
    return Served(reply=not_found(upstream))


def _is_steady(_container: Container, request: Request) -> bool:
    return request.path == "/ping"


PROGRAM = Program(
    name="traefik",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    is_steady=_is_steady,
    source="https://doc.traefik.io/traefik/v3.3/",
)
