"""nginx: a web server and reverse proxy that reads its configuration as the real one does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from env_core.programs import (
    _nginx_config,
    _nginx_mime,
    _nginx_pages,
    _nginx_serving,
    _nginx_signals,
    _nginx_start,
)
from env_core.programs._commands import final_argv, launch
from env_core.programs._cpu import stretched_ms
from env_core.programs._http import PORT, slash_date
from env_core.programs._images import canonical, image_or_first, is_musl
from env_core.programs._memo import per_container
from env_core.programs._model import (
    EMPTY,
    Container,
    Exit,
    Image,
    Launch,
    Line,
    Listener,
    Program,
    Reply,
    Request,
    Served,
    Signalled,
    Upstream,
)
from env_core.programs._nginx_checks import ConfigProblem
from env_core.programs._nginx_exchange import Site
from env_core.programs._nginx_model import Config
from env_core.programs._nginx_start import Build, Ports

CPUS: Final = 4
"""Processors of a node: what `worker_processes auto` counts."""
_FILES_CHANGED_MS: Final = 1_744_819_200_000
_RELEASES: Final = {
    "1.29": "1.29.4", "1.28": "1.28.0", "1.27": "1.27.5", "1.26": "1.26.3", "1.25": "1.25.5", "1.24": "1.24.0",
    "1.23": "1.23.4", "1.22": "1.22.1", "1.21": "1.21.6", "1.20": "1.20.2", "latest": "1.29.4", "mainline": "1.29.4",
    "stable": "1.28.0", "alpine": "1.29.4", "1": "1.29.4", "perl": "1.29.4",
}  # fmt: skip
_DEFAULT_CONF: Final = """server {
    listen       80;
    server_name  localhost;

    #access_log  /var/log/nginx/host.access.log  main;

    location / {
        root   /usr/share/nginx/html;
        index  index.html index.htm;
    }

    #error_page  404              /404.html;

    # redirect server error pages to the static page /50x.html
    #
    error_page   500 502 503 504  /50x.html;
    location = /50x.html {
        root   /usr/share/nginx/html;
    }
}
"""
_ENTRYPOINT: Final = "/docker-entrypoint.sh"
_FILES: Final = {
    _nginx_config.MAIN: _nginx_config.DEFAULT_MAIN,
    _nginx_config.DIRECTORY + "default.conf": _DEFAULT_CONF,
    "/usr/share/nginx/html/index.html": _nginx_pages.INDEX,
    "/usr/share/nginx/html/50x.html": _nginx_pages.FIFTY,
    _nginx_mime.PATH: _nginx_mime.TEXT,
    _ENTRYPOINT: "#!/bin/sh\n# vim:sw=4:ts=4:et\n\nset -e\n",
}


def _tags(*bases: str, suffix: str = "") -> tuple[str, ...]:
    found: list[str] = []
    for base in bases:
        found.append(base + suffix)
        exact = _RELEASES.get(base)
        if exact is not None and exact != base and base[:1].isdigit():
            found.append(exact + suffix)
    return tuple(dict.fromkeys(found))


_NUMBERED: Final = ("1.29", "1.28", "1.27", "1.26", "1.25", "1.24", "1.23", "1.22", "1.21", "1.20", "1")
_DEBIAN: Final = Image(
    repository="nginx",
    tags=(
        *_tags("latest", "mainline", "stable", *_NUMBERED),
        *_tags("stable", "mainline", *_NUMBERED, suffix="-bookworm"),
        *_tags("stable", "mainline", *_NUMBERED, suffix="-perl"),
        "bookworm",
    ),
    size_bytes=72_188_133,
    entrypoint=(_ENTRYPOINT,),
    command=("nginx", "-g", "daemon off;"),
    env={"NGINX_VERSION": "1.27.5", "NJS_VERSION": "0.8.10", "PKG_RELEASE": "1~bookworm"},
    binaries=("nginx", "nginx-debug", "curl", "openssl", "envsubst", "njs"),
    base="debian",
    files=_FILES,
)
_ALPINE: Final = Image(
    repository="nginx",
    tags=(
        "alpine",
        *_tags("stable", "mainline", *_NUMBERED, suffix="-alpine"),
        *_tags("stable", "mainline", *_NUMBERED, suffix="-alpine-slim"),
        "alpine-slim",
    ),
    size_bytes=20_461_204,
    entrypoint=(_ENTRYPOINT,),
    command=("nginx", "-g", "daemon off;"),
    env={"NGINX_VERSION": "1.27.5", "NJS_VERSION": "0.8.10", "PKG_RELEASE": "1"},
    binaries=("nginx", "nginx-debug", "curl", "envsubst", "njs"),
    base="alpine",
    files=_FILES,
)
_UNPRIVILEGED: Final = Image(
    repository="nginxinc/nginx-unprivileged",
    tags=(
        *_tags("latest", "stable", "mainline", *_NUMBERED),
        *_tags("stable", "mainline", *_NUMBERED, suffix="-alpine"),
        "alpine",
    ),
    size_bytes=20_470_112,
    entrypoint=(_ENTRYPOINT,),
    command=("nginx", "-g", "daemon off;"),
    env={"NGINX_VERSION": "1.27.5"},
    binaries=("nginx", "curl", "envsubst"),
    base="alpine",
    files={
        **_FILES,
        _nginx_config.MAIN: _FILES[_nginx_config.MAIN]
        .replace("user  nginx;\n", "")
        .replace("/run/nginx.pid", "/tmp/nginx.pid"),
        _nginx_config.DIRECTORY + "default.conf": _DEFAULT_CONF.replace(
            "listen       80;", "listen       8080;"
        ),
    },
    user=101,
)
IMAGES: Final = (_ALPINE, _DEBIAN, _UNPRIVILEGED)


@lru_cache(maxsize=256)
def version_of(reference: str) -> str:
    """Return the nginx version in an image, from its tag."""
    tag = canonical(reference)[1].partition("-")[0]
    found = _RELEASES.get(tag)
    if found is not None:
        return found
    return tag if tag.count(".") == 2 else "1.27.5"


@lru_cache(maxsize=256)
def _version_pair(version: str) -> tuple[int, int]:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


_Files = tuple[tuple[str, str], ...]
_TOKEN_DIRECTORY = "/var/run/secrets/kubernetes.io/"


@lru_cache(maxsize=256)
def _config(files: _Files, version: tuple[int, int], main: str) -> Config | str:
    try:
        return _nginx_config.read(dict(files), version, main)
    except ConfigProblem as problem:
        return problem.text


@lru_cache(maxsize=256)
def _site(reference: str, mounted: _Files, main: str) -> Site | str:
    image = image_or_first(IMAGES, reference)
    hidden = tuple(
        directory
        for directory in (_nginx_config.DIRECTORY, "/usr/share/nginx/html/")
        if any(path.startswith(directory) for path, _ in mounted)
    )
    files = {path: text for path, text in image.files.items() if not (hidden and path.startswith(hidden))}
    files.update(mounted)
    version = version_of(reference)
    config = _config(tuple(files.items()), _version_pair(version), main)
    if isinstance(config, str):
        return config
    return Site(config, files, version, is_musl(reference), _FILES_CHANGED_MS)


def _mounted(container: Container) -> _Files:
    # Every pod's token differs; leaving it out lets pods of one configuration share the parsed site.
    return tuple(item for item in container.files.items() if not item[0].startswith(_TOKEN_DIRECTORY))


@per_container
def site_of(container: Container) -> Site | str:
    """Return what a container's nginx serves, or why its configuration is refused."""
    return _site(container.image, _mounted(container), _nginx_start.options_of(final_argv(container)).main)


