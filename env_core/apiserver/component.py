"""What a component of the cluster (controller, scheduler, kubelet) holds: its client, its cache, time, chance."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.client import ApiClient
from env_core.apiserver.recorder import EventRecorder
from env_core.apiserver.registry import Kinds
from env_core.apiserver.request import Identity
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.apiserver.tokens import secret_token
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Stream
from env_core.sim.state import State
from env_core.sim.table import Table
from env_core.world import Object

_KUBE_SYSTEM = "system:serviceaccount:kube-system:"


def agent_of(identity: Identity) -> str:
    """Return the program that a component is part of: all controllers are one, all kubelets call themselves the same."""
    name = identity.name
    if name.startswith("system:node:"):
        return "kubelet"
    return "kube-controller-manager" if name.startswith(_KUBE_SYSTEM) else name.rpartition(":")[2]


class Component:
    """One actor of the cluster.

    Writes go through `api`, as the component's own identity, so that nothing can do what the API would
    refuse. Reads come from `cache`, as informers do: objects by reference, never to be mutated.
    """

    __slots__ = ("_server", "_state", "api", "cache", "loop", "name", "recorder")

    def __init__(
        self, server: ApiServer, state: State, name: str, identity: Identity, *, host: str = ""
    ) -> None:
        self._server = server
        self._state = state
        self.name = name
        self.api = ApiClient(server, identity, agent_of(identity))
        self.cache: Store = server.store
        self.loop: EventLoop = server.loop
        self.recorder = EventRecorder(self.api, state, server.loop, component=name, host=host)

    def recorder_as(self, source: str) -> EventRecorder:
        """Return a recorder whose events name another part of the same program as their source."""
        return EventRecorder(self.api, self._state, self.loop, component=source, host="")

    @property
    def kinds(self) -> Kinds:
        """What the API serves."""
        return self._server.registry

    def secret_token(self, account: Object, secret: Object) -> str:
        """Return a service account's token that goes with a Secret, signed by the cluster."""
        return secret_token(self._server, account, secret)

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self.loop.now_ms

    def stream(self, *name: str | int) -> Stream:
        """Return the random stream `name`, apart from those of other components."""
        return self._server.streams.stream(self.name, *name)

    def table(self, name: str) -> Table[Any, Any]:
        """Return this component's own table `name`."""
        return self._state.table(f"{self.name}/{name}", is_quiet=True)

    def shared_table(self, name: str) -> Table[Any, Any]:
        """Return a table that several components use (container runs, logs)."""
        return self._state.table(name)
