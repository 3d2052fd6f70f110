"""How sockets speak WebSocket: uvicorn's protocol over the websockets library, with every refused handshake answered."""

from __future__ import annotations

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class SocketProtocol(WebSocketsSansIOProtocol):
    """Sends what the library answers to a request that it cannot read, which uvicorn 0.54 leaves unsent.

    A request line or a header beyond 8 KiB is such a request: the client would wait for its own time-out.
    """

    def data_received(self, data: bytes) -> None:
        """Take bytes from the network."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.handshake_complete = True
            self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
