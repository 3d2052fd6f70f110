"""nc of OpenBSD, nc and telnet of BusyBox."""

from __future__ import annotations

from typing import Final

from env_core.programs._http import CUT_SHORT, FOREIGN
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    ERRORS,
    REFUSED,
    RESOLVER_ERRORS,
    TIMEOUT,
    Connection,
    Reply,
    Request,
    Wire,
    sleep,
)
from env_core.shell._clients.busybox_wget import BANNER
from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.world import Output

_USAGE: Final = (
    "usage: nc [-46CDdFhklNnrStUuvZz] [-I length] [-i interval] [-M ttl]\n"
    "\t  [-m minttl] [-O length] [-P proxy_username] [-p source_port]\n"
    "\t  [-q seconds] [-s sourceaddr] [-T keyword] [-V rtable] [-W recvlimit]\n"
    "\t  [-w timeout] [-X proxy_protocol] [-x proxy_address[:port]]\n"
    "\t  [destination] [port]\n"
)
_BUSYBOX_USAGE: Final = """Usage: nc [OPTIONS] HOST PORT  - connect
nc [OPTIONS] -l -p PORT [HOST] [PORT]  - listen

	-e PROG	Run PROG after connect (must be last)
	-l	Listen mode, for inbound connects
	-lk	With -e, provides persistent server
	-p PORT	Local port
	-s ADDR	Local address
	-w SEC	Timeout for connects and final net reads
	-i SEC	Delay interval for lines sent
	-n	Don't do DNS resolution
	-u	UDP mode
	-b	Allow broadcasts
	-v	Verbose
	-o FILE	Hex dump traffic
	-z	Zero-I/O mode (scanning)
"""
_NAMES: Final = {
    22: "ssh", 25: "smtp", 53: "domain", 80: "http", 110: "pop3", 123: "ntp", 143: "imap2", 389: "ldap", 443: "https",
    636: "ldaps", 993: "imaps", 995: "pop3s", 1433: "ms-sql-s", 1883: "mqtt", 2049: "nfs", 2379: "etcd-client", 3128: "squid",
    3306: "mysql", 5432: "postgresql", 5672: "amqp", 6379: "redis", 6443: "*", 8080: "http-alt", 9418: "git", 11211: "*",
}  # fmt: skip
"""Names of ports in Debian's /etc/services; "*" for none."""
_PORTS: Final = {name: port for port, name in _NAMES.items() if name != "*"}
_CONNECT_TIMEOUT_MS: Final = 130_000


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run OpenBSD nc.

    Source: tests/golden/programs/nettools.
    """
    try:
        options = parse_options(argv[1:], "46CDdFhklNnrStUuvZzI:i:M:m:O:P:p:q:s:T:V:W:w:X:x:", {})
    except UsageProblem as problem:
        return Output("", f"nc: {problem.text}\n{_USAGE}", 1)
    words = options.operands
    if not words or options.has("h"):
        return Output("", _USAGE, 1)
    if len(words) < 2:
        return Output("", "nc: missing port number\n", 1)
    host, text = words[0], words[1]
    ports = _port_list(text)
    if not ports:
        number = text.rpartition("-")[2]
        if number.isdigit():
            return Output("", f"nc: port number too large: {text}\n", 1)
        return Output("", f'nc: service "{text}" unknown\n', 1)
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        why = RESOLVER_ERRORS.get(found.failure, RESOLVER_ERRORS[DNS_TIMEOUT])
        return Output("", f'nc: getaddrinfo for host "{host}" port {text}: {why}\n', 1)
    addresses = ("::1", *found.addresses) if host == "localhost" else found.addresses
    err: list[str] = []
    out: list[str] = []
    is_good = False
    for port in ports:
        if _try(process, wire, options, host, addresses, port, out, err):
            is_good = True
    return Output("".join(out), "".join(err), 0 if is_good else 1)


def _port_list(text: str) -> list[int]:
    if text in _PORTS:
        return [_PORTS[text]]
    first, dash, last = text.partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        return []
    low, high = int(first), int(last or first)
    return list(range(low, min(high, low + 1000) + 1)) if 0 < low <= high < 65536 else []


def _try(
    process: Process, wire: Wire, options: Options, host: str, addresses: tuple[str, ...], port: int, out: list[str],
    err: list[str],
) -> bool:  # fmt: skip
    is_udp = options.has("u")
    kind = "udp" if is_udp else "tcp"
    wait = options.value("w")
    for address in addresses:
        place = host if host == address else f"{host} ({address})"
        connection = Connection(REFUSED) if address == "::1" else wire.connect(address, port, kind.upper())
        failure = connection.failure
        if failure == TIMEOUT:
            sleep(process, int(wait) * 1000 if wait.isdigit() else _CONNECT_TIMEOUT_MS)
            if options.has("v"):
                why = (
                    "timed out: Operation now in progress"
                    if wait.isdigit()
                    else "failed: Connection timed out"
                )
                err.append(f"nc: connect to {place} port {port} ({kind}) {why}\n")
            continue
        if failure:
            sleep(process, 1)
            if options.has("v") and not is_udp:
                err.append(
                    f"nc: connect to {place} port {port} ({kind}) failed: {ERRORS.get(failure, failure)}\n"
                )
            continue
        if options.has("v"):
            name = _NAMES.get(port, "*")
            err.append(f"Connection to {place} {port} port [{kind}/{name}] succeeded!\n")
        if is_udp and options.has("z"):
            sleep(process, 3_000)
        if options.has("z"):
            wire.exchange(connection, Request(protocol=kind))
        else:
            _talk(process, wire, address, port, out, int(wait) * 1000 if wait.isdigit() else 0)
        return True
    return False


def _talk(process: Process, wire: Wire, address: str, port: int, out: list[str], wait_ms: int) -> None:
    """Send standard input and print what comes back."""
    connection = wire.connect(address, port)
    text = process.stdin
    reply = wire.exchange(connection, _typed(text, wait_ms))
    if reply.failure:
        sleep(process, wait_ms or 1)
        return
    sleep(process, reply.latency_ms)
    out.append(_raw(reply, text))


def _typed(text: str, wait_ms: int) -> Request:
    """Return what a person typed as the request that it is."""
    first = text.partition("\n")[0].strip()
    words = first.split()
    if len(words) == 3 and words[2].startswith("HTTP/"):
        headers: dict[str, str] = {}
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        end = lines.index("") if "" in lines[:-1] else len(lines)
        for line in lines[1:end]:
            name, colon, value = line.strip().partition(":")
            if colon:
                headers[name.strip()] = value.strip()
        body = text.split("\n", end + 1)[-1] if end < len(lines) else ""
        length = next((value for name, value in headers.items() if name.lower() == "content-length"), "")
        if end == len(lines):
            headers[CUT_SHORT] = "headers"
        elif length.isdigit() and len(body.encode()) < int(length):
            headers[CUT_SHORT] = "body"
        return Request(
            method=words[0],
            path=words[1],
            host=headers.get("Host", ""),
            headers=headers,
            body=body,
            timeout_ms=wait_ms,
        )
    return Request(method="", path="", body=text, protocol="redis", timeout_ms=wait_ms or 5_000)


def _raw(reply: Reply, _text: str) -> str:
    if any(name == FOREIGN for name, _ in reply.headers) or not reply.status:
        return reply.body
    lines = [
        f"HTTP/1.1 {reply.status}",
        *(f"{name}: {value}" for name, value in reply.headers if not name.startswith(":")),
        "",
        reply.body,
    ]
    return "\r\n".join(lines)


def run_busybox(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox nc as upstream builds it.

    Source: tests/golden/programs/busybox-upstream.
    """
    return _run_busybox(process, argv, wire, "lkp:s:w:i:nubvo:ze:")


