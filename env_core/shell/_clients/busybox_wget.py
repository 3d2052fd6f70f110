"""wget of BusyBox, as Alpine and busybox images have it."""

from __future__ import annotations

from typing import Final

from env_core.programs._http import FOREIGN, REASON, REASONS, VERSION
from env_core.shell._clients import _tls, _url
from env_core.shell._clients._url import Url, UrlProblem
from env_core.shell._clients._wire import (
    DNS_TIMEOUT,
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
from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

BANNER: Final = "BusyBox v1.35.0 (2022-01-17 19:57:02 CET) multi-call binary.\n\n"
_USAGE: Final = """Usage: wget [-cqS] [--spider] [-O FILE] [-o LOGFILE] [--header STR]
	[--post-data STR | --post-file FILE] [-Y on/off]
	[--no-check-certificate] [-P DIR] [-U AGENT] [-T SEC] URL...

Retrieve files via HTTP or FTP

	--spider	Only check URL existence: $? is 0 if exists
	--header STR	Add STR (of form 'header: value') to headers
	--post-data STR	Send STR using POST method
	--post-file FILE	Send FILE using POST method
	--no-check-certificate	Don't validate the server's certificate
	-c		Continue retrieval of aborted transfer
	-q		Quiet
	-P DIR		Save to DIR (default .)
	-S    		Show server response
	-T SEC		Network read timeout is SEC seconds
	-O FILE		Save to FILE ('-' for stdout)
	-o LOGFILE	Log messages to FILE
	-U STR		Use STR for User-Agent header
	-Y on/off	Use proxy
"""
_LONG: Final = {
    "spider": "s", "header=": "h", "post-data=": "d", "post-file=": "f", "no-check-certificate": "k", "continue": "c",
    "quiet": "q", "server-response": "S", "timeout=": "T", "output-document=": "O", "output-file=": "o",
    "user-agent=": "U", "directory-prefix=": "P", "proxy=": "Y", "tries=": "t", "no-verbose": "q",
}  # fmt: skip
_REDIRECTS_MAX: Final = 5
_DEFAULT_TIMEOUT_MS: Final = 900_000
_CRASHED: Final = 139


class _Failed(Exception):
    def __init__(self, text: str, *, is_timeout: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.is_timeout = is_timeout


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox wget as upstream builds it.

    Source: tests/golden/programs/busybox-upstream.
    """
    return _run(process, argv, wire, is_debian=False)


def run_debian(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run the wget of Debian's BusyBox, which crashes where its `-T` fires.

    Source: tests/golden/programs/wget (bbwget).
    """
    return _run(process, argv, wire, is_debian=True)


def _run(process: Process, argv: list[str], wire: Wire, *, is_debian: bool) -> Output:
    try:
        options = parse_options(argv[1:], "O:o:T:U:P:Y:t:cqS", _LONG)
    except UsageProblem as problem:
        return Output("", f"wget: {problem.text}\n{BANNER}{_USAGE}", 1)
    if not options.operands:
        return Output("", BANNER + _USAGE, 1)
    if options.has("T") and not options.value("T").isdecimal():
        return Output("", f"wget: invalid number '{options.value('T')}'\n", 1)
    out: list[str] = []
    err: list[str] = []
    for text in options.operands:
        try:
            _fetch(process, wire, options, text, out, err, is_debian=is_debian)
        except _Failed as failed:
            if is_debian and failed.is_timeout and options.has("T"):
                return Output("".join(out), "", _CRASHED)
            err.append(f"wget: {failed.text}\n")
            return Output("".join(out), "".join(err), 1)
    return Output("".join(out), "".join(err), 0)


def _fetch(
    process: Process,
    wire: Wire,
    options: Options,
    text: str,
    out: list[str],
    err: list[str],
    *,
    is_debian: bool,
) -> None:
    try:
        url = _url.parse(text)
    except UrlProblem:
        raise _Failed(
            f"bad port spec '{text.partition('://')[2].partition('/')[0]}'"
            if ":" in text
            else f"not an http or ftp url: {text}"
        ) from None
    if url.scheme not in ("http", "https", "ftp"):
        raise _Failed(f"not an http or ftp url: {text}")
    output = options.value("O") or (url.path.partition("?")[0].rpartition("/")[2] or "index.html")
    if options.has("P") and not options.has("O"):
        output = f"{options.value('P')}/{output}"
    is_quiet = options.has("q")
    to_stdout = output == "-"
    address = _address(process, wire, options, url, err)
    for _ in range(_REDIRECTS_MAX + 1):
        reply = _ask(process, wire, options, url, address)
        reason = next(
            (value for name, value in reply.headers if name == REASON), REASONS.get(reply.status, "")
        )
        version = next((value for name, value in reply.headers if name == VERSION), "1.1")
        shown = [(name, value) for name, value in reply.headers if not name.startswith(":")]
        if options.has("S"):
            err.append(
                f"  HTTP/{version} {reply.status} {reason}\n"
                + "".join(f"  {name}: {value}\n" for name, value in shown)
                + "  \n"
            )
        location = next((value for name, value in shown if name.lower() == "location"), "")
        if reply.status in (301, 302, 303, 307, 308) and location:
            url = url.joined(location)
            if not location.startswith("/"):
                address = _address(process, wire, options, url, err)
            continue
        if reply.status not in (200, 204, 206):
            raise _Failed(f"server returned error: HTTP/{version} {reply.status} {reason}")
        break
    else:
        raise _Failed("too many redirections")
    if options.has("s"):
        if not is_quiet:
            err.append("remote file exists\n")
        return
    if not to_stdout:
        _check_target(process, options, output)
    if not is_quiet:
        err.append("writing to stdout\n" if to_stdout else f"saving to '{output}'\n")
    _save(process, reply, output, out, to_stdout=to_stdout)
    declared = next(
        (int(value) for name, value in shown if name.lower() == "content-length" and value.isdigit()), None
    )
    size = len(reply.body.encode())
    if reply.failure == RESET or (declared is not None and size < declared):
        if is_debian and not is_quiet:
            err.append(f"{_shown(output):<20}   0% |{' ' * 32}| {_size(size)}  0:00:00 ETA\n")
        raise _Failed("connection closed prematurely")
    if not is_quiet:
        start = "\r" if process.has_terminal else ""
        err.append(f"{start}{_shown(output):<20} 100% |{'*' * 32}| {_size(size)}  0:00:00 ETA\n")
        err.append("written to stdout\n" if to_stdout else f"'{output}' saved\n")


def _shown(output: str) -> str:
    return output if output == "-" else output.rpartition("/")[2][:20]


def _check_target(process: Process, options: Options, output: str) -> None:
    """Look whether the file may be created.

    Raises:
        _Failed: if not.
    """
    target = process.path(output)
    if process.fs.exists(target):
        if not options.has("O") and not options.has("c"):
            raise _Failed(f"can't open '{output}': File exists")
    elif not process.fs.is_dir(target.rpartition("/")[0] or "/"):
        raise _Failed(f"can't open '{output}': No such file or directory")


def _size(size: int) -> str:
    """Return a number of bytes in five columns, with a unit beyond five digits."""
    if size < 100_000:
        return f"{size:5d}"
    return f"{size / 1024:4.0f}k" if size < 10_000 << 10 else f"{size / (1 << 20):4.1f}M"


def _save(process: Process, reply: Reply, output: str, out: list[str], *, to_stdout: bool) -> None:
    if to_stdout:
        out.append(reply.body)
        return
    try:
        process.fs.write(process.path(output), reply.body, process.now_ms())
    except ShellFileError as error:
        if error.reason == "No space left on device":
            raise _Failed(f"write error: {error.reason}") from None
        raise _Failed(f"can't open '{output}': {error.reason}") from None


def _timeout_ms(options: Options) -> int:
    text = options.value("T")
    return int(text) * 1000 if text.isdigit() else _DEFAULT_TIMEOUT_MS


def _address(process: Process, wire: Wire, options: Options, url: Url, err: list[str]) -> str:
    """Resolve the host of a URL, and say where the connection goes."""
    found = wire.resolve(url.host)
    shown = f"{url.host}:{url.port}" if url.has_port else url.host
    sleep(process, found.latency_ms)
    if not found.addresses:
        raise _Failed(f"bad address '{shown}'", is_timeout=found.failure == DNS_TIMEOUT)
    address = "::1" if found.is_local and url.host == "localhost" else found.addresses[0]
    if not options.has("q"):
        place = f"[{address}]" if ":" in address else address
        err.append(f"Connecting to {shown} ({place}:{url.port})\n")
    return address


def _connected(process: Process, wire: Wire, options: Options, url: Url, address: str) -> Connection:
    """Open the connection.

    Raises:
        _Failed: if there is none.
    """
    connection = wire.connect("127.0.0.1" if address == "::1" else address, url.port)
    place = "" if ":" in address else f" ({address})"
    if connection.failure == TIMEOUT:
        if options.has("T"):
            sleep(process, _timeout_ms(options))
            raise _Failed("download timed out", is_timeout=True)
        sleep(process, 130_000)
        raise _Failed(f"can't connect to remote host{place}: Connection timed out")
    if connection.failure:
        sleep(process, 1)
        reason = ERRORS.get(connection.failure, connection.failure)
        raise _Failed(f"can't connect to remote host{place}: {reason}")
    return connection


def _secure(
    process: Process, wire: Wire, options: Options, url: Url, connection: Connection, request: Request
) -> None:
    """Shake hands through the helper that does TLS; whatever it finds wrong, wget sees a connection that ends.

    Raises:
        _Failed: if there is no secured connection.
    """
    made = _tls.shake_hands(wire, connection, request)
    if made.failure == TIMEOUT:
        sleep(process, _timeout_ms(options))
        raise _Failed("download timed out", is_timeout=True)
    is_believed = not made.failure and (
        options.has("k")
        or (
            not _tls.verify(made.chain, _tls.authorities(process) or (), process.now_ms()).code
            and _tls.covering_name(made.chain[0], url.host) is not None
        )
    )
    if not is_believed:
        raise _Failed("error getting response: Connection reset by peer")


def _ask(process: Process, wire: Wire, options: Options, url: Url, address: str) -> Reply:
    timeout_ms = _timeout_ms(options)
    connection = _connected(process, wire, options, url, address)
    body = options.value("d")
    headers = {"Host": url.authority, "User-Agent": options.value("U", "Wget"), "Connection": "close"}
    for line in options.values("h"):
        name, _, value = line.partition(":")
        headers[name.strip()] = value.strip()
    if options.has("f"):
        try:
            body = process.fs.read(process.path(options.value("f")))
        except ShellFileError as error:
            raise _Failed(f"can't open '{options.value('f')}': {error.reason}") from None
    if body:
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    request = Request(
        method="POST" if options.has("df") else "GET", path=url.path, host=url.authority, headers=headers, body=body,
        protocol="tls" if url.scheme == "https" else "http", timeout_ms=timeout_ms,
    )  # fmt: skip
    if url.scheme == "https":
        _secure(process, wire, options, url, connection, request)
        request = request._replace(protocol="https")
    reply = wire.exchange(connection, request)
    sleep(process, reply.latency_ms)
    if any(name == FOREIGN for name, _ in reply.headers) or (reply.failure == EMPTY and not reply.status):
        raise _Failed("error getting response")
    if reply.failure and not reply.status:
        if reply.failure == TIMEOUT:
            raise _Failed("download timed out", is_timeout=True)
        raise _Failed(f"error getting response: {ERRORS.get(reply.failure, reply.failure)}")
    return reply
