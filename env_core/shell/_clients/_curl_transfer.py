"""One transfer of curl: resolving, connecting, sending, receiving, with everything that -v and the meter tell of it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from typing import Final

from env_core.programs._http import FOREIGN, REASON, REASONS, VERSION
from env_core.shell._clients import _curl_output as meter
from env_core.shell._clients import _url
from env_core.shell._clients._curl_options import Options
from env_core.shell._clients._url import Url, UrlProblem
from env_core.shell._clients._wire import (
    EMPTY,
    ERRORS,
    RESET,
    TIMEOUT,
    Connection,
    Reply,
    Request,
    Wire,
    sleep,
)
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError

AGENT: Final = "curl/7.88.1"
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_WRONG_VERSION: Final = "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number"
_HTTP_SCHEMES: Final = ("http", "https")
_OTHER_SCHEMES: Final = (
    "ftp",
    "ftps",
    "telnet",
    "dict",
    "gopher",
    "file",
    "ldap",
    "imap",
    "smtp",
    "pop3",
    "mqtt",
    "rtsp",
    "tftp",
    "scp",
    "sftp",
    "smb",
)


@dataclass(slots=True)
class Session:
    """What lives as long as one invocation of curl: its process, options, connections, DNS cache."""

    process: Process
    wire: Wire
    options: Options
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    known_hosts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    open_connections: dict[tuple[str, str, int], tuple[int, Connection]] = field(default_factory=dict)
    connections: int = 0
    is_deadline_over: bool = False

    @property
    def is_verbose(self) -> bool:
        """Whether -v is on."""
        return self.options.has("verbose")

    @property
    def has_meter(self) -> bool:
        """Whether the progress meter is drawn: stdout is never a terminal here."""
        flags = self.options.flags
        return not flags.get("silent") and flags.get("progress-meter", True)

    def tell(self, text: str) -> None:
        """Print a line of -v."""
        if self.is_verbose:
            self.err.append(f"* {text}\n")


@dataclass(slots=True)
class Transfer:
    """The state and outcome of one transfer (one attempt at one URL, redirects included)."""

    session: Session
    url: Url
    output: str | None = ""
    """"" for stdout, a file name otherwise."""
    code: int = 0
    message: str = ""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    received: int = 0
    expected: int | None = None
    sent: int = 0
    elapsed_ms: int = 0
    name_ms: int = 0
    connect_ms: int = 0
    start_ms: int = 0
    redirects: int = 0
    redirect_ms: int = 0
    address: str = ""
    method: str = "GET"
    header_size: int = 0
    request_size: int = 0
    http_version: str = "1.1"
    has_drawn_start: bool = False
    drawn_seconds: int = 0
    new_connections: int = 0
    redirect_url: str = ""

    # Time and the meter

    def draw_start(self) -> None:
        """Draw the meter's head and first line."""
        if self.session.has_meter and not self.has_drawn_start:
            self.session.err += [meter.HEADER, meter.START]
            self.has_drawn_start = True

    def wait(self, duration_ms: int, *, is_last: bool = False) -> None:
        """Let time pass, drawing the meter each second; the last second's line is left to `finish` when it ends there."""
        before = self.elapsed_ms
        if sleep(self.session.process, duration_ms):
            self.session.is_deadline_over = True
        self.elapsed_ms = before + duration_ms
        if not self.session.has_meter:
            return
        whole = self.elapsed_ms // 1000
        until = whole - 1 if is_last else whole
        for second in range(self.drawn_seconds + 1, until + 1):
            self.session.err.append(meter.tick(second))
        self.drawn_seconds = max(until, self.drawn_seconds)

    def finish_meter(self, *, is_whole: bool) -> None:
        """Draw the meter's last state and end its line."""
        if not self.session.has_meter:
            return
        if self.received or self.sent or is_whole:
            line = meter.final(self.received, self.expected, self.sent, self.elapsed_ms)
        elif self.elapsed_ms >= 1000:
            line = meter.tick(self.elapsed_ms // 1000)
        else:
            line = meter.START
        self.session.err.append(line + "\n")

    def limit_ms(self) -> int:
        """Return what is left of --max-time, 0 for no limit."""
        limit = self.session.options.milliseconds("max-time")
        return max(limit - self.elapsed_ms, 1) if limit else 0

    def fail(
        self,
        code: int,
        message: str,
        *,
        has_meter_end: bool = True,
        is_told: bool = True,
        number: int | None = None,
    ) -> None:
        """End the transfer with an error."""
        self.code, self.message = code, message
        if is_told:
            self.session.tell(message)
        if has_meter_end:
            self.finish_meter(is_whole=False)
        if number is not None:
            self.session.tell(f"Closing connection {number}")

    # Stages

    def run(self) -> None:
        """Do the transfer."""
        scheme = self.url.scheme
        if scheme not in _HTTP_SCHEMES and scheme not in _OTHER_SCHEMES:
            self.code, self.message = 1, f'Protocol "{scheme}" not supported or disabled in libcurl'
            return
        if scheme == "file":
            self._read_file()
            return
        self.draw_start()
        while True:
            opened = self._open()
            if opened is None:
                return
            number, connection = opened
            if scheme not in _HTTP_SCHEMES:
                self._talk(number)
                return
            following = self._exchange(number, connection)
            if following is None:
                return
            self.url = following
            self.redirects += 1

    def _read_file(self) -> None:
        path = self.url.path
        try:
            text = self.session.process.fs.read(path)
        except ShellFileError:
            self.code, self.message = 37, f"Couldn't open file {path}"
            return
        self.received = len(text)
        self._write(text)

    def _talk(self, number: int) -> None:
        """Wait on a connection of another protocol, as telnet does until its input ends."""
        limit = self.limit_ms()
        if limit:
            self.wait(limit, is_last=True)
            self.fail(
                28,
                f"Operation timed out after {self.elapsed_ms} milliseconds with 0 bytes received",
                number=number,
            )
            return
        self.finish_meter(is_whole=True)
        self.session.tell(f"Closing connection {number}")

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

    # The exchange

    def _request(self) -> tuple[Request, list[tuple[str, str]], str]:
        options = self.session.options
        body = self._body()
        if options.has("head"):
            method = "HEAD"
        elif options.text("upload-file"):
            method = "PUT"
        else:
            method = "POST" if body is not None or options.all("form") else "GET"
        method = options.text("request") or method
        if (
            self.redirects
            and body is not None
            and self.status in (301, 302, 303)
            and not options.has(f"post{self.status}")
        ):
            body = None
            method = options.text("request") or "GET"
        self.method = method
        headers = self._headers(body)
        sent = {name: value for name, value in headers if name != "Host" or value}
        version = "1.0" if options.has("http1.0") else "1.1"
        if version != "1.1":
            sent[VERSION] = version
        request = Request(
            method=method, path=self._path(), host=self.url.authority, headers=sent, body=body or "",
            protocol="tls" if self.url.scheme == "https" else "http", timeout_ms=self.limit_ms(),
        )  # fmt: skip
        return request, headers, version

    def _path(self) -> str:
        options = self.session.options
        path = self.url.path
        if options.has("get") and options.posted:
            joined = "&".join(self._data_parts())
            path += ("&" if "?" in path else "?") + joined
        return path

    def _data_parts(self) -> list[str]:
        parts: list[str] = []
        for name, value in self.session.options.posted:
            if name != "data-raw" and value.startswith("@"):
                try:
                    text = (
                        self.session.process.stdin
                        if value == "@-"
                        else self.session.process.fs.read(self.session.process.path(value[1:]))
                    )
                except ShellFileError:
                    text = ""
                parts.append(
                    text if name in ("data-binary", "json") else text.replace("\n", "").replace("\r", "")
                )
            elif name == "data-urlencode":
                key, equals, rest = value.partition("=")
                parts.append((f"{key}=" if equals and key else "") + _quoted(rest if equals else value))
            else:
                parts.append(value)
        return parts

    def _body(self) -> str | None:
        options = self.session.options
        if options.has("get"):
            return None
        if options.posted:
            joiner = "" if options.posted[-1][0] == "json" else "&"
            return joiner.join(self._data_parts())
        forms = options.all("form")
        if forms:
            return self._multipart(forms)
        path = options.text("upload-file")
        if path:
            try:
                return (
                    self.session.process.stdin
                    if path == "-"
                    else self.session.process.fs.read(self.session.process.path(path))
                )
            except ShellFileError:
                return ""
        return None

    def _multipart(self, forms: list[str]) -> str:
        boundary = "------------------------8d2f6c1c3a5b7e90"
        parts = []
        for form in forms:
            name, _, value = form.partition("=")
            if value.startswith(("@", "<")):
                try:
                    text = self.session.process.fs.read(
                        self.session.process.path(value[1:].partition(";")[0])
                    )
                except ShellFileError:
                    text = ""
                file = value[1:].partition(";")[0].rpartition("/")[2]
                parts.append(
                    f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: application/octet-stream\r\n\r\n{text}\r\n'
                )
            else:
                parts.append(
                    f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                )
        return "".join(parts) + f"--{boundary}--\r\n"

    def _headers(self, body: str | None) -> list[tuple[str, str]]:
        options = self.session.options
        custom: dict[str, tuple[str, str]] = {}
        for line in options.all("header"):
            name, colon, value = line.partition(":")
            if colon:
                custom[name.strip().lower()] = (name.strip(), value.strip())
            elif line.endswith(";"):
                custom[line[:-1].strip().lower()] = (line[:-1].strip(), "")
        found: list[tuple[str, str]] = [("Host", custom.pop("host", ("", self.url.authority))[1])]
        user = options.text("user") or self.url.user
        if user and "authorization" not in custom:
            self.session.tell(f"Server auth using Basic with user '{user.partition(':')[0]}'")
            found.append(("Authorization", "Basic " + b64encode(user.encode()).decode()))
        elif options.text("oauth2-bearer"):
            found.append(("Authorization", f"Bearer {options.text('oauth2-bearer')}"))
        is_json = any(name == "json" for name, _ in options.posted)
        standard: list[tuple[str, str]] = []
        if options.text("range"):
            standard.append(("Range", f"bytes={options.text('range')}"))
        standard.append(("User-Agent", options.text("user-agent", AGENT)))
        standard.append(("Accept", "application/json" if is_json else "*/*"))
        if options.has("compressed"):
            standard.append(("Accept-Encoding", "deflate, gzip, br, zstd"))
        if options.text("referer"):
            standard.append(("Referer", options.text("referer")))
        cookies = "; ".join(each for each in options.all("cookie") if "=" in each)
        if cookies:
            standard.append(("Cookie", cookies))
        for name, value in standard:
            if name.lower() not in custom:
                found.append((name, value))
        if is_json and "content-type" not in custom:
            custom["content-type"] = ("Content-Type", "application/json")
        found += [
            (name, value)
            for name, value in custom.values()
            if value or (options.all("header") and any(line.endswith(";") for line in options.all("header")))
        ]
        if body is not None:
            if "content-length" not in custom:
                found.append(("Content-Length", str(len(body.encode()))))
            if "content-type" not in custom and not options.text("upload-file"):
                kind = (
                    "multipart/form-data; boundary=------------------------8d2f6c1c3a5b7e90"
                    if options.all("form")
                    else "application/x-www-form-urlencoded"
                )
                found.append(("Content-Type", kind))
        return found

    def _exchange(self, number: int, connection: Connection) -> Url | None:
        """Send the request and take the answer in; return where a redirect leads, None at the end."""
        session = self.session
        request, headers, version = self._request()
        if request.protocol == "tls" and not self._handshake(number, connection, request):
            return None
        if session.is_verbose:
            lines = [
                f"{request.method} {request.path} HTTP/{version}",
                *(f"{name}: {value}" for name, value in headers),
                "",
            ]
            session.err += [f"> {line}\r\n" for line in lines]
            if request.body:
                session.err.append(f"}} [{len(request.body.encode())} bytes data]\n")
        self.request_size += (
            4
            + len(request.path)
            + len(request.method)
            + 11
            + sum(len(name) + len(value) + 4 for name, value in headers)
        )
        self.sent = len(request.body.encode())
        if session.options.has("http2-prior-knowledge") and request.protocol == "http":
            reply = Reply(failure=EMPTY, latency_ms=1)  # a server of HTTP/1 makes nothing of the preface
        else:
            reply = session.wire.exchange(connection, request)
        foreign = next((value for name, value in reply.headers if name == FOREIGN), None)
        if foreign is not None:
            self._not_http(number, reply, foreign)
            return None
        if reply.failure and not reply.status:
            self._no_answer(number, reply)
            return None
        self.wait(reply.latency_ms, is_last=True)
        self.start_ms = self.elapsed_ms
        return self._answered(number, request, reply)

    def _handshake(self, number: int, connection: Connection, request: Request) -> bool:
        session = self.session
        options = session.options
        session.tell("ALPN: offers h2,http/1.1" if not options.has("http1.1") else "ALPN: offers http/1.1")
        if session.is_verbose:
            session.err += [
                "} [5 bytes data]\n",
                "* TLSv1.3 (OUT), TLS handshake, Client hello (1):\n",
                "} [512 bytes data]\n",
            ]
            if not options.has("insecure"):
                session.err.append(
                    f"*  CAfile: {options.text('cacert', '/etc/ssl/certs/ca-certificates.crt')}\n*  CApath: /etc/ssl/certs\n"
                )
        reply = session.wire.exchange(connection, request)
        session.open_connections.clear()
        if reply.failure == TIMEOUT:
            limit, connect_ms = self.limit_ms(), options.milliseconds("connect-timeout")
            if connect_ms and (not limit or connect_ms <= limit):
                self.wait(max(connect_ms - self.elapsed_ms, 1), is_last=True)
                self.fail(28, "SSL connection timeout", number=number)
            else:
                self.wait(limit or 300_000, is_last=True)
                text = (
                    f"Connection timed out after {self.elapsed_ms} milliseconds"
                    if limit
                    else "SSL connection timeout"
                )
                self.fail(28, text, number=number)
        elif reply.failure == EMPTY:
            where = f"{self.url.host}:{self.url.port}"
            self.fail(35, f"OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to {where} ", number=number)
        elif reply.failure:
            session.tell("Recv failure: Connection reset by peer")
            where = f"{self.url.host}:{self.url.port}"
            session.tell(f"OpenSSL SSL_connect: Connection reset by peer in connection to {where} ")
            self.fail(35, "Recv failure: Connection reset by peer", is_told=False, number=number)
        else:
            if session.is_verbose:
                session.err.append("{ [5 bytes data]\n")
            self.fail(35, _WRONG_VERSION, number=number)
        return False

    def _not_http(self, number: int, reply: Reply, foreign: str) -> None:
        self.wait(reply.latency_ms)
        if foreign.startswith("HTTP/"):
            kind = foreign.partition("\n")[0]
            code, text = {
                "bad-header": (8, "Header without colon"),
                "bad-length": (8, "Invalid Content-Length: value"),
            }.get(kind.rpartition(" ")[2], (1, "Unsupported HTTP version in response"))
        else:
            code, text = 1, "Received HTTP/0.9 when not allowed"
        self.fail(code, text, number=number)

    def _no_answer(self, number: int, reply: Reply) -> None:
        session = self.session
        session.open_connections.clear()
        if reply.failure == TIMEOUT:
            if self._too_slow(number):
                return
            limit = self.limit_ms()
            self.wait(limit or max(reply.latency_ms, 1), is_last=True)
            text = f"Operation timed out after {self.elapsed_ms} milliseconds with 0 bytes received"
            self.fail(28, text, number=number)
            return
        self.wait(reply.latency_ms)
        if reply.failure == RESET:
            self.fail(56, "Recv failure: Connection reset by peer", number=number)
        else:
            self.fail(52, "Empty reply from server", number=number)

    def _too_slow(self, number: int) -> bool:
        """Give up for --speed-limit, if that comes before --max-time."""
        options = self.session.options
        span = options.number("speed-time", 30 if options.all("speed-limit") else 0)
        limit = self.limit_ms()
        if not span or (limit and limit <= (span + 1) * 1000):
            return False
        self.wait((span + 1) * 1000, is_last=True)
        rate = options.number("speed-limit", 1)
        text = f"Operation too slow. Less than {rate} bytes/sec transferred the last {span} seconds"
        self.fail(28, text, number=number)
        return True

    def _answered(self, number: int, request: Request, reply: Reply) -> Url | None:
        session = self.session
        options = session.options
        self.status = reply.status
        pseudo = {name: value for name, value in reply.headers if name.startswith(":")}
        headers = tuple(pair for pair in reply.headers if not pair[0].startswith(":"))
        self.headers = headers
        self.http_version = pseudo.get(VERSION, "1.1")
        reason = pseudo.get(REASON, REASONS.get(reply.status, ""))
        status_line = f"HTTP/{self.http_version} {reply.status} {reason}"
        lower = {name.lower(): value for name, value in headers}
        location = lower.get("location", "")
        is_closing = (
            self.http_version == "1.0"
            or lower.get("connection", "").lower() == "close"
            or (
                "transfer-encoding" not in lower
                and "content-length" not in lower
                and reply.status not in (204, 304)
            )
        )
        lines = [status_line, *(f"{name}: {value}" for name, value in headers), ""]
        self.header_size += sum(len(line) + 2 for line in lines)
        is_refused = options.has("fail") and reply.status >= 400
        if session.is_verbose:
            if self.http_version == "1.0":
                session.tell("HTTP 1.0, assume close after body")
            session.err += [f"< {line}\r\n" for line in (lines[:-1] if is_refused else lines)]
        following = (
            self._following(location) if options.has("location") or options.has("location-trusted") else None
        )
        if options.has("include") or options.has("head"):
            self._write("".join(f"{line}\r\n" for line in (lines[:-1] if is_refused else lines)))
        if options.text("dump-header"):
            self._dump(options.text("dump-header"), "".join(f"{line}\r\n" for line in lines))
        declared = lower.get("content-length", "")
        self.expected = int(declared) if declared.isdigit() and reply.status not in (204, 304) else None
        if is_refused:
            self._refused(number)
            return None
        if following is not None:
            return self._redirected(number, following, is_closing=is_closing)
        has_body = request.method != "HEAD" and reply.status not in (204, 304)
        if request.method == "HEAD" and not options.has("head") and self.expected:
            self._wait_for_body(number)
            return None
        body = reply.body if has_body else ""
        self.received = len(body.encode())
        if body:
            if session.is_verbose:
                session.err.append(f"{{ [{self.received} bytes data]\n")
            problem = self._write(body)
            if problem:
                self.finish_meter(is_whole=True)
                self.code, self.message = 23, problem
                session.tell(f"Closing connection {number}")
                return None
        self._ended(number, reply, has_body=has_body, is_closing=is_closing)
        return None

    def _following(self, location: str) -> Url | None:
        if not location or self.status not in _REDIRECTS:
            return None
        try:
            return self.url.joined(location)
        except UrlProblem:
            return None

    def _redirected(self, number: int, following: Url, *, is_closing: bool) -> Url | None:
        session = self.session
        most = session.options.number("max-redirs", 50)
        if is_closing:
            session.open_connections.clear()
            session.tell(f"Closing connection {number}")
        else:
            session.tell(f"Connection #{number} to host {self.url.host} left intact")
        if self.redirects >= most:
            self.code, self.message = 47, f"Maximum ({most}) redirects followed"
            self.finish_meter(is_whole=False)
            return None
        session.tell(f"Issue another request to this URL: '{following}'")
        self.redirect_ms = self.elapsed_ms
        return following

    def _refused(self, number: int) -> None:
        session = self.session
        session.open_connections.clear()
        text = f"The requested URL returned error: {self.status}"
        self.code, self.message = 22, text
        session.tell(text)
        if session.has_meter:
            session.err.append(
                meter.final(0, self.expected, self.sent, 0).replace("\r100", "\r  0", 1) + "\n"
            )
        session.tell(f"Closing connection {number}")

    def _wait_for_body(self, number: int) -> None:
        limit = self.limit_ms() or 300_000
        self.wait(limit, is_last=True)
        text = f"Operation timed out after {self.elapsed_ms} milliseconds with 0 out of {self.expected} bytes received"
        self.fail(28, text, number=number)

    def _ended(self, number: int, reply: Reply, *, has_body: bool, is_closing: bool) -> None:
        session = self.session
        if reply.failure == TIMEOUT:
            if self._too_slow(number):
                return
            self.wait(self.limit_ms() or 1, is_last=True)
            of = (
                f"{self.received} out of {self.expected}" if self.expected is not None else str(self.received)
            )
            self.fail(
                28,
                f"Operation timed out after {self.elapsed_ms} milliseconds with {of} bytes received",
                number=number,
            )
            return
        if reply.failure == RESET:
            self.fail(56, "Recv failure: Connection reset by peer", number=number)
            return
        if reply.failure:
            self.fail(56, "Illegal or missing hexadecimal sequence in chunked-encoding", number=number)
            return
        if has_body and self.expected is not None and self.received < self.expected:
            left = self.expected - self.received
            self.fail(18, f"transfer closed with {left} bytes remaining to read", number=number)
            return
        if dict(reply.headers).get(":cut") is not None:
            self.fail(18, "transfer closed with outstanding read data remaining", number=number)
            return
        if session.has_meter:
            if not has_body and self.expected:
                session.err.append(meter.final(0, self.expected, self.sent, self.elapsed_ms) + "\n")
            else:
                self.finish_meter(is_whole=True)
        if is_closing:
            session.open_connections.clear()
            session.tell(f"Closing connection {number}")
        else:
            session.tell(f"Connection #{number} to host {self.url.host} left intact")
        if session.options.has("fail-with-body") and self.status >= 400:
            self.code, self.message = 22, f"The requested URL returned error: {self.status}"

    def _write(self, text: str) -> str:
        """Write to the output; return curl's complaint when that fails."""
        session = self.session
        if not self.output or self.output == "-":
            session.out.append(text)
            return ""
        path = session.process.path(self.output)
        if path == "/dev/stdout":
            session.out.append(text)
            return ""
        if path == "/dev/stderr":
            session.err.append(text)
            return ""
        try:
            session.process.fs.append(path, text, session.process.now_ms())
        except ShellFileError as error:
            if error.reason == "No space left on device":
                return "Failed writing body"
            if not session.options.has("silent"):
                session.err.append(f"Warning: Failed to open the file {self.output}: {error.reason}\n")
            return "Failure writing output to destination"
        return ""

    def _dump(self, target: str, text: str) -> None:
        if target == "-":
            self.session.out.append(text)
            return
        try:
            self.session.process.fs.append(
                self.session.process.path(target), text, self.session.process.now_ms()
            )
        except ShellFileError:
            return


def _quoted(text: str) -> str:
    safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return "".join(chr(byte) if chr(byte) in safe else f"%{byte:02X}" for byte in text.encode())
