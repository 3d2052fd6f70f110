"""What goes through a forwarded port: bytes of HTTP to a port of a pod, as from the pod itself, and the bytes that come back.

Source: k8s.io/kubernetes pkg/kubelet (port forwarding in the pod's network namespace); the text of a refusal is containerd's.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from env_core.dataplane.network import Network
from env_core.programs import Request

REQUEST_BYTES_MAX = 1 << 20
_END = b"\r\n\r\n"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Exchanged(NamedTuple):
    """What came of the bytes: an answer, or why there is none."""

    answer: bytes = b""
    problem: str = ""


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
    method, path, *_ = [*line.split(" "), "/", ""]
    headers = _headers(head)
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
    content = reply.body.encode("utf-8", "surrogateescape")
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = ""
    given = {name.lower() for name, _ in reply.headers}
    lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{name}: {value}" for name, value in reply.headers)]
    if "content-length" not in given:
        lines.append(f"Content-Length: {len(content)}")
    said = b"" if method == "HEAD" else content
    return Exchanged("\r\n".join(lines).encode("utf-8", "replace") + _END + said)


def _headers(head: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}


def _refused(port: int) -> str:
    return (
        f"failed to connect to localhost:{port} inside namespace, "
        f"IPv4: dial tcp4 127.0.0.1:{port}: connect: connection refused"
    )
