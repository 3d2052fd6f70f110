"""Recorded client programs, run here: their argv in the toolbox of the recorded cluster, and what they leave.

Source: shared oracle `programs/README.md` ("Client records", "Placeholders").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from env_core.shell._clients._wire import Wire
from env_core.shell.clients import CLIENTS
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from env_core.world import Output
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison
from tests.golden.program_cluster import NOW_MS, resolver_of, wire
from tests.golden.program_keys import certificate
from tests.golden.program_texts import answers, has_help, without_help
from tests.golden.recordings import Folder, Record

NOT_SIMULATED: Final = "not simulated"
HELP: Final = "help text"
FILES: Final = {
    "/data/order.json": '{"sku":"A-100","qty":2}',
    "/data/big.bin": "\0" * 3_000_000,
    **{
        f"/etc/tls/{name}.crt": certificate(name)
        for name in ("ca", "ca2", "good", "expired", "future", "wrong", "self", "client")
    },
    "/etc/tls/client.key": "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
}
_DEBIAN: Final = "+deb12"
_SHUFFLED: Final = re.compile(r"10\.244\.2\.1[0-2]")
_RESOLVERS: Final[tuple[dict[str, Any], ...]] = ({"searches": []}, {"options": [{"name": "ndots", "value": "1"}]})
_TTL: Final = re.compile(r"(?<=[.\t ])(?:\{ttl\}|\d+)(?=\s+IN\s)")
_CACHED: Final = ";; flags: qr aa rd ra;"


def _looked_up(record: Record) -> Callable[[str], str]:
    """Return what makes the answers of name servers comparable.

    CoreDNS has `cache 30`: a cached answer of the forwarder comes with the flag aa and an older {ttl}. It shuffles
    addresses (plugin loadbalance), and BusyBox's nslookup prints replies as they come.
    """
    has_paragraphs = record["program"] == "busybox nslookup"

    def cut(text: str) -> str:
        text = _TTL.sub("30", text).replace(_CACHED, ";; flags: qr rd ra;")
        addresses = set(_SHUFFLED.findall(text))
        if len(addresses) > 1:
            return "\n".join(sorted(text.split("\n")))
        text = _SHUFFLED.sub("10.244.2.10", text)
        return "\n\n".join(sorted(re.split(r"\n\n+", text.strip("\n")))) if has_paragraphs else text

    return cut


def on_a_terminal(output: Output) -> Output:
    """Return what both streams leave on one terminal."""
    return Output((output.stdout + output.stderr).replace("\n", "\r\n"), "", output.exit_code)


def run(record: Record, resolver: dict[str, Any]) -> Output | None:
    """Run a recorded command line in a fresh toolbox; None when there is no such program here."""
    argv = record["argv"]
    flavour = "busybox" if record["program"].startswith("busybox") else "gnu"
    build = "busybox of Debian" if flavour == "busybox" and _DEBIAN in record["version"] else flavour
    argv = argv[1:] if argv[0] == "busybox" else argv
    client = CLIENTS[build].get(argv[0])
    if client is None:
        return None
    clock = [NOW_MS]

    def advance(duration_ms: int) -> None:
        clock[0] += duration_ms

    files = dict(FILES)
    if record["condition"]["kind"] == "file_exists":
        files["/root/" + argv[-1].rpartition("/")[2]] = ""
    process = Process(
        record.get("stdin") or "",
        FileSystem(files),
        dict(record.get("env") or {}),
        now_ms=lambda: clock[0],
        advance=advance,
        user="app" if record.get("uid") else "root",
        flavour=flavour,
        has_terminal=bool(record.get("tty")),
    )
    return client(process, argv, wire(resolver))


def judge(record: Record, _folder: Folder) -> Comparison:
    """Compare one record of a client program."""
    apart = HELP if has_help(record) else ""
    output = run(record, resolver_of(record))
    if output is None:
        recorded = {name: record[name] for name in ("stdout", "stderr", "exit")}
        return Comparison(recorded, NOT_IMPLEMENTED, apart=f"{record['program']} {NOT_SIMULATED}")
    comparison = _compared(record, output, apart)
    if not comparison.is_equal and record["condition"]["kind"] in ("noerror", "nxdomain"):
        # The records of some look-ups were made with another search list, and do not say with which.
        for resolver in _RESOLVERS:
            other = run(record, resolver)
            if other is not None and _compared(record, other, apart).is_equal:
                return _compared(record, other, apart)
    return comparison


def _compared(record: Record, output: Output, apart: str) -> Comparison:
    if record.get("tty"):
        output = on_a_terminal(output)
    cut = without_help if apart == HELP else _looked_up(record)
    wanted, got = answers(record, output.stdout, output.stderr, output.exit_code, cut)
    return Comparison(wanted, got, apart=apart)


def judge_of(*programs: str) -> Callable[[Record, Folder], Iterator[Comparison] | Comparison]:
    """Return a judge of the records of these client programs; others of the file are not simulated."""

    def judged(record: Record, folder: Folder) -> Comparison:
        if record["program"] in programs:
            return judge(record, folder)
        recorded = {name: record[name] for name in ("stdout", "stderr", "exit", "log") if name in record}
        return Comparison(recorded, NOT_IMPLEMENTED, apart=f"{record['program']} {NOT_SIMULATED}")

    return judged


def busybox(over: Wire, process: Process, argv: list[str]) -> Output:
    """Run an applet of BusyBox beside GNU's tools: `busybox NAME …`."""
    client = CLIENTS["busybox"].get(argv[1])
    if client is None:
        return Output("", f"{argv[1]}: applet not found\n", 127)
    process.flavour = "busybox"
    try:
        return client(process, argv[1:], over)
    finally:
        process.flavour = "gnu"
