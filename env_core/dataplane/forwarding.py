"""Passes on what the API server proxies: to an address in the cluster's network, or to a node's kubelet.

Source: k8s.io/apimachinery pkg/util/proxy; Go's words for what goes wrong: tests/golden/promql/go_net.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.apiserver.proxying import Forward, Passed
from env_core.dataplane.network import Network
from env_core.dataplane.webhooks import failure_text
from env_core.programs import Request

TIMEOUT_MS: Final = 30_000
"""How long the API server tries to connect. Source: k8s.io/apimachinery pkg/util/net (the dialer of its transports)."""
_HOPS: Final = frozenset(
    {"host", "connection", "content-length", "accept-encoding", "authorization", "upgrade"}
)
"""Headers that do not go on: those of one connection, and what the client showed to the API server only."""


class NetworkForwarder:
    """The API server's place in the network, for what it proxies. `ask_kubelet` answers for nodes."""

    __slots__ = ("_ask_kubelet", "_network")

    def __init__(self, network: Network, ask_kubelet: Callable[[Forward], Passed]) -> None:
        self._network = network
        self._ask_kubelet = ask_kubelet

    def forward(self, request: Forward) -> Passed:
        """Send a request and return the answer."""
        if request.node:
            return self._ask_kubelet(request)
        network = self._network
        source = network.outside()
        target = f"{request.address}:{request.port}"
        connection = network.connect(source, request.address, request.port)
        is_secure = request.scheme == "https"
        sent = Request(
            method=request.method,
            path=request.path,
            host=target,
            headers={name: value for name, value in request.headers.items() if name.lower() not in _HOPS},
            body=request.body.decode("utf-8", "surrogateescape"),
            protocol="https" if is_secure else "http",
            timeout_ms=TIMEOUT_MS,
        )
        if is_secure and not connection.failure:
            assert connection.run is not None
            number = connection.port or request.port
            spoken = {each.port: each.protocol for each in connection.run.launch.listeners}
            if spoken.get(number) == "http":
                return Passed(error="http: server gave HTTP response to HTTPS client")
        reply = network.exchange(connection, sent, network.now_ms)
        if reply.failure:
            text = failure_text(reply.failure, target, source.ip)
            return Passed(
                error=f"dial tcp {target}: i/o timeout"
                if connection.failure == reply.failure and text == _DEADLINE
                else text
            )
        return Passed(
            status=reply.status, headers=reply.headers, body=reply.body.encode("utf-8", "surrogateescape")
        )


_DEADLINE: Final = "context deadline exceeded"
