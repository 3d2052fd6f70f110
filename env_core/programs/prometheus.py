"""prom/prometheus: the HTTP API of a monitoring system over the cluster's own series."""

from __future__ import annotations

from typing import Final

from env_core.programs._commands import final_argv, launch
from env_core.programs._images import image_or_first
from env_core.programs._model import Container, Image, Launch, Line, Program, Request, Served, Upstream
from env_core.programs._web import go_reply, http, option, port_of
from env_core.sim.timefmt import rfc3339

_VERSION: Final = "3.16.0"
IMAGES: Final = tuple(
    Image(
        repository=repository, tags=("latest", "v3", "v3.16", f"v{_VERSION}", "v3.15.0", "v2.55.1"), size_bytes=128_000_000,
        entrypoint=("/bin/prometheus",), command=("--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"),
        binaries=("prometheus", "promtool"), base="alpine", user=65534,
        files={"/bin/prometheus": "", "/bin/promtool": "", "/etc/prometheus/prometheus.yml": "global:\n  scrape_interval: 15s\n"},
    )
    for repository in ("prom/prometheus", "quay.io/prometheus/prometheus")
)  # fmt: skip


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    if argv[0].rpartition("/")[2] != "prometheus":
        return None
    port = port_of(option(argv, "web.listen-address", "0.0.0.0:9090"), 9090)
    at = rfc3339(container.started_ms + 120)
    lines = (
        Line(40, f'time={at} level=INFO source=main.go msg="Starting Prometheus Server" version={_VERSION}', "stderr"),
        Line(120, f'time={at} level=INFO source=web.go msg="Start listening for connections" address=0.0.0.0:{port}', "stderr"),
        Line(420, f'time={at} level=INFO source=main.go msg="Server is ready to receive web requests."', "stderr"),
    )  # fmt: skip
    return Launch(listeners=(http(port, 120),), log=lines, memory_bytes=96 << 20, cpu_millis=8, stop_ms=150)


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    path, _, query = request.path.partition("?")
    prefix = option(final_argv(container), "web.route-prefix", "").rstrip("/")
    path = path.removeprefix(prefix)
    if path in ("/-/healthy", "/-/ready"):
        state = "Healthy" if path == "/-/healthy" else "Ready"
        return Served(reply=go_reply(upstream, f"Prometheus Server is {state}.\n"))
    if path == "/":
        return Served(reply=go_reply(upstream, "", 302, "text/html; charset=utf-8", ("Location", "/query")))
    form = "&".join(part for part in (request.body if request.method == "POST" else "", query) if part)
    status, body, content_type = upstream.telemetry(path, form)
    return Served(reply=go_reply(upstream, body, status, content_type), cpu_ms=2)


PROGRAM = Program(
    name="prometheus",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    source="https://prometheus.io/docs/prometheus/latest/querying/api/, …/management_api/",
)