def _entrypoint_log(container: Container) -> list[Line]:
    """Return what the image's entrypoint script prints.

    Source: tests/golden/programs/public-knowledge (public.nginx.entrypoint*).
    """
    path = _nginx_config.DIRECTORY + "default.conf"
    script = "10-listen-on-ipv6-by-default.sh"
    if path in container.files:
        texts = [f"{script}: info: can not modify {path} (read-only file system?)"]
    elif any(each.startswith(_nginx_config.DIRECTORY) for each in container.files):
        texts = [f"{script}: info: {path} is not a file or does not exist"]
    else:
        texts = [
            f"{script}: info: Getting the checksum of {path}",
            f"{script}: info: Enabled listen on IPv6 in {path}",
        ]
    run = _ENTRYPOINT
    directory = "/docker-entrypoint.d"
    lines = [
        f"{run}: {directory}/ is not empty, will attempt to perform configuration",
        f"{run}: Looking for shell scripts in {directory}/",
        f"{run}: Launching {directory}/{script}",
        *texts,
        f"{run}: Sourcing {directory}/15-local-resolvers.envsh",
        f"{run}: Launching {directory}/20-envsubst-on-templates.sh",
        f"{run}: Launching {directory}/30-tune-worker-processes.sh",
        f"{run}: Configuration complete; ready for start up",
    ]
    return [Line(30, text) for text in lines]


def _server(container: Container, argv: tuple[str, ...]) -> Launch | None:
    return started(container, argv, _official(container.image))


_PORTS: Final = Ports()


