"""Carries the API server's calls to webhooks: over TLS, to an endpoint of a Service or to the host of a URL.

The API server picks endpoints itself, as the recorded one did, instead of going through the Service's address.

Source: k8s.io/apiserver pkg/util/proxy ResolveEndpoint; tests/golden/l2/facts/errors.jsonl.gz (hook-…); Go's words for
what goes wrong: tests/golden/promql/go_net.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from env_core.apiserver.policies.calls import Answer, Call
from env_core.dataplane._model import Connection, Source
from env_core.dataplane.network import Network
from env_core.objects.problems import quoted
from env_core.objects.x509 import Certificate, CertificateProblem, certificates, distrust
from env_core.programs import EMPTY, REFUSED, RESET, TIMEOUT, UNREACHABLE, Request

_LOCAL: Final = {
    2379: "EOF",
    6443: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
}
"""What the API server's own host answers: etcd wants a client certificate, the API server has the cluster's own CA."""
_DEADLINE: Final = "context deadline exceeded"


class _Unresolved(Exception):
    """No endpoint."""


class WebhookCaller:
    """The API server's place in the network."""

    __slots__ = ("_network",)

    def __init__(self, network: Network) -> None:
        self._network = network

    def call(self, call: Call) -> Answer:
        """Send a request and return the answer."""
        parts = urlsplit(call.url)
        host, port = parts.hostname or "", parts.port or 443
        source = self._network.outside()
        try:
            address, port = self._endpoint(source, call, host, port)
        except _Unresolved as problem:
            return Answer(error=str(problem))
        if address.startswith("127.") and port in _LOCAL:
            return Answer(error=_LOCAL[port])
        connection = self._network.connect(source, address, port)
        request = Request(
            method="POST",
            path=f"{parts.path or '/'}?{parts.query}",
            host=parts.netloc,
            headers={"User-Agent": "kube-apiserver-admission", "Accept": "application/json, */*", "Content-Type": "application/json"},
            body=call.body,
            protocol="https",
            timeout_ms=call.timeout_ms,
        )  # fmt: skip
        if connection.failure:
            failure = self._network.exchange(connection, request, self._network.now_ms).failure
            return Answer(error=failure_text(failure, f"{address}:{port}", source.ip))
        distrusted = self._handshake(connection, port, host, call.authorities)
        if distrusted:
            return Answer(error=distrusted)
        reply = self._network.exchange(connection, request, self._network.now_ms)
        if reply.failure:
            return Answer(error=failure_text(reply.failure, f"{address}:{port}", source.ip))
        return Answer(status=reply.status, body=reply.body)

    def _endpoint(self, source: Source, call: Call, host: str, port: int) -> tuple[str, int]:
        if call.service is not None:
            return self._service_endpoint(*call.service)
        found = self._network.resolve(source, host)
        if found.failure:
            raise _Unresolved(f"dial tcp: lookup {host}: no such host")
        return found.addresses[0], port

    def _service_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        service = self._network.service(namespace, name)
        if service is None:
            raise _Unresolved(f"service {quoted(name)} not found")
        spec = service["spec"]
        if spec.get("type") == "ExternalName":
            raise _Unresolved('unsupported service type "ExternalName"')
        ports = [each for each in spec.get("ports") or () if each["port"] == port]
        if not ports:
            raise _Unresolved(f"no service port {port} found for service {quoted(name)}")
        backend = self._network.endpoint(namespace, name, port, ports[0].get("name") or "")
        if backend is None:
            raise _Unresolved(f"no endpoints available for service {quoted(name)}")
        return backend.address, backend.port

    def _handshake(self, connection: Connection, port: int, host: str, authorities: str) -> str:
        """Return why there is no TLS connection, "" if there is."""
        assert connection.run is not None
        number = connection.port or port
        listener = next((each for each in connection.run.launch.listeners if each.port == number), None)
        protocol = "tcp" if listener is None else listener.protocol
        if protocol == "http":
            return "http: server gave HTTP response to HTTPS client"
        if listener is None or protocol != "https":
            return "tls: first record does not look like a TLS handshake" if protocol == "redis" else "EOF"
        try:
            chain: Sequence[Certificate] = certificates(listener.certificate)
            roots = certificates(authorities)
        except CertificateProblem as problem:
            return f"tls: failed to parse certificate from server: {problem}"
        return distrust(chain, roots, host, self._network.now_ms)


def failure_text(failure: str, target: str, source: str) -> str:
    """Return Go's words for a failure of a request to `target`, "address:port"."""
    if failure == REFUSED:
        return f"dial tcp {target}: connect: connection refused"
    if failure == UNREACHABLE:
        return f"dial tcp {target}: connect: no route to host"
    if failure == TIMEOUT:
        return _DEADLINE
    if failure == RESET:
        return f"read tcp {source}:40000->{target}: read: connection reset by peer"
    return "EOF" if failure == EMPTY else failure
