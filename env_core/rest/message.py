"""What goes over the wire, as values: requests, answers, and descriptions of answers that go on."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.apiserver.request import ApiRequest

Headers = tuple[tuple[str, str], ...]

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request. `target` is the request line's path and query, `headers` have lower-case names."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the first header called `name` (lower-case), "" without one."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""

    def headers_of(self, name: str) -> tuple[str, ...]:
        """Return every header called `name` (lower-case)."""
        return tuple(value for key, value in self.headers if key == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One answer."""

    code: int
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the first header called `name` in any case, "" without one."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A permitted request to speak another protocol with a container.

    `kind` is the subresource ("exec", "attach", "portforward"); `streams` says which of stdin, stdout, stderr, tty the
    client wants; `ports` are the ports to forward, for a client that names them ahead.
    """

    kind: str
    headers: Headers
    request: ApiRequest
    streams: frozenset[str]
    ports: tuple[int, ...] = ()