def started(
    container: Container, argv: tuple[str, ...], build: Build, ports: Ports = _PORTS
) -> Launch | None:
    """Return what a build of nginx does when an argv starts it; None when the argv does not."""
    name = argv[0].rpartition("/")[2]
    if name not in ("nginx", "nginx-debug"):
        return None
    options = _nginx_start.options_of(argv)
    site = _site(container.image, _mounted(container), options.main)
    has_entrypoint = bool(container.argv) and container.argv[0] == _ENTRYPOINT
    start_ms = stretched_ms(25, container.cpu_limit_millis) + 35
    workers = range(0) if isinstance(site, str) else workers_of(site, build.worker)
    begun = _nginx_start.begin(
        options, site, version_of(container.image), build, slash_date(container.started_ms + start_ms), user=container.user,
        is_read_only=container.is_root_read_only, own_address=container.pod_ip, files=container.files, workers=workers,
        ports=ports,
    )  # fmt: skip
    log = _entrypoint_log(container) if has_entrypoint else []
    log += [Line(start_ms, text, "stderr") for text in begun.lines]
    log += [Line(start_ms, text) for text in begun.printed]
    if begun.code is not None or isinstance(site, str):
        after_ms = start_ms + (10 if begun.code else 5)
        return Launch(
            log=tuple(log), exit=Exit(after_ms=after_ms, code=begun.code or 0), memory_bytes=3 << 20
        )
    if "daemon off" not in options.globals and site.config.main.get("daemon") != (("off",),):
        return Launch(log=tuple(log), exit=Exit(after_ms=start_ms + 40, code=0), memory_bytes=3 << 20)
    return Launch(
        listeners=tuple(
            Listener(port=port, protocol="http", after_ms=start_ms + 5)
            for port in _nginx_serving.listens_on(site.config)
        ),
        log=tuple(log),
        memory_bytes=(3 << 20) + (400 << 10) * len(workers),
        cpu_millis=1,
        stop_ms=60,
        stop_code=0,
    )


def starts(container: Container, launch: Launch, upstream: Upstream, build: Build | None = None) -> Launch:
    """End a start when a name of the configuration's upstreams does not resolve."""
    site = site_of(container)
    if launch.exit is not None or isinstance(site, str) or not launch.listeners:
        return launch
    for host, shown, where in site.config.hosts:
        if not upstream.resolve(host).failure:
            continue
        start_ms = launch.listeners[0].after_ms - 5
        begun = _nginx_start.Started(slash_date(container.started_ms + start_ms))
        doubled = (build or _official(container.image)).has_own_log
        begun.fail(f'host not found in upstream "{shown}" in {where}', doubled=doubled)
        log = [line for line in launch.log if line.at_ms < start_ms]
        log += [Line(start_ms, text, "stderr") for text in begun.lines]
        return Launch(log=tuple(log), exit=Exit(after_ms=start_ms + 10, code=1), memory_bytes=3 << 20)
    return launch


def workers_of(site: Site, first: int = 29) -> range:
    """Return the process ids of the first worker processes."""
    words = site.config.main.get("worker_processes", (("1",),))[-1]
    return range(first, first + (int(words[0]) if words[0].isdigit() else CPUS))


def level_of(site: Site) -> str:
    """Return the level of the main error log."""
    words = site.config.main.get("error_log", (("", "error"),))[-1]
    return words[1] if len(words) > 1 else "error"


def _signalled(container: Container, name: str, at_ms: int, _memory: Mapping[str, str]) -> Signalled | None:
    site = site_of(container)
    if isinstance(site, str):
        return None
    return _nginx_signals.signalled(name, at_ms, level_of(site), workers_of(site))


@lru_cache(maxsize=64)
def _official(reference: str) -> Build:
    return Build("gcc 14.2.0 (Alpine 14.2.0) " if is_musl(reference) else "gcc 12.2.0 (Debian 12.2.0-14) ")


def _launch(container: Container) -> Launch:
    return launch(container, image_or_first(IMAGES, container.image), _server)


def _serve(container: Container, request: Request, upstream: Upstream) -> Served:
    return served(site_of(container), request, upstream)


def served(site: Site | str, request: Request, upstream: Upstream) -> Served:
    """Return the answer of what a container's nginx serves."""
    if isinstance(site, str):
        return Served(reply=Reply(failure=EMPTY))
    ports = _nginx_serving.listens_on(site.config)
    port = int(request.headers.get(PORT, "0")) or (ports[0] if ports else 80)
    return _nginx_serving.answer(site, port, request, upstream)


def _processes(container: Container) -> tuple[str, ...]:
    argv = final_argv(container)
    if argv and argv[0].rpartition("/")[2] == "nginx":
        master = f"nginx: master process {' '.join(argv)}"
        site = site_of(container)
        count = 0 if isinstance(site, str) else len(workers_of(site))
        return (master, *["nginx: worker process"] * count)
    return (" ".join(container.argv),)


def _is_steady(container: Container, request: Request) -> bool:
    """Whether the location of a path only returns a fixed text."""
    site = site_of(container)
    if isinstance(site, str) or not site.config.servers:
        return False
    path = request.path.partition("?")[0]
    server = site.config.servers[0]
    found = _nginx_serving.location_of(server, path)
    return found is not None and "return" in found.settings


PROGRAM = Program(
    name="nginx",
    images=IMAGES,
    runs=lambda _container: True,
    launch=_launch,
    serve=_serve,
    starts=starts,
    signalled=_signalled,
    processes=_processes,
    is_steady=_is_steady,
    source="https://github.com/docker-library/docs nginx; tests/golden/programs/nginx",
)
