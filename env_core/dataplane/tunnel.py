"""What goes through a forwarded port: bytes of HTTP to a port of a pod, as from the pod itself, and the bytes that come back.

Source: k8s.io/kubernetes pkg/kubelet (port forwarding in the pod's network namespace); the text of a refusal is containerd's.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.dataplane.network import Network
from env_core.programs import Reply, Request
from env_core.programs._http import FOREIGN, REASON, REASONS, VERSION

REQUEST_BYTES_MAX = 1 << 20
_END: Final = b"\r\n\r\n"
_BODILESS: Final = (204, 304)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Exchanged(NamedTuple):
    """What came of the bytes: an answer, or why there is none."""

    answer: bytes = b""
    problem: str = ""
    is_last: bool = False
    """Whether the program closes the connection after the answer."""


def split_request(data: bytes) -> tuple[bytes, bytes] | None:
    """Take the first whole HTTP request off the front of `data`; None while it is not complete.

    Raises:
        ValueError: for bytes that are no HTTP request.
    """
    head, end, rest = data.partition(_END)
    if not end:
        if len(data) > REQUEST_BYTES_MAX or (len(data) > 16 and b" " not in data[:16]):
            raise ValueError("no HTTP request")
        return None
    method = head.split(b" ", 1)[0].decode("latin-1")
    if method not in _METHODS:
        raise ValueError("no HTTP request")
    length = _headers(head).get("content-length", "0")
    if not length.isdecimal() or int(length) > REQUEST_BYTES_MAX:
        raise ValueError("no length that makes sense")
    size = int(length)
    if len(rest) < size:
        return None
    return head + end + rest[:size], rest[size:]


def exchange(network: Network, namespace: str, pod: str, port: int, data: bytes) -> Exchanged:
    """Send one HTTP request to a port of a pod, from within it, and return the answer."""
    source = network.source_of_pod(namespace, pod)
    if source is None:
        return Exchanged(problem=_refused(port))
    head, _, body = data.partition(_END)
    line, *_ = head.decode("latin-1").split("\r\n")
    method, path, protocol, *_ = [*line.split(" "), "/", "HTTP/1.1"]
    headers = _headers(head)
    if protocol == "HTTP/1.0":
        headers[VERSION] = "1.0"
    request = Request(
        method=method,
        path=path,
        host=headers.get("host", ""),
        headers=headers,
        body=body.decode("utf-8", "surrogateescape"),
        source_ip="127.0.0.1",
    )
    reply = network.request(source, "127.0.0.1", port, request)
    if reply.failure:
        return Exchanged(problem=_refused(port) if reply.detail.startswith("connect") else "")
    return _printed(request, reply)


def _printed(request: Request, reply: Reply) -> Exchanged:
    content = reply.body.encode("utf-8", "surrogateescape")
    pseudo = {name: value for name, value in reply.headers if name.startswith(":")}
    if FOREIGN in pseudo:
        return Exchanged(content, is_last=True)
    shown = [pair for pair in reply.headers if not pair[0].startswith(":")]
    lower = {name.lower(): value for name, value in shown}
    version = pseudo.get(VERSION, "1.1")
    is_last = _closes(request, lower.get("connection", ""), version)
    if "content-length" not in lower and not is_last and reply.status not in _BODILESS:
        shown.append(("Content-Length", str(len(content))))
    reason = pseudo.get(REASON, REASONS.get(reply.status, ""))
    lines = [f"HTTP/{version} {reply.status} {reason}", *(f"{name}: {value}" for name, value in shown)]
    said = b"" if request.method == "HEAD" or reply.status in _BODILESS else content
    return Exchanged("\r\n".join(lines).encode("utf-8", "replace") + _END + said, is_last=is_last)


def _closes(request: Request, answered: str, version: str) -> bool:
    """Whether a connection ends with an answer, by what both sides have said of it (RFC 9112 §9.3)."""
    said = {answered.lower(), request.headers.get("connection", "").lower()}
    is_old = "1.0" in (version, request.headers.get(VERSION))
    return "close" in said or (is_old and answered.lower() != "keep-alive")


def _headers(head: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _refused(port: int) -> str:
    return (
        f"failed to connect to localhost:{port} inside namespace, "
        f"IPv4: dial tcp4 127.0.0.1:{port}: connect: connection refused"
    )
