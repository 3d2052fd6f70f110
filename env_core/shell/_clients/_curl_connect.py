"""How curl gets a connection: proxies, its own DNS cache, addresses in turn."""

from __future__ import annotations

from env_core.shell._clients import _curl_output as meter
from env_core.shell._clients import _url
from env_core.shell._clients._curl_request import Requesting
from env_core.shell._clients._url import UrlProblem
from env_core.shell._clients._wire import ERRORS, TIMEOUT, Connection


class Connecting(Requesting):
    """Opens connections."""

    __slots__ = ()

    def _target(self) -> tuple[str, int, bool]:
        """Return the host and port to connect to, and whether it is a proxy."""
        options = self.session.options
        env = self.session.process.env
        proxy = options.text("proxy") or env.get(f"{self.url.scheme}_proxy", "") or env.get("all_proxy", "")
        if proxy and self.url.host not in (options.text("noproxy") or env.get("no_proxy", "")).split(","):
            try:
                found = _url.parse(proxy)
            except UrlProblem:
                return self.url.host, self.url.port, False
            return found.host, found.port if found.has_port else 1080, True
        for entry in options.all("connect-to"):
            parts = entry.split(":")
            if len(parts) == 4 and parts[0] in ("", self.url.host) and parts[1] in ("", str(self.url.port)):
                return (
                    parts[2] or self.url.host,
                    int(parts[3]) if parts[3].isdigit() else self.url.port,
                    False,
                )
        return self.url.host, self.url.port, False

    def _open(self) -> tuple[int, Connection] | None:
        session = self.session
        options = session.options
        host, port, is_proxy = self._target()
        kept = session.open_connections.get((self.url.scheme, host, port))
        if kept is not None:
            session.tell("Found bundle for host: 0x55d5c9bdd440 [serially]")
            session.tell("Can not multiplex, even if we wanted to")
            session.tell(f"Re-using existing connection #{kept[0]} with host {host}")
            return kept
        number = session.connections
        if options.text("unix-socket"):
            self._open_socket(host, port, number, options.text("unix-socket"))
            return None
        addresses = self._addresses(host, port, number, is_proxy=is_proxy)
        if addresses is None:
            return None
        if options.has("ipv6") and not any(":" in each for each in addresses):
            self.code, self.message = 7, "Couldn't connect to server"
            if session.has_meter:
                session.err.append(meter.START + "\n")
            session.tell(f"Closing connection {number}")
            return None
        return self._connect(host, port, addresses, number)

    def _open_socket(self, host: str, port: int, number: int, path: str) -> None:
        self.session.tell(f"  Trying {path}:0...")
        self.session.tell(f"Immediate connect fail for {path}: No such file or directory")
        self.fail(
            7,
            f"Failed to connect to {host} port {port} after 0 ms: Couldn't connect to server",
            number=number,
        )

    def _addresses(self, host: str, port: int, number: int, *, is_proxy: bool) -> tuple[str, ...] | None:
        session = self.session
        for entry in session.options.all("resolve"):
            parts = entry.lstrip("+").split(":", 2)
            if len(parts) == 3 and parts[0] == host and parts[1] == str(port):
                session.tell(f"Hostname {host} was found in DNS cache")
                return tuple(each.strip("[]") for each in parts[2].split(","))
        bare = host.strip("[]")
        if ":" in bare:
            return (bare,)
        known = session.known_hosts.get(host)
        if known is not None:
            session.tell(f"Hostname {host} was found in DNS cache")
            return known
        found = session.wire.resolve(host)
        limits = [each for each in (session.options.milliseconds("connect-timeout"), self.limit_ms()) if each]
        if limits and found.latency_ms > min(limits):
            self.wait(min(limits), is_last=True)
            self.fail(28, f"Resolving timed out after {self.elapsed_ms} milliseconds", number=number)
            return None
        self.wait(found.latency_ms)
        if not found.addresses:
            self.code = 5 if is_proxy else 6
            self.message = f"Could not resolve {'proxy' if is_proxy else 'host'}: {host}"
            if session.is_verbose:
                session.tell(self.message)
                session.tell(f"Closing connection {number}")
            elif session.has_meter:
                session.err.append(meter.START)
            return None
        self.name_ms = self.elapsed_ms
        addresses = found.addresses
        if host == "localhost" and not session.options.has("ipv4"):
            addresses = ("::1", *addresses)
        if bare != addresses[0]:
            session.known_hosts[host] = addresses
        return addresses

    def _connect(
        self, host: str, port: int, addresses: tuple[str, ...], number: int
    ) -> tuple[int, Connection] | None:
        session = self.session
        started_ms = self.elapsed_ms
        connection = Connection(failure=TIMEOUT)
        session.connections += 1
        self.new_connections += 1
        for address in addresses:
            shown = f"[{address}]" if ":" in address else address
            session.tell(f"  Trying {shown}:{port}...")
            connection = (
                Connection(failure="refused", address=address)
                if address == "::1"
                else session.wire.connect(address, port)
            )
            if not connection.failure:
                self.wait(1)
                self.address = address
                self.connect_ms = self.elapsed_ms
                session.tell(f"Connected to {host} ({address}) port {port} (#{number})")
                session.open_connections[(self.url.scheme, host, port)] = (number, connection)
                return number, connection
            if connection.failure == TIMEOUT:
                self._time_out(host, port, number)
                return None
            self.wait(3 if connection.failure == "refused" else 5)
            session.tell(
                f"connect to {address} port {port} failed: {ERRORS.get(connection.failure, connection.failure)}"
            )
        spent = self.elapsed_ms - started_ms + self.name_ms
        self.fail(
            7,
            f"Failed to connect to {host} port {port} after {spent} ms: Couldn't connect to server",
            number=number,
        )
        return None

    def _time_out(self, host: str, port: int, number: int) -> None:
        """Nothing answers the connection attempt."""
        options = self.session.options
        whole_ms, connect_ms = self.limit_ms(), options.milliseconds("connect-timeout")
        if whole_ms and (not connect_ms or whole_ms <= connect_ms):
            self.wait(whole_ms, is_last=True)
            self.fail(28, f"Connection timed out after {self.elapsed_ms} milliseconds", number=number)
            return
        limit = connect_ms or 130_000
        self.wait(max(limit - self.elapsed_ms, 1), is_last=True)
        why = "Timeout was reached" if connect_ms else "Couldn't connect to server"
        if connect_ms:
            self.session.tell(f"ipv4 connect timeout after {limit - 4}ms, move on!")
        else:
            self.session.tell(f"connect to {host} port {port} failed: Connection timed out")
        self.fail(
            28, f"Failed to connect to {host} port {port} after {self.elapsed_ms} ms: {why}", number=number
        )
