"""nginx's configuration: its grammar, its error texts, and the servers and locations that it declares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from env_core.programs import _nginx_checks as checks
from env_core.programs import _nginx_mime
from env_core.programs._nginx_checks import ConfigProblem
from env_core.programs._nginx_directives import DIRECTIVES
from env_core.programs._nginx_model import Config, Location, Server, Settings, milliseconds

MAIN: Final = "/etc/nginx/nginx.conf"


DIRECTORY: Final = "/etc/nginx/conf.d/"


_CONTEXT_LETTERS: Final = {
    "events": "e",
    "http": "h",
    "upstream": "u",
    "server": "s",
    "location": "l",
    "if": "i",
}


_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))")


_INHERITED: Final = frozenset(
    {
        "root", "index", "default_type", "proxy_connect_timeout", "proxy_read_timeout", "proxy_send_timeout",
        "proxy_set_header", "proxy_http_version", "client_max_body_size", "server_tokens", "access_log", "add_header",
        "auth_basic", "auth_basic_user_file", "error_page", "proxy_next_upstream", "log_not_found", "limit_req", "limit_req_status", "proxy_buffer_size",
        "client_body_buffer_size", "client_body_temp_path", "proxy_ssl_verify", "proxy_ssl_trusted_certificate",
        "proxy_ssl_name", "client_header_timeout", "client_body_timeout", "large_client_header_buffers", "resolver",
        "resolver_timeout",
    }
)  # fmt: skip


_OPAQUE: Final = ("types", "map", "geo", "split_clients")


DEFAULT_MAIN: Final = """
user  nginx;
worker_processes  auto;

