"""What Go's net package says of connections, names and listeners that fail.

Source: tests/golden/promql/go_net (go1.26: dial), tests/golden/programs/app-go.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.programs._model import (
    DNS_TIMEOUT,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
)

NETWORK_UNREACHABLE: Final = "network-unreachable"
FILTERED: Final = "filtered"
PROHIBITED: Final = "prohibited"
"""A route forbids it."""
MISSING: Final = "missing"
"""A socket's file is not there."""
LAME: Final = "lame"
"""A name server that refers to others without an answer."""
IN_USE: Final = "in-use"
NOT_LOCAL: Final = "not-local"
BROKEN_PIPE: Final = "broken-pipe"
FORBIDDEN: Final = "forbidden"

_ERRNO: Final = {
    REFUSED: "connection refused", UNREACHABLE: "no route to host", FILTERED: "no route to host",
    NETWORK_UNREACHABLE: "network is unreachable", RESET: "connection reset by peer", PROHIBITED: "permission denied",
    MISSING: "no such file or directory", IN_USE: "address already in use", NOT_LOCAL: "cannot assign requested address",
    BROKEN_PIPE: "broken pipe", FORBIDDEN: "permission denied",
}  # fmt: skip
_LOOKUPS: Final = {NXDOMAIN: "no such host", SERVFAIL: "server misbehaving", LAME: "lame referral"}
_NETWORKS: Final = frozenset(
    {"tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix", "unixgram", "unixpacket", "ip", "ip4", "ip6"}
)
NAME_SERVER: Final = "10.96.0.10"
"""What a container's resolv.conf names unless it is told otherwise."""
_PORT_MAX: Final = 65_535
_SERVICES: Final = {
    "http": 80,
    "https": 443,
    "domain": 53,
    "ssh": 22,
    "smtp": 25,
    "ftp": 21,
    "telnet": 23,
    "imap": 143,
    "pop3": 110,
}
"""Names of ports that Go's resolver finds in /etc/services or knows by itself."""


class GoError(NamedTuple):
    """An error value: its text, the types that unwrapping shows, and Timeout() where it is a net.Error."""

    text: str
    chain: tuple[str, ...]
    is_timeout: bool | None = None


def system_error(operation: str, network: str, address: str, call: str, failure: str) -> GoError:
    """Return the error of a system call on a socket: `dial tcp 10.0.0.1:80: connect: connection refused`."""
    text = f"{operation} {network} {address}: {call}: {_ERRNO[failure]}"
    return GoError(text, ("*net.OpError", "*os.SyscallError", "syscall.Errno"), is_timeout=False)


def connect_error(network: str, address: str, failure: str, *, is_context: bool = False) -> GoError:
    """Return the error of dialling an address; time-outs come of the dialler, or of the context's deadline."""
    if failure == TIMEOUT:
        last = "*poll.DeadlineExceededError" if is_context else "*net.timeoutError"
        return GoError(f"dial {network} {address}: i/o timeout", ("*net.OpError", last), is_timeout=True)
    return system_error("dial", network, address, "connect", failure)


def lookup_error(host: str, failure: str, server: str, *, own: str = "", asked: str = "") -> GoError:
    """Return the error of looking a name up at a name server.

    `own` is the address that the query left from when the resolver itself gave up; "" when the dialler's time-out
    passed first. `asked` is where the query really went.
    """
    asked = asked or server
    if not host:
        return GoError("lookup : no such host", ("*net.DNSError",), is_timeout=False)
    where = f"lookup {host} on {server}:53"
    if failure in (DNS_TIMEOUT, TIMEOUT):
        if not own:
            return GoError(
                f"lookup {host}: i/o timeout", ("*net.DNSError", "*net.timeoutError"), is_timeout=True
            )
        text = f"{where}: read udp {own}:43210->{asked}:53: i/o timeout"
        return GoError(text, ("*net.DNSError",), is_timeout=True)
    if failure == REFUSED:
        text = f"{where}: read udp {own}:43210->{asked}:53: read: connection refused"
        return GoError(text, ("*net.DNSError",), is_timeout=False)
    return GoError(f"{where}: {_LOOKUPS[failure]}", ("*net.DNSError",), is_timeout=False)


def in_operation(operation: str, network: str, error: GoError) -> GoError:
    """Return an error as net.OpError shows it when no address was reached yet: `dial tcp: …`."""
    return GoError(f"{operation} {network}: {error.text}", ("*net.OpError", *error.chain), error.is_timeout)


def address_error(operation: str, network: str, address: str) -> GoError | None:
    """Return what is wrong with an address in the form host:port, or None.

    Source: Go net.SplitHostPort, net.LookupPort.
    """
    if network not in _NETWORKS:
        text = f"{operation} {network}: unknown network {network}"
        return GoError(text, ("*net.OpError", "net.UnknownNetworkError"), is_timeout=False)
    if network.startswith("unix"):
        return None
    problem, port = _split(address)
    if problem:
        return in_operation(operation, network, _address(address, problem))
    number = port.removeprefix("-").removeprefix("+")
    if number.isdigit() and number.isascii():
        if int(port) > _PORT_MAX or int(port) < 0:
            return in_operation(operation, network, _address(port, "invalid port"))
        return None
    if port and port.lower() not in _SERVICES:
        text = f"lookup {network}/{port}: unknown port"
        return in_operation(operation, network, GoError(text, ("*net.DNSError",), is_timeout=False))
    return None


def _address(address: str, problem: str) -> GoError:
    return GoError(f"address {address}: {problem}", ("*net.AddrError",), is_timeout=False)


def _split(address: str) -> tuple[str, str]:
    """Return what is wrong with an address, and its port."""
    last = address.rfind(":")
    if last < 0:
        return "missing port in address", ""
    if address.startswith("["):
        end = address.find("]")
        if end < 0:
            return "missing ']' in address", ""
        if end + 1 == len(address):
            return "missing port in address", ""
        if end + 1 != last:
            is_colon = address[end + 1] == ":"
            return "too many colons in address" if is_colon else "missing port in address", ""
        inner, outer = address[1:end], address[end + 1 :]
    else:
        if ":" in address[:last]:
            return "too many colons in address", ""
        inner, outer = address[:last], address[last:]
    if "[" in inner or "[" in outer:
        return "unexpected '[' in address", ""
    if "]" in outer or ("]" in inner and not address.startswith("[")):
        return "unexpected ']' in address", ""
    return "", address[last + 1 :]


def listen_error(network: str, address: str, failure: str) -> GoError | None:
    """Return why a server cannot listen on an address: a wrong address, or what the system says; None for neither."""
    found = address_error("listen", network, address)
    if found is not None or not failure:
        return found
    return system_error("listen", network, address, "bind", failure)


def closed(operation: str, network: str, own: str, address: str) -> GoError:
    """Return the error of using a connection that was closed here."""
    text = f"{operation} {network} {own}:43210->{address}: use of closed network connection"
    return GoError(text, ("*net.OpError", "poll.errNetClosing"), is_timeout=False)


def stream_error(operation: str, network: str, own: str, address: str, failure: str) -> GoError:
    """Return the error of reading from or writing to a connection that broke."""
    return system_error(operation, network, f"{own}:43210->{address}", operation, failure)
