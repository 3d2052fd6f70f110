"""nslookup of bind9 9.18."""

from __future__ import annotations

from env_core.shell._clients import _dns_text as text
from env_core.shell._clients._wire import REFUSED, Answer, Wire, sleep
from env_core.shell.context import Process
from env_core.world import Output


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run nslookup.

    Source: tests/golden/programs/dns.
    """
    kind = ""
    out: list[str] = []
    words: list[str] = []
    for word in argv[1:]:
        if word.startswith("-") and len(word) > 1:
            name, _, value = word[1:].partition("=")
            if name in ("type", "query", "querytype", "q"):
                if value.upper() not in text.TYPES:
                    out.append(f"unknown query type: {value}\n")
                else:
                    kind = value.upper()
            continue
        words.append(word)
    if not words:
        code = 0
        for line in process.stdin.splitlines():
            if line.strip() in ("exit", ""):
                continue
            code = _look(process, wire, line.split()[0], "", kind, out)
        return Output("".join(out), "", code)
    code = _look(process, wire, words[0], words[1] if len(words) > 1 else "", kind, out)
    return Output("".join(out), "", code)


def _look(process: Process, wire: Wire, host: str, server: str, kind: str, out: list[str]) -> int:
    search, ndots, configured = wire.resolver()
    address = server or configured
    if server and not text.is_address(server):
        found = wire.resolve(server)
        if not found.addresses:
            out.append(f"nslookup: couldn't get address for '{server}': not found\n")
            return 1
        address = found.addresses[0]
    is_reverse = text.is_address(host)
    names = [text.reverse(host)] if is_reverse else text.candidates(host, search, ndots)
    wanted = "PTR" if is_reverse else kind or "A"
    answer = Answer(rcode="NXDOMAIN")
    asked = host
    for name in names:
        answer = wire.query(name, wanted, address if server else "")
        asked = name
        if answer.failure:
            return _silent(process, answer, address, out)
        if not answer.is_recursive and not server:
            out.append(f";; Got recursion not available from {address}\n")
        if answer.rcode == "SERVFAIL":
            out.append(f";; Got SERVFAIL reply from {address}\n")
        if answer.rcode != "NXDOMAIN" and (answer.records or answer.rcode != "NOERROR"):
            break
    head = f"Server:\t\t{address}\nAddress:\t{address}#53\n\n"
    if answer.rcode != "NOERROR":
        shown = asked if is_reverse else host
        out.append(f"{head}** server can't find {shown}: {answer.rcode}\n\n")
        return 1
    if is_reverse:
        out += [f"{name}\tname = {text.dotted(value)}\n" for name, _, value in answer.records]
        out.append("\n")
        return 0
    out.append(head)
    if not answer.records:
        out.append(f"*** Can't find {host}: No answer\n\n")
        return 0
    for name, each, value in answer.records:
        if each == "CNAME":
            out.append(f"{name}\tcanonical name = {text.dotted(value)}\n")
        elif each == "SRV":
            out.append(f"{name}\tservice = {value}\n")
        elif each == "A":
            out.append(f"Name:\t{name}\nAddress: {value}\n")
        else:
            out.append(f"{name}\t{each.lower()} = {value}\n")
    if not kind and not server and not wire.query(asked, "AAAA").is_recursive:
        out.append(f";; Got recursion not available from {address}\n")
    out.append("\n")
    return 0


def _silent(process: Process, answer: Answer, address: str, out: list[str]) -> int:
    is_refused = answer.failure == REFUSED
    why = "connection refused" if is_refused else "timed out"
    for _ in range(3):
        if not is_refused and sleep(process, 5_000):
            return 1
        out.append(f";; communications error to {address}#53: {why}\n")
    out.append(";; no servers could be reached\n\n")
    return 1
