"""programs/nginx: the server's logs, answers and refusals, by its configuration."""

from dataclasses import replace
from functools import partial
from typing import Final

from env_core.programs import Container, Launch, Program, Request, Upstream, _nginx_signals, _nginx_start, nginx
from env_core.programs import Served as Answered
from env_core.programs._machine import Machine
from tests.golden.comparison import Topic
from tests.golden.program_keys import certificate
from tests.golden.program_keys import key_of
from tests.golden.recordings import Record
from tests.golden.server_records import Family, Served, judge_of

_MAIN: Final = """user  nginx;
worker_processes  1;

error_log  /var/log/nginx/error.log notice;
pid        /var/run/nginx.pid;

events {
    worker_connections  1024;
}

http {
    include       /etc/nginx/mime.types;
    default_type  application/octet-stream;

    log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent "$http_referer" '
                      '"$http_user_agent" "$http_x_forwarded_for"';

    access_log  /var/log/nginx/access.log  main;

    sendfile        on;
    keepalive_timeout  65;

    include /etc/nginx/conf.d/*.conf;
}
"""
_SECRET: Final = "/usr/share/nginx/html/secret.txt"
"""A file that only root may read; the workers run as nginx."""
# Made as the recorder's image had them: the records with their own nginx.conf differ from this one in a line each.
FILES: Final = {
    "/etc/nginx/nginx.conf": _MAIN,
    "/usr/share/nginx/html/index.html": (
        "<!DOCTYPE html>\n<html>\n<head><title>Shop</title></head>\n<body><h1>Shop</h1></body>\n</html>\n"
    ),
    "/usr/share/nginx/html/ok.txt": "ok\n",
    _SECRET: "secret\n",
    "/usr/share/nginx/html/assets/app.css": "",
    "/etc/nginx/htpasswd": "admin:$apr1$x\n",
    "/etc/tls/good.crt": certificate("good"),
    "/etc/tls/ca.crt": certificate("ca"),
    "/etc/tls/good.key": key_of(certificate("good")),
    "/etc/tls/self.key": key_of(certificate("self")),
}
def _act(served: Served, action: str) -> bool:
    if action != "kill -9 <worker pid>":
        return False
    site = nginx.site_of(served.run.container)
    assert not isinstance(site, str)
    now_ms = served.world.loop.now_ms
    served.say(_nginx_signals.worker_killed(_nginx_start.DEBIAN.worker, now_ms, nginx.level_of(site)))
    return True


def _program(record: Record) -> Program:
    """Return Debian's build of nginx, in a container whose ports are as the record says."""
    kind = record["condition"]["kind"]
    taken = frozenset({80, 8080}) if kind == "address_in_use" else frozenset()
    ports = _nginx_start.Ports(taken, 1_024 if kind == "bind_permission_denied" else 0)

    def launch(container: Container) -> Launch:
        found = nginx.started(container, container.argv, _nginx_start.DEBIAN, ports)
        assert found is not None
        return found

    machine = Machine(forbidden=(_SECRET,), full=("/mnt",) if kind == "disk_full" else ())

    def serve(container: Container, request: Request, upstream: Upstream) -> Answered:
        site = nginx.site_of(container)
        assert not isinstance(site, str)
        build = _nginx_start.DEBIAN
        return nginx.served(
            replace(site, worker=build.worker, body_path=build.body_path, machine=machine), request, upstream
        )

    return replace(
        nginx.PROGRAM, launch=launch, serve=serve, starts=partial(nginx.starts, build=_nginx_start.DEBIAN)
    )


def _prepared(record: Record, container: Container) -> Container:
    return replace(container, is_root_read_only=record["condition"]["kind"] == "read_only_fs")


FAMILY: Final = Family(
    prepared=_prepared,
    program=nginx.PROGRAM,
    program_of=_program,
    image="nginx:1.22",
    formats={"ts": r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "excess": r"\d+\.\d{3}", "tmpn": r"\d{10}", "reqtime": r"\d+\.\d{3}"},
    files=FILES,
    by_chance=("signal 14 (SIGALRM) received", "signal 29 (SIGIO) received"),
    act=_act,
)

TOPIC = Topic(
    name="programs/nginx", files=("programs/nginx.jsonl", "nginx.jsonl"), answers=("log", "exit", "trigger"), judge=judge_of(FAMILY)
)
