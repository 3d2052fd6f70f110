"""GNU Wget 1.21.3."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from env_core.programs._http import REASON, REASONS, VERSION
from env_core.shell._clients import _tls, _url
from env_core.shell._clients._url import Url, UrlProblem
from env_core.shell._clients._wget_tls import complaints, handshake_problem
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
    EMPTY,
    ERRORS,
    RESET,
    RESOLVER_ERRORS,
    TIMEOUT,
    Connection,
    Reply,
    Request,
    Wire,
    sleep,
)
from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_USAGE: Final = "Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n"
_LONG: Final = {
    "quiet": "q", "no-verbose": "V", "verbose": "v", "output-document=": "O", "output-file=": "o", "timeout=": "T",
    "connect-timeout=": "T", "read-timeout=": "T", "dns-timeout=": "T", "tries=": "t", "spider": "s", "server-response": "S",
    "post-data=": "d", "post-file=": "f", "header=": "h", "user-agent=": "U", "user=": "u", "password=": "w",
    "no-check-certificate": "k", "ca-certificate=": "a", "max-redirect=": "m", "content-on-error": "e", "method=": "M",
    "body-data=": "d", "continue": "c", "directory-prefix=": "P", "waitretry=": "W", "retry-connrefused": "r",
    "no-proxy": "y", "no-cache": "y", "no-dns-cache": "y", "inet4-only": "4", "show-progress": "y", "progress=": "g",
    "save-headers": "H", "timestamping": "N", "no-hsts": "y",
}  # fmt: skip


class _Stopped(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Run:
    """One invocation."""

    def __init__(self, process: Process, options: Options, wire: Wire) -> None:
        self.process = process
        self.options = options
        self.wire = wire
        self.out: list[str] = []
        self.err: list[str] = []
        self.is_quiet = options.has("q")
        self.is_brief = options.has("V")
        self.known: dict[str, tuple[str, ...]] = {}
        self.open: tuple[str, int, Connection] | None = None

    def say(self, text: str) -> None:
        """Print unless -q or -nv."""
        if not self.is_quiet and not self.is_brief:
            self.err.append(text)

    def note(self, text: str) -> None:
        """Print unless -q."""
        if not self.is_quiet:
            self.err.append(text)

    def stamp(self) -> str:
        """Return the time as wget prints it."""
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.process.now_ms())
        return at.strftime("%Y-%m-%d %H:%M:%S")

    def timeout_ms(self) -> int:
        """Return the time-out, 0 for the default."""
        text = self.options.value("T")
        return int(float(text) * 1000) if text else 0

    def fetch(self, text: str) -> int:
        """Fetch one URL; return wget's exit code."""
        try:
            url = _url.parse(text)
        except UrlProblem:
            self.note(f"{text}: Bad port number.\n")
            return 1
        if url.scheme not in ("http", "https"):
            self.note(f"{text}: Unsupported scheme '{url.scheme}'.\n")
            return 1
        output = self.options.value("O") or url.path.partition("?")[0].rpartition("/")[2] or "index.html"
        if self.options.has("O") and output != "-" and not self._can_write(output):
            return 1
        if self.options.has("s"):
            self.say("Spider mode enabled. Check if remote file exists.\n")
        tries = int(self.options.value("t", "20")) or 20
        attempt = 1
        redirects = 0
        while True:
            mark = f"  (try:{attempt:2d})  " if attempt > 1 else "  "
            self.say(f"--{self.stamp()}--{mark}{url}\n")
            if url.scheme == "https" and self.options.has("a") and self.open is None:
                self.say(f"Loaded CA certificate '{self.options.value('a')}'\n")
            try:
                reply = self._ask(url)
            except _Stopped as stopped:
                if stopped.code >= 0:
                    return stopped.code
                if attempt >= tries:
                    self.say("Giving up.\n\n")
                    return 4
                self.say("Retrying.\n\n")
                sleep(self.process, min(attempt, 10) * 1000)
                attempt += 1
                continue
            location = next((value for name, value in reply.headers if name.lower() == "location"), "")
            if reply.status in (301, 302, 303, 307, 308) and location:
                self.say(f"Location: {location} [following]\n")
                most = int(self.options.value("m", "20"))
                redirects += 1
                if redirects > most:
                    self.note(f"{most} redirections exceeded.\n")
                    return 8
                url = url.joined(location)
                continue
            return self._finish(url, reply, output)

    def _can_write(self, output: str) -> bool:
        path = self.process.path(output)
        try:
            self.process.fs.write(path, "", self.process.now_ms())
        except ShellFileError as error:
            self.note(f"{output}: {error.reason}\n")
            return False
        return True

    def _ask(self, url: Url) -> Reply:
        kept = self.open
        if kept is not None and kept[:2] == (url.host, url.port):
            self.say(f"Reusing existing connection to {url.host}:{url.port}.\n")
            connection = kept[2]
        else:
            connection = self._connect(url)
        headers = {
            "Host": url.authority,
            "User-Agent": self.options.value("U", "Wget/1.21.3"),
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "Connection": "Keep-Alive",
        }
        for line in self.options.values("h"):
            name, _, value = line.partition(":")
            headers[name.strip()] = value.strip()
        body = self.options.value("d")
        if self.options.has("df"):
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        method = self.options.value("M") or (
            "HEAD" if self.options.has("s") else "POST" if self.options.has("df") else "GET"
        )
        request = Request(
            method=method, path=url.path, host=url.authority, headers=headers, body=body,
            protocol="tls" if url.scheme == "https" else "http", timeout_ms=self.timeout_ms() or 900_000,
        )  # fmt: skip
        if url.scheme == "https":
            if kept is None or connection is not kept[2]:
                self._secure(url, connection, request)
            request = request._replace(protocol="https")
        reply = self.wire.exchange(connection, request)
        sleep(self.process, reply.latency_ms)
        self.say("HTTP request sent, awaiting response... ")
        if reply.failure and not reply.status:
            self.open = None
            if reply.failure == EMPTY:
                self.say("No data received.\n")
            else:
                self.say(f"Read error ({ERRORS.get(reply.failure, reply.failure)}) in headers.\n")
            raise _Stopped(-1)
        self.open = (url.host, url.port, connection)
        reason = next(
            (value for name, value in reply.headers if name == REASON), REASONS.get(reply.status, "")
        )
        version = next((value for name, value in reply.headers if name == VERSION), "1.1")
        if self.options.has("S"):
            lines = [
                f"HTTP/{version} {reply.status} {reason}",
                *(f"{name}: {value}" for name, value in reply.headers if not name.startswith(":")),
            ]
            self.say("\n" + "".join(f"  {line}\n" for line in lines))
        else:
            self.say(f"{reply.status} {reason}\n")
        return reply

    def _secure(self, url: Url, connection: Connection, request: Request) -> None:
        """Shake hands.

        Raises:
            _Stopped: if that fails, or the certificate is not believed.
        """
        made = _tls.shake_hands(self.wire, connection, request)
        problem = handshake_problem(made)
        if problem:
            self.note(problem)
            raise _Stopped(4)
        is_lenient = self.options.has("k")
        said = complaints(self.process, made, url.host, self.options.value("a"), is_lenient=is_lenient)
        if said:
            self.note(said)
            if not is_lenient:
                raise _Stopped(5)

    def _connect(self, url: Url) -> Connection:
        host = url.host
        addresses = self.known.get(host)
        is_literal = host.replace(".", "").isdigit()
        if addresses is None and not is_literal:
            self.say(f"Resolving {host} ({host})... ")
            found = self.wire.resolve(host)
            limit = self.timeout_ms()
            if limit and found.latency_ms > limit:
                sleep(self.process, limit)
                self.say("failed: Connection timed out.\n")
                self.note(f"wget: unable to resolve host address '{host}'\n")
                raise _Stopped(4)
            sleep(self.process, found.latency_ms)
            if not found.addresses:
                self.say(f"failed: {RESOLVER_ERRORS.get(found.failure, RESOLVER_ERRORS[DNS_TIMEOUT])}.\n")
                self.note(f"wget: unable to resolve host address '{host}'\n")
                raise _Stopped(4)
            addresses = ("::1", *found.addresses) if host == "localhost" else found.addresses
            shown = addresses if len(addresses) <= 3 else (*addresses[:3], "...")
            self.say(", ".join(shown) + "\n")
            self.known[host] = addresses
        connection = Connection(failure=TIMEOUT)
        for address in addresses or (host,):
            where = f"{address}:{url.port}" if is_literal else f"{host} ({host})|{address}|:{url.port}"
            self.say(f"Connecting to {where}... ")
            connection = (
                Connection(failure="refused", address=address)
                if address == "::1"
                else self.wire.connect(address, url.port)
            )
            if not connection.failure:
                self.say("connected.\n")
                return connection
            sleep(self.process, (self.timeout_ms() or 130_000) if connection.failure == TIMEOUT else 1)
            self.note(f"failed: {ERRORS.get(connection.failure, connection.failure)}.\n")
        raise _Stopped(-1 if connection.failure == TIMEOUT or self.options.has("r") else 4)

    def _finish(self, url: Url, reply: Reply, output: str) -> int:
        reason = next(
            (value for name, value in reply.headers if name == REASON), REASONS.get(reply.status, "")
        )
        if self.options.has("s"):
            if reply.status >= 400:
                self.say("Remote file does not exist -- broken link!!!\n\n")
                return 8
            kind = next((value for name, value in reply.headers if name.lower() == "content-type"), "")
            length = next((value for name, value in reply.headers if name.lower() == "content-length"), "")
            self.say(f"Length: {length or 'unspecified'} [{kind}]\nRemote file exists.\n\n")
            return 0
        if reply.status == 401:
            self.say("\nUsername/Password Authentication Failed.\n")
            return 6
        if reply.status >= 400:
            if self.options.has("e"):
                self._write(output, reply.body)
            if self.is_brief:
                self.note(f"{self.stamp()} ERROR {reply.status}: {reason}.\n")
            self.say(f"{self.stamp()} ERROR {reply.status}: {reason}.\n\n")
            return 8
        return self._save(url, reply, output)

    def _save(self, url: Url, reply: Reply, output: str) -> int:
        headers = {name.lower(): value for name, value in reply.headers}
        declared = headers.get("content-length", "")
        expected = int(declared) if declared.isdigit() else None
        kind = headers.get("content-type", "").partition(";")[0]
        size = len(reply.body.encode())
        name = "STDOUT" if output == "-" else output
        if reply.status == 204:
            self.say(
                f"{self.stamp()} (0.00 B/s) - {'written to stdout' if output == '-' else repr(output) + ' saved'} [0]\n\n"
            )
            return 0
        human = f" ({expected / 1024:.1f}K)" if expected is not None and expected >= 1024 else ""
        self.say(
            f"Length: {expected if expected is not None else 'unspecified'}{human} [{kind}]\nSaving to: '{name}'\n\n"
        )
        problem = self._write(output, reply.body)
        if problem:
            self.say(f"     0K{' ' * 54}{0:4d}% 0.00 =0s\n\n\n")
            self.note(f"Cannot write to '{output}' ({problem}).\n")
            return 3
        rate, long_rate = ("1.43M", "1.43 MB/s") if size else ("0.00 ", "0.00 B/s")
        share = size * 100 // expected if expected else 100
        if self.process.has_terminal and expected is not None:
            self.say(_bar(name, size, expected) + "\n\n")
        elif expected is None:
            self.say(f"     0K{' ' * 56}{rate}=0s\n\n")
        else:
            self.say(f"     0K{' ' * 54}{share:4d}% {rate}=0s\n\n")
        if expected is not None and size < expected:
            self.say(f"{self.stamp()} ({long_rate}) - Connection closed at byte {size}. Giving up.\n\n")
            return 4
        of = f"[{size}/{expected}]" if expected is not None else f"[{size}]"
        if self.is_brief:
            self.note(f'{self.stamp()} URL:{url} {of} -> "{output}" [1]\n')
        self.say(
            f"{self.stamp()} ({long_rate}) - {'written to stdout' if output == '-' else repr(output) + ' saved'} {of}\n\n"
        )
        return 4 if reply.failure == RESET else 0

    def _write(self, output: str, text: str) -> str:
        if output == "-":
            self.out.append(text)
            return ""
        try:
            self.process.fs.write(self.process.path(output), text, self.process.now_ms())
        except ShellFileError as error:
            return error.reason
        return ""