error_log  /var/log/nginx/error.log notice;
pid        /run/nginx.pid;


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
    #tcp_nopush     on;

    keepalive_timeout  65;

    #gzip  on;

    include /etc/nginx/conf.d/*.conf;
}
"""
"""The nginx.conf of the official image."""


@dataclass(slots=True)
class _Block:
    """A block being read."""

    name: str
    arguments: tuple[str, ...]
    letter: str
    settings: dict[str, tuple[tuple[str, ...], ...]]
    own: set[str] = field(default_factory=set)
    locations: list[Location] = field(default_factory=list)
    servers: list[tuple[str, int]] = field(default_factory=list)
    peers: list[tuple[int, int]] = field(default_factory=list)


def _peer(arguments: tuple[str, ...]) -> tuple[int, int]:
    """Return how many failures disable an upstream's server, and for how long in milliseconds."""
    options = dict(each.split("=", 1) for each in arguments[1:] if "=" in each)
    return int(options.get("max_fails", "1")), milliseconds(options.get("fail_timeout", "10s"))


class _Reader:
    """Reads files as ngx_conf_parse does: one statement at a time, acting on each before the next."""

    def __init__(self, files: Mapping[str, str], version: tuple[int, int]) -> None:
        self.files = files
        self.version = version
        self.servers: list[Server] = []
        self.upstreams: dict[str, tuple[tuple[str, int], ...]] = {}
        self.formats = {"combined"}
        self.zones: set[str] = set()
        self.wanted_zones: list[str] = []
        self.variables: set[str] = set()
        self.wanted_variables: list[str] = []
        self.http: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.hosts: list[tuple[str, str, str]] = []
        self.peers: dict[str, tuple[tuple[int, int], ...]] = {}
        self.format_texts: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.maps: dict[str, str] = {}
        self.order: list[str] = []

    def file(self, path: str, block: _Block) -> None:
        self.order.append(path)
        self._statements(path, self.files[path], block)

    def _statements(self, path: str, text: str, outer: _Block) -> None:
        position, line = 0, 1
        blocks = [outer]
        words: list[str] = []
        size = len(text)
        while True:
            while position < size and text[position] in " \t\r\n":
                line += text[position] == "\n"
                position += 1
            if position >= size:
                break
            character = text[position]
            if character == "#":
                end = text.find("\n", position)
                position = size if end == -1 else end
                continue
            if character in ";{}":
                position += 1
                where = f"{path}:{line}"
                if character == "}":
                    if words or len(blocks) == 1:
                        raise ConfigProblem(f'unexpected "}}" in {where}')
                    self._close(blocks.pop(), blocks[-1], where)
                elif not words:
                    raise ConfigProblem(f'unexpected "{character}" in {where}')
                else:
                    opened = self._statement(tuple(words), blocks[-1], where, is_block=character == "{")
                    words = []
                    if opened is not None:
                        blocks.append(opened)
                        if opened.name in _OPAQUE:
                            position, line = checks.skip_block(text, position, line, path)
                            blocks.pop()
                continue
            word, position, line = checks.word_at(text, position, line, path)
            words.append(word)
        if words:
            raise ConfigProblem(f'unexpected end of file, expecting ";" or "}}" in {path}:{line}')
        if len(blocks) > 1:
            raise ConfigProblem(f'unexpected end of file, expecting "}}" in {path}:{line}')

    def _statement(
        self, words: tuple[str, ...], block: _Block, where: str, *, is_block: bool
    ) -> _Block | None:
        name, arguments = words[0], words[1:]
        if name == "server" and block.letter == "h":
            return self._open(name, arguments, block, where, is_block=is_block)
        directive = DIRECTIVES.get(name)
        if directive is None or directive.since > self.version:
            if name == "server" and block.letter != "u":
                raise ConfigProblem(f'"server" directive is not allowed here in {where}')
            raise ConfigProblem(f'unknown directive "{name}" in {where}')
        if block.letter not in directive.contexts:
            raise ConfigProblem(f'"{name}" directive is not allowed here in {where}')
        if is_block and directive.kind != "block":
            raise ConfigProblem(f'directive "{name}" is not terminated by ";" in {where}')
        if not is_block and directive.kind == "block":
            raise ConfigProblem(f'directive "{name}" has no opening "{{" in {where}')
        if not directive.least <= len(arguments) <= directive.most:
            raise ConfigProblem(f'invalid number of arguments in "{name}" directive in {where}')
        if is_block:
            return self._open(name, arguments, block, where, is_block=True)
        if directive.is_single and name in block.own:
            raise ConfigProblem(f'"{name}" directive is duplicate in {where}')
        checks.check_value(name, directive.kind, arguments, where)
        self._act(name, arguments, block, where)
        return None

    def _open(
        self, name: str, arguments: tuple[str, ...], block: _Block, where: str, *, is_block: bool
    ) -> _Block:
        if not is_block:
            raise ConfigProblem(f'directive "{name}" has no opening "{{" in {where}')
        if name == "server" and arguments:
            raise ConfigProblem(f'invalid number of arguments in "server" directive in {where}')
        if name == "location":
            checks.check_location(arguments, where)
        if name in ("map", "geo", "split_clients"):
            self.variables.add(arguments[-1].lstrip("$"))
            if name == "map" and len(arguments) == 2:
                self.maps[arguments[1].lstrip("$")] = arguments[0].lstrip("$")
        inherited = {key: value for key, value in block.settings.items() if key in _INHERITED}
        return _Block(name, arguments, _CONTEXT_LETTERS.get(name, block.letter), inherited)

    def _act(self, name: str, arguments: tuple[str, ...], block: _Block, where: str) -> None:
        if name == "include":
            self._include(arguments[0], block, where)
            return
        self._wish_variables(name, arguments, block)
        checks.check_number(name, arguments, where)
        if name == "listen":
            block.servers.append(checks.listen_address(arguments[0], where))
        elif name == "server":
            checks.check_upstream_server(arguments, where)
            block.servers.append(checks.address_of(arguments[0], 80))
            block.peers.append(_peer(arguments))
            self._wish_host(arguments[0], arguments[0], where)
        elif name == "proxy_pass":
            checks.check_proxy_pass(arguments[0], where)
            authority = arguments[0].partition("://")[2].partition("/")[0]
            if "$" not in authority and authority not in self.upstreams:
                host = authority.rpartition(":")[0] if authority.rpartition(":")[2].isdigit() else authority
                self._wish_host(authority, host, where)
        elif name == "rewrite":
            checks.compiled(arguments[0], where)
        elif name == "server_name":
            for each in arguments:
                if each.startswith("~"):
                    checks.compiled(each[1:], where, ignores_case=True)
        elif name == "log_format":
            self.formats.add(arguments[0])
            self.format_texts[arguments[0]] = "".join(
                each for each in arguments[1:] if not each.startswith("escape=")
            )
        elif (
            name == "access_log"
            and len(arguments) > 1
            and arguments[1] not in self.formats
            and "=" not in arguments[1]
        ):
            raise ConfigProblem(f'unknown log format "{arguments[1]}" in {where}')
        elif name in ("limit_req_zone", "limit_conn_zone"):
            self.zones.update(each[5:].partition(":")[0] for each in arguments if each.startswith("zone="))
        elif name == "limit_req":
            self.wanted_zones += [each[5:] for each in arguments if each.startswith("zone=")]
        elif name == "limit_conn":
            self.wanted_zones.append(arguments[0])
        elif name in ("set", "auth_request_set"):
            self.variables.add(arguments[0].lstrip("$"))
        if block.letter == "m":
            self.places[name] = where
        before = block.settings.get(name, ()) if name in block.own else ()
        block.own.add(name)
        block.settings[name] = (*before, arguments)

    def _wish_host(self, authority: str, shown: str, where: str) -> None:
        host = checks.address_of(authority, 80)[0]
        if (
            not authority.startswith("unix:")
            and not host.replace(".", "").isdigit()
            and not host.startswith("[")
        ):
            self.hosts.append((host, shown, where))

    def _wish_variables(self, name: str, arguments: tuple[str, ...], block: _Block) -> None:
        if block.letter not in "hsli" or name == "log_format":
            return
        values = arguments[1:] if name in ("set", "rewrite") else arguments
        for value in values:
            if "$" in value:
                self.wanted_variables += [found[1] or found[2] for found in _VARIABLE.finditer(value)]

    def _include(self, pattern: str, block: _Block, where: str) -> None:
        path = pattern if pattern.startswith("/") else f"/etc/nginx/{pattern}"
        if "*" in path:
            prefix, _, suffix = path.partition("*")
            names = [
                each for each in sorted(self.files)
                if each.startswith(prefix) and each.endswith(suffix) and "/" not in each[len(prefix) :]
            ]  # fmt: skip
            for name in names:
                self.file(name, block)
            return
        if path not in self.files:
            if path in (_nginx_mime.PATH, "/etc/nginx/fastcgi_params", "/etc/nginx/uwsgi_params"):
                return
            raise ConfigProblem(f'open() "{path}" failed (2: No such file or directory) in {where}')
        self.file(path, block)

    def _close(self, block: _Block, outer: _Block, where: str) -> None:
        if block.name == "location":
            modifier, path = checks.location_words(block.arguments)
            pattern = checks.pattern_of(modifier, path, where)
            outer.locations.append(
                Location(
                    modifier=modifier,
                    path=path,
                    settings=block.settings,
                    inner=tuple(block.locations),
                    pattern=pattern,
                )
            )
        elif block.name == "server":
            names = tuple(name for each in block.settings.get("server_name", ()) for name in each)
            listens = tuple(block.servers) or (("", 80),)
            is_default = any("default_server" in each[1:] for each in block.settings.get("listen", ()))
            self.servers.append(
                Server(
                    listens=listens, names=names or ("",), settings=block.settings,
                    locations=tuple(block.locations), is_default=is_default,
                )
            )  # fmt: skip
        elif block.name == "upstream":
            if not block.servers:
                raise ConfigProblem(f"no servers are inside upstream in {where}")
            self.upstreams[block.arguments[0]] = tuple(block.servers)
            self.peers[block.arguments[0]] = tuple(block.peers)
        elif block.name == "http":
            self.http = block.settings

    def finish(self, main: Settings) -> Config:
        """Check what nginx checks after reading, and return the result."""
        for name in self.wanted_variables:
            if not checks.is_known_variable(name) and name not in self.variables and not name.isdigit():
                raise ConfigProblem(f'unknown "{name}" variable')
        for zone in self.wanted_zones:
            if zone not in self.zones:
                raise ConfigProblem(f'zero size shared memory zone "{zone}"')
        seen: set[tuple[int, str]] = set()
        warnings: list[str] = []
        for server in self.servers:
            for _, port in server.listens:
                for name in server.names:
                    if name and (port, name) in seen:
                        warnings.append(f'conflicting server name "{name}" on 0.0.0.0:{port}, ignored')
                    seen.add((port, name))
        return Config(
            servers=tuple(self.servers),
            upstreams=self.upstreams,
            warnings=tuple(warnings),
            settings=self.http,
            main=main,
            hosts=tuple(each for each in self.hosts if each[0] not in self.upstreams),
            peers=self.peers,
            formats=self.format_texts,
            maps=self.maps,
            places=self.places,
            order=tuple(dict.fromkeys(self.order)),
        )


def read(files: Mapping[str, str], version: tuple[int, int], main: str = MAIN) -> Config:
    """Return the configuration in `files` (by absolute path).

    Raises:
        ConfigProblem: if nginx refuses it.

    Source: nginx src/core/ngx_conf_file.c; tests/golden/programs/nginx (config_error).
    """
    if main not in files:
        raise ConfigProblem(f'open() "{main}" failed (2: No such file or directory)')
    reader = _Reader(files, version)
    outermost = _Block("main", (), "m", {})
    reader.file(main, outermost)
    return reader.finish(outermost.settings)
