"""python in a container, as far as one-line tests of the network go: it looks names up and opens connections."""

from __future__ import annotations

import re
from typing import Final

from env_core.programs import DNS_TIMEOUT, NXDOMAIN, REFUSED, SERVFAIL, TIMEOUT, UNREACHABLE
from env_core.programs._images import is_musl
from env_core.programs.python import version_of
from env_core.shell._clients import _url
from env_core.shell._clients._wire import Request, Wire, sleep
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_CALL: Final = re.compile(
    r"(create_connection|connect)\(\s*\(\s*([^,()]+)\s*,\s*([^()]+?)\s*\)\s*(?:,\s*(?:timeout\s*=\s*)?([\d.]+))?|"
    r"(gethostbyname|getaddrinfo)\(\s*([^,()]+)|urlopen\(\s*([\"'][^\"']+[\"'])(?:.*?timeout\s*=\s*([\d.]+))?"
)
_ENV: Final = re.compile(
    r"os\.(?:environ\[|environ\.get\(|getenv\()\s*[\"'](\w+)[\"'](?:\s*,\s*[\"']([^\"']*)[\"'])?\s*[\])]"
)
_PRINT: Final = re.compile(r"print\(\s*(\"[^\"]*\"|'[^']*'|\d+)\s*\)")


def run(process: Process, argv: list[str], wire: Wire, image: str) -> Output:
    """Run python with -V, -c or a script file.

    A script's text is not executed: connections, lookups and printed constants are found in it and done.
    """
    words = argv[1:]
    if any(word in ("-V", "--version") for word in words):
        return Output(f"Python {version_of(image)}\n")
    if "-c" in words and words.index("-c") + 1 < len(words):
        return _script(process, wire, words[words.index("-c") + 1], image)
    name = next((word for word in words if not word.startswith("-")), "")
    if not name:
        return _script(process, wire, process.stdin, image) if process.stdin else Output()
    try:
        process.fs.read(process.path(name))
    except ShellFileError:
        return Output(
            "", f"{argv[0]}: can't open file '{process.path(name)}': [Errno 2] No such file or directory\n", 2
        )
    return Output()


def _value(process: Process, text: str) -> str:
    found = _ENV.search(text)
    if found is not None:
        return process.env.get(found[1], found[2] or "")
    bare = text.strip()
    if bare.startswith("int("):
        bare = bare[4:].rstrip(")")
    return bare.strip("\"' ")


def _script(process: Process, wire: Wire, text: str, image: str) -> Output:
    resolved = _ENV.sub(lambda found: repr(process.env.get(found[1], found[2] or "")), text)
    out: list[str] = []
    for call in _CALL.finditer(resolved):
        error = _done(process, wire, call, image, out)
        if error:
            trace = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
            return Output("".join(out), f"{trace}{error}\n", 1)
    out += [found[1].strip("\"'") + "\n" for found in _PRINT.finditer(resolved)]
    return Output("".join(out))


def _done(process: Process, wire: Wire, call: re.Match[str], image: str, out: list[str]) -> str:
    """Do one call; return the exception's line when it fails."""
    if call[1]:
        host, port, limit = _value(process, call[2]), _value(process, call[3]), call[4]
        return _connect(process, wire, host, int(port) if port.isdigit() else 0, _ms(limit), image)
    if call[5]:
        found = wire.resolve(_value(process, call[6]))
        sleep(process, found.latency_ms)
        if not found.addresses:
            return f"socket.gaierror: {_resolver_error(found.failure, image)}"
        if call[5] == "gethostbyname":
            out.append(f"{found.addresses[0]}\n" if "print" in call.string else "")
        return ""
    url = _url.parse(call[7].strip("\"'"))
    error = _connect(process, wire, url.host, url.port, _ms(call[8]), image)
    if error:
        return f"urllib.error.URLError: <urlopen error {error.partition(': ')[2]}>"
    found = wire.resolve(url.host)
    reply = wire.exchange(
        wire.connect(found.addresses[0], url.port),
        Request(
            path=url.path,
            host=url.authority,
            headers={"User-Agent": "Python-urllib/3.12"},
            timeout_ms=_ms(call[8]),
        ),
    )
    sleep(process, reply.latency_ms)
    if reply.failure:
        return (
            "TimeoutError: timed out"
            if reply.failure == TIMEOUT
            else "http.client.RemoteDisconnected: Remote end closed connection without response"
        )
    if reply.status >= 400:
        return f"urllib.error.HTTPError: HTTP Error {reply.status}: "
    out.append(f"{reply.body}\n" if ".read()" in call.string and "print" in call.string else "")
    return ""


def _ms(text: str | None) -> int:
    return int(float(text) * 1000) if text else 0


def _resolver_error(failure: str, image: str) -> str:
    if is_musl(image):
        return {
            NXDOMAIN: "[Errno -2] Name does not resolve",
            SERVFAIL: "[Errno -3] Try again",
            DNS_TIMEOUT: "[Errno -3] Try again",
        }[failure]
    return (
        "[Errno -2] Name or service not known"
        if failure == NXDOMAIN
        else "[Errno -3] Temporary failure in name resolution"
    )


def _connect(process: Process, wire: Wire, host: str, port: int, limit_ms: int, image: str) -> str:
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        return f"socket.gaierror: {_resolver_error(found.failure, image)}"
    failure = wire.connect(found.addresses[0], port).failure
    if failure == TIMEOUT:
        sleep(process, limit_ms or 130_000)
        return "TimeoutError: timed out" if limit_ms else "TimeoutError: [Errno 110] Operation timed out"
    sleep(process, 1)
    if failure == REFUSED:
        return "ConnectionRefusedError: [Errno 111] Connection refused"
    if failure == UNREACHABLE:
        return f"OSError: [Errno 113] {'Host is unreachable' if is_musl(image) else 'No route to host'}"
    return ""