def _bar(name: str, size: int, expected: int) -> str:
    """Return the progress bar on a terminal of 80 columns: its first and its last state."""
    share = size * 100 // expected if expected else 100
    filled = "=" * (share * 19 // 100)
    start = f"\r{name[:20]:<20}  0%[{' ' * 20}]       0  --.-KB/s               "
    arrow = f"{filled}>" if share else ""
    return f"{start}\r{name[:20]:<20}{share:3d}%[{arrow:<20}] {size:>7}  --.-KB/s    in 0s      "


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run GNU wget.

    Source: tests/golden/programs/wget.
    """
    words = ["-V" if word == "-nv" else word for word in argv[1:]]
    try:
        options = parse_options(words, "qvVO:o:T:t:SU:P:cN4", _LONG)
    except UsageProblem as problem:
        return Output("", f"wget: {problem.text}\n{_USAGE}", 2)
    text = options.value("T")
    if text:
        try:
            float(text)
        except ValueError:
            return Output("", f"wget: --timeout: Invalid time period '{text}'\n", 2)
    if not options.operands:
        return Output("", f"wget: missing URL\n{_USAGE}", 1)
    found = _Run(process, options, wire)
    code = 0
    for url in options.operands:
        code = found.fetch(url) or code
    return Output("".join(found.out), "".join(found.err), code)
