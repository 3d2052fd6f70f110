"""HTTP over one connection to a port of a pod: requests are cut out of what comes, and answers go back.

The simulator's programs speak in whole requests and answers, so bytes are kept until a request is complete.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from env_core.dataplane.tunnel import REQUEST_BYTES_MAX, Exchanged, split_request
from env_core.rest.message import HttpRequest
from server.kubernetes.pace import Pacer
from server.play import Play
from server.sessions import Session

_CHUNK: Final = 32_768


class Forwarder:
    """Reaches the pod that a request to the portforward subresource names."""

    def __init__(self, play: Play, pacer: Pacer, session: Session, request: HttpRequest) -> None:
        self._play = play
        self._pacer = pacer
        self._session = session
        self._request = request

    def connection(self, port: int) -> Conversation:
        """Return a new connection to a port."""
        return Conversation(self, port)

    async def exchange(self, port: int, data: bytes) -> Exchanged:
        """Send one whole request to a port."""
        is_paced = self._pacer.is_paced(self._session)
        return await self._play.forward(self._session, self._request, port, data, is_paced=is_paced)


class Conversation:
    """One connection."""

    def __init__(self, forwarder: Forwarder, port: int) -> None:
        self.is_over = False
        self.problem = ""
        """Why the connection is over, when it did not end as usual."""
        self._forwarder = forwarder
        self._port = port
        self._received = b""

    async def answers(self, data: bytes, *, is_last: bool = False) -> AsyncIterator[bytes]:
        """Take what has come and yield what goes back, in parts. Nothing comes after `is_last`."""
        self._received += data
        while not self.is_over:
            try:
                taken = split_request(self._received)
            except ValueError:
                self.is_over = True
                return
            if taken is None:
                break
            whole, self._received = taken
            exchanged = await self._forwarder.exchange(self._port, whole)
            if exchanged.problem:
                self.problem = f"error forwarding port {self._port} to pod: {exchanged.problem}"
            self.is_over = exchanged.is_last or not exchanged.answer
            for at in range(0, len(exchanged.answer), _CHUNK):
                yield exchanged.answer[at : at + _CHUNK]
        self.is_over = self.is_over or is_last or len(self._received) > REQUEST_BYTES_MAX