def run_debian(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run the nc of Debian's BusyBox, which has neither -z nor -v.

    Source: tests/golden/programs/nettools (busyboxnc).
    """
    return _run_busybox(process, argv, wire, "lp:w:i:f:e:")


def _run_busybox(process: Process, argv: list[str], wire: Wire, letters: str) -> Output:
    try:
        options = parse_options(argv[1:], letters, {})
    except UsageProblem as problem:
        return Output("", f"nc: {problem.text}\n{BANNER}{_BUSYBOX_USAGE}", 1)
    words = options.operands
    if not words:
        return Output("", BANNER + _BUSYBOX_USAGE, 1)
    if len(words) < 2:
        return Output("", "", 1)
    host, text = words[0], words[1]
    port = int(text) if text.isdigit() else _PORTS.get(text, 0)
    if not 0 < port < 65536:
        return Output("", f"nc: bad port '{text}'\n", 1)
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        return Output("", f"nc: bad address '{host}'\n", 1)
    address = found.addresses[0]
    wait = options.value("w")
    wait_ms = int(wait) * 1000 if wait.isdigit() else 0
    connection = wire.connect(address, port, "UDP" if options.has("u") else "TCP")
    failure = connection.failure
    where = f"{host} ({address}:{port})"
    if failure == TIMEOUT:
        sleep(process, wait_ms or _CONNECT_TIMEOUT_MS)
        return Output("", f"nc: {where}: Connection timed out\n", 1)
    if failure:
        sleep(process, 1)
        # With -z, a port that refuses is what a scan expects: nothing is said of it.
        is_silent = options.has("z") and failure == REFUSED
        return Output("", "" if is_silent else f"nc: {where}: {ERRORS.get(failure, failure)}\n", 1)
    if options.has("u") and options.has("z"):
        sleep(process, wait_ms or 1_000)
    err = f"{where} open\n" if options.has("v") else ""
    if options.has("z"):
        wire.exchange(connection, Request(protocol="udp" if options.has("u") else "tcp"))
        return Output("", err, 0)
    out: list[str] = []
    _talk(process, wire, address, port, out, wait_ms)
    return Output("".join(out), err, 0)


def run_telnet(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox telnet."""
    words = [word for word in argv[1:] if not word.startswith("-")]
    if not words:
        return Output(
            "", BANNER + "Usage: telnet [-a] [-l USER] HOST [PORT]\n\nConnect to telnet server\n", 1
        )
    host = words[0]
    port = int(words[1]) if len(words) > 1 and words[1].isdigit() else 23
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        return Output("", f"telnet: bad address '{host}'\n", 1)
    address = found.addresses[0]
    failure = wire.connect(address, port).failure
    if failure:
        sleep(process, _CONNECT_TIMEOUT_MS if failure == TIMEOUT else 1)
        return Output(
            "", f"telnet: can't connect to remote host ({address}): {ERRORS.get(failure, failure)}\n", 1
        )
    return Output(f"Connected to {host}\n")
