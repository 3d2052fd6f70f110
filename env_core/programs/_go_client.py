"""A net/http client of Go inside a container: what it gets, or the error that it sees.

Source: tests/golden/programs/app-go (go.client.*), tests/golden/promql/go_net.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.objects.x509 import CertificateProblem, certificates, distrust
from env_core.programs import _go_http as http
from env_core.programs import _go_net as net
from env_core.programs._go_net import GoError
from env_core.programs._go_tls import NOT_TLS
from env_core.programs._http import FOREIGN
from env_core.programs._model import (
    DNS_TIMEOUT,
    EMPTY,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    Container,
    Lookup,
    Reply,
    Request,
    Upstream,
)

_REDIRECTS_MAX: Final = 10
_REDIRECTING: Final = frozenset({301, 302, 303, 307, 308})


class Fetched(NamedTuple):
    """An answer, an error in its place, or an answer whose body could not be read whole."""

    reply: Reply
    error: GoError | None = None
    body_error: GoError | None = None


def _target(url: str) -> tuple[str, str, int, str]:
    """Return the scheme, host, port and path of a URL that parses."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    host, colon, port = authority.rpartition(":")
    number = int(port) if colon and port.isdigit() else 443 if scheme == "https" else 80
    return scheme, host if colon else authority, number, slash + path or "/"


def fetch(
    container: Container,
    upstream: Upstream,
    url: str,
    *,
    timeout_ms: int,
    method: str = "GET",
    body: str = "",
) -> Fetched:
    """Send a request as a Go client with a time-out does, following redirects.

    Authorities are those of /etc/ssl/certs/ca-certificates.crt, if the container has them.
    """
    shown = url
    for turn in range(_REDIRECTS_MAX + 1):
        if turn == _REDIRECTS_MAX:
            return Fetched(Reply(), http.in_request(method, shown, http.TOO_MANY_REDIRECTS))
        problem = http.request_problem(method, url)
        if problem is not None:
            return Fetched(Reply(), problem)
        found = _once(container, upstream, url, method, body, timeout_ms)
        if found.error is not None:
            return Fetched(found.reply, http.in_request(method, url, found.error))
        location = next((value for name, value in found.reply.headers if name.lower() == "location"), "")
        if found.reply.status not in _REDIRECTING or not location:
            return found
        problem = http.redirect_problem(method, url, location)
        if problem is not None:
            return Fetched(Reply(), problem)
        scheme, _, rest = url.partition("://")
        shown = location
        url = location if "://" in location else f"{scheme}://{rest.partition('/')[0]}{location}"
        method = "GET" if found.reply.status in (301, 302, 303) and method not in ("GET", "HEAD") else method
    return Fetched(Reply())


def _once(
    container: Container, upstream: Upstream, url: str, method: str, body: str, timeout_ms: int
) -> Fetched:
    scheme, host, port, path = _target(url)
    own = container.pod_ip
    if scheme == "https":
        problem = _distrusted(container, upstream, host, port)
        if problem is not None:
            return Fetched(Reply(), problem)
    authority = url.partition("://")[2].partition("/")[0]
    headers = {"User-Agent": "Go-http-client/1.1", "Host": authority, "Accept-Encoding": "gzip"}
    request = Request(
        method=method, path=path, host=authority, headers=headers, body=body, timeout_ms=timeout_ms,
        protocol="tls" if scheme == "https" else "http",
    )  # fmt: skip
    reply = upstream.request(host, port, request)
    phase, _, address = reply.detail.partition(" ")
    foreign = dict(reply.headers).get(FOREIGN)
    if foreign is not None:
        return Fetched(reply, http.answer_problem(foreign.encode("latin-1", "replace")))
    if scheme == "https" and reply.status == 400 and not reply.headers:
        return Fetched(reply, NOT_TLS)
    if not reply.failure or reply.status:
        return Fetched(reply, None, _body_error(reply, own, f"{address or host}:{port}"))
    if reply.lookup is not None:
        return Fetched(reply, _unresolved(reply, host, own, timeout_ms))
    if reply.failure == TIMEOUT:
        return Fetched(reply, http.CLIENT_TIMEOUT)
    where = f"{address or host}:{port}"
    if phase == "connect":
        return Fetched(reply, net.connect_error("tcp", where, reply.failure))
    if reply.failure == RESET:
        return Fetched(reply, net.stream_error("read", "tcp", own, where, RESET))
    return Fetched(reply, http.EOF)


def _unresolved(reply: Reply, host: str, own: str, timeout_ms: int) -> GoError:
    if reply.failure == DNS_TIMEOUT and timeout_ms and reply.latency_ms >= timeout_ms:
        return http.CLIENT_TIMEOUT
    return _lookup_error(reply, host, own)


def _lookup_error(reply: Reply, host: str, own: str) -> GoError:
    server, is_refused = reply.lookup or Lookup("", False)
    failure = reply.failure if reply.failure in (NXDOMAIN, SERVFAIL, DNS_TIMEOUT) else SERVFAIL
    error = net.lookup_error(host, REFUSED if is_refused else failure, server or net.NAME_SERVER, own=own)
    return net.in_operation("dial", "tcp", error)


def _distrusted(container: Container, upstream: Upstream, host: str, port: int) -> GoError | None:
    """Return why the certificate of a server is not believed; None when it is, or when no handshake comes about."""
    try:
        chain = certificates(upstream.certificate(host, port))
        roots = certificates(container.files.get("/etc/ssl/certs/ca-certificates.crt", ""))
    except CertificateProblem:
        return None
    problem = distrust(chain, roots, host, upstream.clock_ms) if chain else ""
    if not problem:
        return None
    return GoError(problem, ("*tls.CertificateVerificationError",), is_timeout=False)


def _body_error(reply: Reply, own: str, where: str) -> GoError | None:
    if reply.failure == RESET:
        return net.stream_error("read", "tcp", own, where, RESET)
    if reply.failure == TIMEOUT:
        return http.BODY_TIMEOUT
    if reply.failure == "bad-chunk":
        return GoError("invalid byte in chunk length", ("*errors.errorString",))
    length = next((value for name, value in reply.headers if name.lower() == "content-length"), "")
    is_short = length.isdigit() and len(reply.body.encode()) < int(length)
    is_cut = ":cut" in dict(reply.headers) or reply.failure == EMPTY
    return http.UNEXPECTED_EOF if is_short or is_cut else None


def dial(container: Container, upstream: Upstream, address: str, timeout_ms: int) -> GoError | None:
    """Open a TCP connection as net.DialTimeout does; return the error, or None."""
    problem = net.address_error("dial", "tcp", address)
    if problem is not None:
        return problem
    host, _, port = address.rpartition(":")
    request = Request(protocol="tcp", timeout_ms=timeout_ms)
    reply = upstream.request(host, int(port), request)
    if not reply.failure:
        return None
    _, _, found = reply.detail.partition(" ")
    if reply.lookup is not None:
        own = "" if timeout_ms and reply.latency_ms >= timeout_ms else container.pod_ip
        return _lookup_error(reply, host, own)
    return net.connect_error("tcp", f"{found or host}:{port}", reply.failure)
