"""CoreDNS's configuration: the Corefile's grammar, its error texts, and what the plugins of a server are told."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_PLUGINS: Final = frozenset(
    [
        "acl",
        "any",
        "auto",
        "autopath",
        "azure",
        "bind",
        "bufsize",
        "cache",
        "cancel",
        "chaos",
        "clouddns",
        "debug",
        "dns64",
        "dnssec",
        "dnstap",
        "erratic",
        "errors",
        "etcd",
        "file",
        "forward",
        "geoip",
        "grpc",
        "header",
        "health",
        "hosts",
        "import",
        "k8s_external",
        "kubernetes",
        "loadbalance",
        "local",
        "log",
        "loop",
        "metadata",
        "minimal",
        "multisocket",
        "nsid",
        "pprof",
        "prometheus",
        "quic",
        "ready",
        "reload",
        "rewrite",
        "root",
        "route53",
        "secondary",
        "sign",
        "template",
        "timeouts",
        "tls",
        "trace",
        "transfer",
        "tsig",
        "view",
        "whoami",
    ]
)
_KUBERNETES_OPTIONS: Final = frozenset(
    [
        "endpoint",
        "tls",
        "kubeconfig",
        "namespaces",
        "labels",
        "namespace_labels",
        "pods",
        "endpoint_pod_names",
        "ttl",
        "noendpoints",
        "fallthrough",
        "ignore",
        "startup_timeout",
        "apiserver_qps",
        "apiserver_burst",
        "apiserver_max_inflight",
    ]
)
_FORWARD_OPTIONS: Final = frozenset(
    [
        "except",
        "force_tcp",
        "prefer_udp",
        "expire",
        "max_fails",
        "max_idle_conns",
        "tls",
        "tls_servername",
        "policy",
        "health_check",
        "max_concurrent",
        "next",
        "failfast_all_unhealthy_upstreams",
        "failover",
        "max_age",
    ]
)
_ADDRESS: Final = re.compile(
    r"(?:(?:dns|tls|grpc)://)?(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[0-9a-fA-F:]+\]?)(?::\d+)?\Z"
)


class CorefileProblem(Exception):
    """CoreDNS refuses its Corefile; `text` is its own message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Zone:
    """A server block: what it answers for, from where."""

    name: str
    port: int
    cluster_zones: tuple[str, ...] = ()
    """The zones of the kubernetes plugin, without the final dot; none when the plugin is missing."""
    pods: str = "disabled"
    forwards: tuple[str, ...] = ()
    """Where the rest goes; none means REFUSED."""
    has_log: bool = False
    has_health: bool = False
    has_ready: bool = False
    has_errors: bool = False
    has_loop: bool = False
    ttl_seconds: int = 5
    answers: tuple[tuple[str, str], ...] = ()
    """(name, address) of the hosts plugin."""
    rewrites: tuple[tuple[str, str], ...] = ()
    """(exact name, name) of `rewrite name`."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for number, line in enumerate(text.split("\n"), start=1):
        rest = line
        while rest:
            rest = rest.lstrip(" \t\r")
            if not rest or rest[0] == "#":
                break
            if rest[0] == '"':
                end = rest.find('"', 1)
                found.append(_Token(rest[1:end], number))
                rest = rest[end + 1 :] if end != -1 else ""
                continue
            word = rest.split(None, 1)[0]
            found.append(_Token(word, number))
            rest = rest[len(word) :]
    return found


@dataclass(slots=True)
class _Facts:
    """What the plugins of one server block have said so far."""

    plugins: set[str] = field(default_factory=set)
    cluster_zones: tuple[str, ...] = ()
    pods: str = "disabled"
    forwards: tuple[str, ...] = ()
    ttl_seconds: int = 5
    answers: tuple[tuple[str, str], ...] = ()
    rewrites: tuple[tuple[str, str], ...] = ()


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tokens = _tokens(text)
        self.at = 0
        self.warnings: list[str] = []

    def zones(self) -> list[Zone]:
        zones: list[Zone] = []
        while self.at < len(self.tokens):
            if self.tokens[self.at].text == "import":
                line = self.tokens[self.at].line
                self.at += 1
                words = self._rest_of_line(line)
                self.warnings.append(
                    f"[WARNING] No files matching import glob pattern: {words[0].text if words else ''}"
                )
                continue
            zones += self._server()
        seen: set[tuple[str, int]] = set()
        for zone in zones:
            if (zone.name, zone.port) in seen:
                raise CorefileProblem(f"cannot serve dns://{zone.name}:{zone.port} - it is already defined")
            seen.add((zone.name, zone.port))
        return zones

    def _rest_of_line(self, line: int) -> list[_Token]:
        found: list[_Token] = []
        while (
            self.at < len(self.tokens)
            and self.tokens[self.at].line == line
            and self.tokens[self.at].text not in ("{", "}")
        ):
            found.append(self.tokens[self.at])
            self.at += 1
        return found

    def _server(self) -> list[Zone]:
        keys: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at].text != "{":
            keys.append(self.tokens[self.at].text.rstrip(","))
            self.at += 1
        if self.at >= len(self.tokens):
            last = self.tokens[-1]
            raise CorefileProblem(
                f"{self.path}:{last.line} - Syntax error: Unexpected token '{last.text}', expecting '{{'"
            )
        self.at += 1
        plugins: list[tuple[_Token, list[_Token], list[list[_Token]]]] = []
        while True:
            if self.at >= len(self.tokens):
                last = self.tokens[-1]
                raise CorefileProblem(
                    f"{self.path}:{last.line} - Syntax error: Unexpected token '{last.text}', expecting '}}'"
                )
            token = self.tokens[self.at]
            self.at += 1
            if token.text == "}":
                break
            if token.text not in _PLUGINS:
                raise CorefileProblem(
                    f"{self.path}:{token.line} - Error during parsing: Unknown directive '{token.text}'"
                )
            words = self._rest_of_line(token.line)
            plugins.append((token, words, self._options()))
        found = [self._zone(key, plugins) for key in keys]
        if len({(zone.name, zone.port) for zone in found}) < len(found):
            raise CorefileProblem(
                f"cannot serve dns://{found[0].name}:{found[0].port} - it is already defined"
            )
        return found

    def _options(self) -> list[list[_Token]]:
        if self.at >= len(self.tokens) or self.tokens[self.at].text != "{":
            return []
        self.at += 1
        rows: list[list[_Token]] = []
        while True:
            if self.at >= len(self.tokens):
                last = self.tokens[-1]
                raise CorefileProblem(
                    f"{self.path}:{last.line} - Syntax error: Unexpected token '{last.text}', expecting '}}'"
                )
            token = self.tokens[self.at]
            if token.text == "}":
                self.at += 1
                return rows
            self.at += 1
            rows.append([token, *self._rest_of_line(token.line)])

    def _wrong(self, plugin: str, token: _Token) -> CorefileProblem:
        text = f"Wrong argument count or unexpected line ending after '{token.text}'"
        return CorefileProblem(f"plugin/{plugin}: {self.path}:{token.line} - Error during parsing: {text}")

    def _zone(self, key: str, plugins: list[tuple[_Token, list[_Token], list[list[_Token]]]]) -> Zone:
        bare = key.removeprefix("dns://")
        name, _, port = bare.rpartition(":")
        if not port.isdigit():
            name, port = bare, "53"
        facts = _Facts()
        for token, words, rows in plugins:
            self._plugin(token, words, rows, facts)
        return Zone(
            name=name or ".",
            port=int(port),
            cluster_zones=facts.cluster_zones,
            pods=facts.pods,
            forwards=facts.forwards,
            has_log="log" in facts.plugins,
            has_health="health" in facts.plugins,
            has_ready="ready" in facts.plugins,
            has_errors="errors" in facts.plugins,
            has_loop="loop" in facts.plugins,
            ttl_seconds=facts.ttl_seconds,
            answers=facts.answers,
            rewrites=facts.rewrites,
        )

    def _plugin(self, token: _Token, words: list[_Token], rows: list[list[_Token]], facts: _Facts) -> None:
        name = token.text
        facts.plugins.add(name)
        if name == "health":
            for row in rows:
                if row[0].text != "lameduck" or len(row) != 2:
                    raise self._wrong("health", row[0])
        elif name == "kubernetes":
            facts.cluster_zones = tuple(word.text.rstrip(".").lower() for word in words) or ("cluster.local",)
            for row in rows:
                if row[0].text not in _KUBERNETES_OPTIONS:
                    raise CorefileProblem(
                        f"plugin/kubernetes: {self.path}:{row[0].line} - Error during parsing: unknown property '{row[0].text}'"
                    )
                if row[0].text == "pods":
                    value = row[1].text if len(row) > 1 else ""
                    if value not in ("disabled", "verified", "insecure"):
                        raise CorefileProblem(
                            f"plugin/kubernetes: wrong value for pods: {value},  must be one of: disabled, verified, insecure"
                        )
                    facts.pods = value
                elif row[0].text == "ttl" and len(row) > 1 and row[1].text.isdigit():
                    facts.ttl_seconds = int(row[1].text)
        elif name == "forward":
            self._forward(words, rows, facts)
        elif name == "hosts":
            facts.answers = tuple(
                (host.text.rstrip(".").lower(), row[0].text)
                for row in rows
                for host in row[1:]
                if _ADDRESS.match(row[0].text)
            )
        elif name == "rewrite":
            texts = [word.text for word in words if word.text not in ("stop", "continue")]
            if texts[:1] == ["name"] and len(texts) >= 3:
                pair = (texts[-2].rstrip(".").lower(), texts[-1].rstrip(".").lower())
                facts.rewrites = (*facts.rewrites, pair)

    def _forward(self, words: list[_Token], rows: list[list[_Token]], facts: _Facts) -> None:
        if len(words) < 2:
            raise self._wrong("forward", words[0] if words else _Token("forward", 0))
        for word in words[1:]:
            if not _ADDRESS.match(word.text) and word.text != "/etc/resolv.conf":
                raise CorefileProblem(f'plugin/forward: not an IP address or file: "{word.text}"')
        for row in rows:
            if row[0].text not in _FORWARD_OPTIONS:
                raise CorefileProblem(
                    f"plugin/forward: {self.path}:{row[0].line} - Error during parsing: unknown property '{row[0].text}'"
                )
        facts.forwards = tuple(word.text for word in words[1:])


@lru_cache(maxsize=64)
def read(path: str, text: str) -> tuple[tuple[Zone, ...], tuple[str, ...]]:
    """Return the server blocks of a Corefile and the warnings about it.

    Raises:
        CorefileProblem: if CoreDNS refuses it.

    Source: github.com/coredns/caddy caddyfile/parse.go; tests/golden/programs/coredns (config_error).
    """
    reader = _Reader(path, text)
    return tuple(reader.zones()), tuple(reader.warnings)
