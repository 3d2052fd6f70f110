"""One transfer of curl: sending, receiving, redirects, and how all of it fails."""

from __future__ import annotations

from typing import Final

from env_core.programs._http import CONTINUE, CONTINUE_TEXT, FOREIGN, REASON, REASONS, VERSION
from env_core.shell._clients import _curl_output as meter
from env_core.shell._clients._curl_tls import Securing
from env_core.shell._clients._url import Url, UrlProblem
from env_core.shell._clients._wire import EMPTY, RESET, TIMEOUT, Connection, Reply, Request
from env_core.shell.filesystem import ShellFileError

_REDIRECTS: Final = (301, 302, 303, 307, 308)
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


_PACKED: Final = {"gzip": "\x1f", "deflate": "\x78"}
"""How content of an encoding begins."""
_UNPACKING: Final = "incorrect header check"


class Transfer(Securing):
    """The stages and the outcome of one transfer."""

    __slots__ = ()

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

    def _exchange(self, number: int, connection: Connection) -> Url | None:
        """Send the request and take the answer in; return where a redirect leads, None at the end."""
        session = self.session
        request, headers, version = self._request()
        is_h2 = False
        if request.protocol == "tls":
            if not self._handshake(number, connection, request):
                return None
            own = session.options.text("cert").partition(":")[0]
            request = request._replace(
                protocol="https",
                headers={**request.headers, **({":client-certificate": own} if own else {})},
            )
            is_h2 = self._tell_protocol(headers, number)
        if session.is_verbose:
            shown = (
                [(name if name == "Host" else name.lower(), value) for name, value in headers]
                if is_h2
                else headers
            )
            lines = [
                f"{request.method} {request.path} HTTP/{'2' if is_h2 else version}",
                *(f"{name}: {value}" for name, value in shown),
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
        if request.protocol == "https":
            self._data("{", 5)
        return self._answered(number, request, _in_http2(reply) if is_h2 else reply)

    def _not_http(self, number: int, reply: Reply, foreign: str) -> None:
        self.wait(reply.latency_ms)
        if foreign.startswith("HTTP/"):
            lines = foreign.partition("\r\n\r\n")[0].split("\r\n")
            if lines[0][5:6] not in ("1", "2", "3"):
                code, text = 1, "Unsupported HTTP version in response"
            elif all(":" in line for line in lines[1:]):
                code, text = 8, "Invalid Content-Length: value"
            else:
                code, text = 8, "Header without colon"
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
        status_line = f"HTTP/{self.http_version} {reply.status} {'' if self.http_version == '2' else reason}"
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
            if CONTINUE in pseudo:
                self._write(CONTINUE_TEXT)
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
        packed = lower.get("content-encoding", "")
        if body and packed in _PACKED and options.has("compressed") and not body.startswith(_PACKED[packed]):
            self.fail(61, f"Error while processing content unencoding: {_UNPACKING}", number=number)
            return None
        self.received = len(body.encode())
        if body:
            self._data("{", 5 if self.http_version == "2" else self.received)
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


def _in_http2(reply: Reply) -> Reply:
    """Return an answer as HTTP/2 carries it: names in small letters, nothing of the connection, no reason."""
    kept = tuple(
        (name.lower(), value)
        for name, value in reply.headers
        if name.lower() not in ("connection", "keep-alive", "transfer-encoding") and name != REASON
    )
    return reply._replace(headers=((VERSION, "2"), *(pair for pair in kept if pair[0] != VERSION)))
