"""People who do things at the API when their time has come: acts are plain data, so that they fork with the world."""

from __future__ import annotations

import json
from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from env_core.apiserver.client import ApiClient
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH, Identity

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

HANDLER: Final = "person"
"""What the agenda knows them by."""


class Act(NamedTuple):
    """What a person does at the API: a strategic patch, or a creation."""

    who: Identity
    verb: str
    resource: str
    namespace: str
    name: str
    body: str
    """JSON."""


class People:
    """Whoever works in a cluster beside the agent."""

    __slots__ = ("_server",)

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def handle(self, key: Hashable) -> None:
        """Do what an agenda entry says: the key is the act."""
        self.do(cast("Act", key))

    def plan(self, at_ms: int, act: Act) -> None:
        """Let somebody do something at a time to come."""
        self._server.loop.wake(at_ms, HANDLER, act)

    def drop(self, act: Act) -> None:
        """Forget what nobody has come to."""
        self._server.loop.cancel(HANDLER, act)

    def do(self, act: Act) -> None:
        """Let somebody do something now; what the API refuses is left undone."""
        client, body = ApiClient(self._server, act.who, "kubectl"), json.loads(act.body)
        with suppress(StatusError):
            if act.verb == "create":
                client.create(act.resource, act.namespace, body)
            else:
                client.patch(act.resource, act.namespace, act.name, body, STRATEGIC_PATCH)
