"""A network for API servers that stand alone: nothing runs in it, but webhooks are called through it."""

from __future__ import annotations

from env_core.apiserver.server import ApiServer
from env_core.dataplane.network import Network
from env_core.dataplane.webhooks import WebhookCaller
from env_core.programs import Runtime
from env_core.sim.state import State


def connect(server: ApiServer, state: State | None = None) -> None:
    """Let a server call webhooks."""
    state = State() if state is None else state
    network = Network(
        store=server.store, runtime=Runtime(state), loop=server.loop, state=state, streams=server.streams
    )
    server.webhooks = WebhookCaller(network)
