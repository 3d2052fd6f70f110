"""A REST interface on a local port for the real kubectl: one frozen world at a time, swapped between commands."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Identity
from env_core.apiserver.server import ApiServer
from env_core.rest.api import Answer, RestApi, unauthorized
from env_core.rest.following import LogFollow
from env_core.rest.message import HttpRequest, HttpResponse, Upgrade
from env_core.rest.rendering import status_response
from env_core.rest.watching import Watch
from env_core.world import Output

TOKEN = "tok-admin"
POLL_S = 0.02
STDIN_S = 2.0
_WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""RFC 6455, section 1.3."""


class Facade:
    """What the port serves now."""

    def __init__(self, port: int, identity: Identity) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.identity = identity
        self.requests = 0
        self._api: RestApi | None = None
        self._server: ApiServer | None = None
        self._lock = threading.Lock()

    def serve(self, server: ApiServer) -> None:
        """Serve another world from now on."""
        with self._lock:
            self._server = server
            self._api = RestApi(server)

    def handle(self, request: HttpRequest) -> Answer:
        """Answer one request; clients send no token over plain HTTP, and a wrong one is none."""
        if request.header("authorization") not in ("", f"Bearer {TOKEN}"):
            return unauthorized()
        with self._lock:
            assert self._api is not None, "a world is served"
            self.requests += 1
            answer = self._api.handle(request, self.identity)
            if isinstance(answer, LogFollow):
                return HttpResponse(code=200, headers=answer.headers, body=answer.first.encode())
            return answer

    def upgraded(self, upgrade: Upgrade) -> Output:
        """Run what a connection to a container was opened for; raises `StatusError`."""
        with self._lock:
            assert self._server is not None, "a world is served"
            output = self._server.handle(upgrade.request)
        if not output.is_ok:
            raise StatusError(output.object)
        return output.output or Output()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    facade: Facade

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        request = HttpRequest(
            method=self.command,
            target=self.path,
            headers=tuple((name.lower(), value) for name, value in self.headers.items()),
            body=self._body(),
        )
        answer = self.facade.handle(request)
        try:
            if isinstance(answer, Watch):
                self._stream(answer)
            elif isinstance(answer, Upgrade):
                self._upgrade(request, answer)
            else:
                assert isinstance(answer, HttpResponse)
                self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: HttpResponse) -> None:
        self.send_response(answer.code)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def _stream(self, watch: Watch) -> None:
        self.send_response(200)
        for name, value in watch.headers:
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        while not watch.is_over:
            data = watch.poll()
            if data:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            time.sleep(POLL_S)
            self.connection.settimeout(POLL_S)
            try:
                if self.connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue

    def _upgrade(self, request: HttpRequest, upgrade: Upgrade) -> None:
        """Speak v5.channel.k8s.io over a WebSocket: everything that was printed at once, then the status."""
        failure: dict[str, Any] | None = None
        output = Output()
        try:
            output = self.facade.upgraded(upgrade)
        except StatusError as error:
            if error.reason != "InternalError":
                self._send(status_response(error.status))
                return
            # What goes wrong in the container is told over the connection.
            failure = error.status
        key = request.header("sec-websocket-key")
        accept = base64.b64encode(hashlib.sha1((key + _WEBSOCKET).encode()).digest()).decode()
        self.send_response(101)
        for name, value in (
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", accept),
            ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if "stdin=true" in request.target:
            self._read_stdin()
        for channel, text in ((b"\x01", output.stdout), (b"\x02", output.stderr)):
            if text:
                self._frame(2, channel + text.encode())
        self._frame(2, b"\x03" + json.dumps(failure or _exit_status(output.exit_code)).encode())
        self._frame(8, struct.pack(">H", 1000))
        self.close_connection = True
        time.sleep(POLL_S)

    def _read_stdin(self) -> None:
        """Read what the client sends until it closes its standard input: a command reads it to the end, too."""
        self.connection.settimeout(STDIN_S)
        try:
            while (frame := self._client_frame()) is not None and frame != b"\xff\x00":
                continue
        except TimeoutError:
            return

    def _client_frame(self) -> bytes | None:
        """Return the data of the client's next frame, None for one that ends the connection."""
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 0x0F == 8:
            return None
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big")
        mask = self.rfile.read(4)
        return bytes(byte ^ mask[index % 4] for index, byte in enumerate(self.rfile.read(size)))

    def _frame(self, opcode: int, data: bytes) -> None:
        size = len(data)
        head = bytes([size]) if size < 126 else bytes([126]) + struct.pack(">H", size)
        self.wfile.write(bytes([0x80 | opcode]) + head + data)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _answer


def _exit_status(code: int) -> dict[str, Any]:
    if not code:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


@contextmanager
def serving(identity: Identity) -> Iterator[Facade]:
    """Serve on a free local port until the block ends."""
    handler = type("Handler", (_Handler,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        facade = Facade(server.server_address[1], identity)
        handler.facade = facade  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield facade
        finally:
            server.shutdown()
            thread.join()
