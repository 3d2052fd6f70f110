"""nslookup of BusyBox."""

from __future__ import annotations

from typing import Final

from env_core.shell._clients import _dns_text as text
from env_core.shell._clients._wire import REFUSED, Wire, sleep
from env_core.shell._clients.busybox_wget import BANNER
from env_core.shell.context import Process
from env_core.world import Output

_USAGE: Final = """Usage: nslookup [-type=QUERY_TYPE] [-debug] HOST [DNS_SERVER]

Query DNS about HOST

QUERY_TYPE: soa,ns,a,aaaa,cname,mx,txt,ptr,srv,any
"""
_TYPES: Final = ("SOA", "NS", "A", "AAAA", "CNAME", "MX", "TXT", "PTR", "SRV", "ANY")


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run BusyBox nslookup.

    Source: tests/golden/programs/busybox-upstream, dns (bbnslookup).
    """
    kinds: list[str] = []
    words: list[str] = []
    for word in argv[1:]:
        if word.startswith(("-type=", "-query=", "-q=")):
            kind = word.partition("=")[2]
            if kind.upper() not in _TYPES:
                return Output("", f'nslookup: invalid query type "{kind}"\n', 1)
            kinds.append(kind.upper())
        elif not word.startswith("-"):
            words.append(word)
    if not words:
        return Output("", BANNER + _USAGE, 1)
    search, _, configured = wire.resolver()
    server = configured
    if len(words) > 1:
        found = wire.resolve(words[1])
        if not found.addresses:
            return Output("", f"nslookup: bad address '{words[1]}'\n", 1)
        server = found.addresses[0]
    host = words[0]
    names = _names(host, search)
    if text.is_address(host):
        kinds = ["PTR"]
    queries = [(name, kind) for kind in kinds or ["A", "AAAA"] for name in names]
    out = [f"Server:\t\t{server}\nAddress:\t{server}:53\n\n"]
    code = 0
    for name, kind in queries:
        answer = wire.query(name, kind, server)
        if answer.failure:
            complaint = ""
            if answer.failure == REFUSED:
                complaint = f"nslookup: write to '{server}': Connection refused\n"
            else:
                sleep(process, 5_000)
            return Output(";; connection timed out; no servers could be reached\n\n", complaint, 1)
        if answer.rcode != "NOERROR":
            out.append(f"** server can't find {name}: {answer.rcode}\n\n")
            code = 1
            continue
        for owner, each, value in answer.records:
            out.append(_record(owner, each, value.rstrip(".")))
        out.append("\n")
    return Output("".join(out), "", code)


def _names(host: str, search: tuple[str, ...]) -> list[str]:
    """Return the names asked for: a name with a dot never gets the search list."""
    if text.is_address(host):
        return [text.reverse(host)]
    bare = host.rstrip(".")
    if "." in host or not search:
        return [bare]
    return [f"{bare}.{domain}" for domain in search]


def _record(owner: str, kind: str, value: str) -> str:
    if kind in ("A", "AAAA"):
        return f"Name:\t{owner}\nAddress: {value}\n"
    if kind == "PTR":
        return f"{owner}\tname = {value}\n"
    if kind == "CNAME":
        return f"{owner}\tcanonical name = {value}\n"
    if kind == "SRV":
        return f"{owner}\tservice = {value}\n"
    return f"{owner}\t{kind.lower()} = {value}\n"
