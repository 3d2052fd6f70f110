"""The `setup` of Go's recorded errors as conditions of the simulated library.

Source: shared oracle `promql/README.md` (go_net.jsonl): the client is 10.244.1.17, its name server 10.96.0.10, services are 10.96.44.7
and .8, the time is T0. Words of a setup decide, never a record's id.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Final

from env_core.programs import DNS_TIMEOUT, NXDOMAIN, REFUSED, RESET, SERVFAIL, TIMEOUT, UNREACHABLE
from env_core.programs import _go_grpc as grpc
from env_core.programs import _go_http as http
from env_core.programs import _go_net as net
from env_core.programs import _go_tls as tls
from env_core.programs import _go_values as values
from env_core.programs._go_net import GoError
from env_core.programs._http import REASONS
from env_core.sim.timefmt import parse_ms
from tests.golden.go_tls_setups import certificate_of, tls_setup
from tests.golden.go_world import DNS, OWN, SERVICE, T0_MS, Happened, request_in
from tests.golden.recordings import Record



def _failure(setup: str) -> str:
    """Return how connections or look-ups fail, by the words of a setup."""
    for words, failure in (
        ("socket file", net.MISSING), ("packets dropped", TIMEOUT), ("packets are dropped", TIMEOUT), ("unreachable", UNREACHABLE),
        ("prohibit", net.PROHIBITED), ("undecodable", DNS_TIMEOUT), ("drop", DNS_TIMEOUT), ("SERVFAIL", SERVFAIL),
        ("NOTIMP", SERVFAIL), ("FORMERR", SERVFAIL), ("REFUSED", SERVFAIL), ("lame", net.LAME), ("NXDOMAIN", NXDOMAIN),
        ("NOERROR without answers", NXDOMAIN), ("short name", NXDOMAIN), ("does not resolve", NXDOMAIN), ("empty name", NXDOMAIN),
        ("nothing listens", REFUSED), ("refuses connections", REFUSED), ("reset", RESET),
    ):  # fmt: skip
        if words in setup:
            return failure
    return ""


def _asked_host(text: str) -> str:
    found = re.search(r"lookup (\S+?)(?: on |: )", text)
    return found[1] if found else ""


def _lookup(setup: str, host: str) -> GoError:
    """Look a host up; time-outs of the dialler come first unless the setup says that there is none."""
    failure = _failure(setup)
    if "nothing listens on the DNS port" in setup:
        return net.lookup_error(host, REFUSED, DNS, own=OWN, asked="10.96.44.8")
    own = OWN if "no dial timeout" in setup else ""
    return net.lookup_error(host, failure, DNS, own=own)


def _connection(setup: str, text: str, *, is_context: bool = False) -> GoError | None:
    """Return why no connection came about; `text` names the host or address that was asked for."""
    host = _asked_host(text)
    if host and "tcp/" not in host:
        return net.in_operation("dial", "tcp", _lookup(setup, host))
    found = re.search(r"dial (\w+) (\S+): (?:connect|i/o)", text)
    if found is None:
        return None
    return net.connect_error(found[1], found[2], _failure(setup), is_context=is_context)


def _dial(setup: str, text: str) -> Happened | None:
    if setup.endswith("lookup NXDOMAIN") or setup == "empty name":
        return Happened(error=net.lookup_error(_asked_host(text) if "empty" not in setup else "", NXDOMAIN, DNS))
    if "closed connection" in setup:
        return Happened(error=net.closed("read", "tcp", OWN, f"{SERVICE}:8080"))
    if "after the peer closed" in setup:
        return Happened(error=net.stream_error("write", "tcp", OWN, f"{SERVICE}:8080", net.BROKEN_PIPE))
    operation, _, rest = text.partition(" ")
    network = rest.partition(" ")[0].rstrip(":")
    address = re.search(r"address (\S+): ", text)
    port = re.search(r"lookup \w+/(\S+):", text)
    place = re.match(r"\w+ \w+ (\S+): ", text)
    if address is not None:
        # Only the port of a whole address is shown when it is out of range.
        asked = f"{SERVICE}:{address[1]}" if address[1].isdigit() else address[1]
    elif port is not None:
        asked = f"{SERVICE}:{port[1]}"
    else:
        asked = place[1] if place is not None else f"{SERVICE}:80"
    problem = net.address_error(operation, network, asked)
    if problem is not None:
        return Happened(error=problem)
    if operation == "listen":
        failure = net.NOT_LOCAL if "another host" in setup else net.IN_USE
        return Happened(error=net.listen_error(network, asked, failure))
    return Happened(error=_connection(setup, text, is_context="context deadline" in setup))


_RAW: Final[tuple[tuple[str, bytes], ...]] = (
    ("answers SSH", b"SSH-2.0-OpenSSH_9.9\r\n"), ("TLS alert bytes", b"\x15\x03\x01\x00\x02\x02F"),
    ("status code abc", b"HTTP/1.1 abc OK\r\n\r\n"), ("HTTP/x", b"HTTP/x 200 OK\r\n\r\n"),
    ("header without a colon", b"HTTP/1.1 200 OK\r\nbroken header\r\n\r\n"),
    ("Content-Length abc", b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n"),
    ("h2 frames", b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00d"),
    ("closes without an answer", b""), ("closes at once", b""),
)  # fmt: skip
_HTTP: Final[tuple[tuple[str, GoError], ...]] = (
    ("in the middle of the body", http.BODY_TIMEOUT), ("body shorter than Content-Length", http.UNEXPECTED_EOF),
    ("chunked body cut short", http.body_problem(b"5\r\nhel", {"Transfer-Encoding": "chunked"}) or http.EOF),
    ("invalid chunk length", http.body_problem(b"zz\r\n", {"Transfer-Encoding": "chunked"}) or http.EOF),
    ("MaxBytesReader", http.BODY_TOO_LARGE),
)  # fmt: skip
_WRAPPED: Final[tuple[tuple[str, GoError], ...]] = (
    ("Client.Timeout", http.CLIENT_TIMEOUT), ("ResponseHeaderTimeout", http.HEADER_TIMEOUT),
    ("TLSHandshakeTimeout", http.HANDSHAKE_TIMEOUT), ("context deadline", http.CONTEXT_DEADLINE),
    ("context canceled", http.CONTEXT_CANCELED), ("redirect loop", http.TOO_MANY_REDIRECTS),
)  # fmt: skip
_ANSWERS: Final[tuple[tuple[str, int, str], ...]] = (
    # What a server sends is passed on as it came.
    ("302 without Location", 302, ""), ("503 with a body", 503, "no healthy upstream\n"),
    ("TimeoutHandler", *http.timed_out("upstream timed out")), ("method pattern mismatch", *http.METHOD_NOT_ALLOWED),
    ("pattern mismatch", *http.NOT_FOUND),
)  # fmt: skip


def _http(setup: str, text: str) -> Happened | None:
    method, url = request_in(text)
    for words, status, body in _ANSWERS:
        if words in setup:
            return Happened(status=status, body=body)
    for words, error in _HTTP:
        if words in setup:
            return Happened(error=error)
    inner = _http_inner(setup, text, method, url)
    return None if inner is None else Happened(error=inner)


def _http_inner(setup: str, text: str, method: str, url: str) -> GoError | None:
    if "unknown scheme" in setup:
        return http.redirect_problem(method, "http://cart.shop.svc:8080/api", "ftp://x/")
    if "Location cannot be parsed" in setup:
        return http.redirect_problem(method, url, "http://[::1")
    for words, error in _WRAPPED:
        if words in setup:
            return http.in_request(method, url, error)
    answered = re.search(r"answered (\d{3})", setup)
    if answered is not None:
        return http.in_request(method, url, http.plain(REASONS[int(answered[1])]))
    for words, data in _RAW:
        if words in setup:
            problem = http.answer_problem(data)
            return None if problem is None else http.in_request(method, url, problem)
    if "over the limit" in setup:
        problem = http.answer_problem(b"HTTP/1.1 200 OK\r\nX-Large: " + b"a" * 5_000 + b"\r\n\r\n", 1_000)
        return None if problem is None else http.in_request(method, url, problem)
    if "resets after the request" in setup:
        return http.in_request(method, url, net.stream_error("read", "tcp", OWN, f"{SERVICE}:8080", RESET))
    if "declared ContentLength" in setup:
        problem = http.length_problem(100, 3)
        return None if problem is None else http.in_request(method, url, problem)
    if "newline in a header" in setup:
        problem = http.header_problem("Authorization", "Bearer a\n")
        return None if problem is None else http.in_request(method, url, problem)
    found = _connection(setup, text)
    if found is None:
        return None
    if "proxy" in setup.lower():
        found = net.in_operation("proxyconnect", "tcp", found)
    return http.in_request(method, url, found)


def _url(setup: str) -> Happened | None:
    found = re.fullmatch(r"http\.Get\((.*)\)", setup, re.DOTALL)
    return None if found is None else Happened(error=http.request_problem("Get", json.loads(found[1])))


_HEALTH: Final = "grpc.health.v1.Health"


def _grpc_status(setup: str, text: str, code: str) -> grpc.Status | None:
    if "returns this code" in setup:
        return grpc.Status(code, "cart service said so")
    if "errors.New" in setup:
        return grpc.of_handler("database is locked")
    if "context.DeadlineExceeded of its own" in setup or "slower than the deadline" in setup:
        return grpc.of_context(is_cancelled=False)
    if "client cancels" in setup:
        return grpc.of_context(is_cancelled=True)
    if "service not registered" in setup:
        return grpc.unknown_service(_HEALTH)
    if "method not known" in setup:
        return grpc.unknown_method(_HEALTH, "Nosuch")
    if "without the service" in setup:
        return grpc.UNKNOWN_HEALTH
    if "server's limit" in setup or "client's limit" in setup:
        return grpc.too_large(503, 100, is_received="server's" in setup)
    if "server resets" in setup:
        return grpc.preface("connection reset by peer")
    if "plain client, TLS server" in setup:
        return grpc.preface("EOF")
    if "HTTP/1.1 server" in setup:
        return grpc.preface(grpc.HTTP1_SERVER)
    if "404 text/plain" in setup:
        return grpc.http_answer(404, "text/plain; charset=utf-8", "404 page not found\n")
    if "503 text/html" in setup:
        return grpc.http_answer(503, "text/html", "upstream connect error")
    if "stops during the call" in setup:
        return grpc.STOPPED
    if "NXDOMAIN" in setup:
        return grpc.no_addresses()
    if "TLS client, plain server" in setup:
        return grpc.handshake(tls.NOT_TLS)
    return _grpc_connection(setup, text)


def _grpc_connection(setup: str, text: str) -> grpc.Status | None:
    held = certificate_of(setup)
    if held is not None:
        problem = tls.verification_error(held, SERVICE if "by IP" in setup else "cart.shop.svc", T0_MS)
        return None if problem is None else grpc.handshake(problem)
    if "packets dropped" in setup:
        return grpc.too_late(None)
    found = _connection(setup, text)
    if found is None:
        return None
    status = grpc.dialling(found)
    return grpc.too_late(status) if "WaitForReady" in setup else status


def _grpc(setup: str, text: str, code: str) -> Happened | None:
    if "without transport security" in setup:
        return Happened(error=grpc.NO_CREDENTIALS)
    status = _grpc_status(setup, text, code)
    return None if status is None else Happened(error=status.error, code=status.code)


_CALL: Final = re.compile(r"([\w.]+)\((.*)\)", re.DOTALL)
_PANICS: Final[tuple[tuple[str, str], ...]] = (
    ("nil map", values.PANICS["nil map"]), ("nil dereference", values.PANICS["nil pointer"]),
    ("index out of range", values.index_panic(5, 3)), ("slice bounds", values.slice_panic(5, 3)),
    ("conversion of nil", values.assertion_panic("nil", "int")), ("interface conversion", values.assertion_panic("string", "int")),
    ("divide by zero", values.PANICS["divide"]), ("send on a closed channel", values.PANICS["closed channel"]),
    ("close of a closed channel", values.PANICS["close of closed channel"]), ("WaitGroup", values.PANICS["negative counter"]),
)  # fmt: skip
_FILES: Final[tuple[tuple[str, GoError], ...]] = (
    ("os.ReadFile on a directory", values.path_error("read", "/etc", "is a directory")),
    ("os.Mkdir under a file", values.path_error("mkdir", "/etc/hostname/x", "not a directory")),
    ("exec of a missing program", values.command_missing("migrate-db")),
    ("exec of a missing path", values.command_missing("/app/server")),
    ("exit status", values.command_ended(3)), ("killed by SIGKILL", values.command_ended(0, "killed")),
    ("deadline kills the command", values.command_ended(0, "killed")),
)  # fmt: skip


def _runtime(setup: str) -> Happened | None:
    if "recovered; as printed" in setup:
        for words, text in _PANICS:
            if words in setup:
                return Happened(error=GoError(text, ("*errors.errorString",)))
        return None
    for words, error in _FILES:
        if words in setup:
            return Happened(error=error)
    found = _CALL.fullmatch(setup)
    if found is None:
        return None
    argument = json.JSONDecoder().raw_decode(found[2][found[2].find('"') :])[0]
    name = found[1].rpartition(".")[2]
    if name in ("Atoi", "ParseInt", "ParseUint"):
        bits = found[2].rpartition(",")[2].strip() if "," in found[2] else "64"
        error = values.integer_error(name, argument, int(bits) or 64)
    elif name == "Unmarshal":
        error = values.json_error(argument, {"spec": {"replicas": "int32"}})
    elif name == "Parse":
        error = values.time_error(argument)
    else:
        readers = {
            "ParseBool": values.bool_error, "ParseFloat": values.float_error, "ParseDuration": values.duration_error,
            "Compile": values.regexp_error,
        }  # fmt: skip
        if name not in readers:
            return None
        error = readers[name](argument)
    return Happened(error=error)


def happened(record: Record) -> Happened | None:
    """Return what the simulated library yields for a record's setup; None when its words are not known."""
    setup, text = record["setup"], record["error"]
    category = record["category"]
    if category == "dial":
        return _dial(setup, text)
    if category == "http":
        return _http(setup, text)
    if category == "tls":
        return tls_setup(setup, text)
    if category == "grpc":
        return _grpc(setup, text, record.get("grpcCode", ""))
    return _url(setup) if category == "url" else _runtime(setup)
