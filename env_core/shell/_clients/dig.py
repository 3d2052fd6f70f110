"""dig and host of bind9 9.18, and getent of glibc."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from env_core.shell._clients import _dns_text as text
from env_core.shell._clients._wire import REFUSED, Answer, Wire, sleep
from env_core.shell.context import Process
from env_core.world import Output

_VERSION: Final = "9.18.49-1~deb12u3-Debian"
_USAGE: Final = (
    "Usage:  dig [@global-server] [domain] [q-type] [q-class] {q-opt}\n"
    "            {global-d-opt} host [@local-server] {local-d-opt}\n"
    "            [ host [@local-server] {local-d-opt} [...]]\n\n"
    'Use "dig -h" (or "dig -h | more") for complete list of options\n'
)
_FLAGS: Final = frozenset(
    {
        "short", "search", "showsearch", "tcp", "vc", "cookie", "all", "answer", "comments", "question", "authority",
        "additional", "stats", "cmd", "recurse", "rec", "edns", "dnssec", "trace", "multiline", "identify", "ttlid",
        "class", "fail", "defname", "ignore", "qr", "nssearch", "aaflag", "adflag", "cdflag", "besteffort", "badcookie",
    }
)  # fmt: skip
_VALUED: Final = frozenset({"time", "tries", "retry", "ndots", "bufsize", "domain", "subnet", "timeout"})


@dataclass(slots=True)
class _Options:
    server: str = ""
    name: str = "."
    kind: str = "A"
    on: dict[str, bool] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)

    def shows(self, section: str) -> bool:
        return self.on.get(section, self.on.get("all", True))


def run(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run dig.

    Source: tests/golden/programs/dns.
    """
    options = _Options()
    words = argv[1:]
    position = 0
    names: list[str] = []
    while position < len(words):
        word = words[position]
        position += 1
        if word.startswith("@"):
            options.server = word[1:]
        elif word.startswith("+"):
            if not _set(options, word[1:]):
                return Output("", f"Invalid option: {word}\n{_USAGE}", 1)
        elif word == "-x" and position < len(words):
            names.append(text.reverse(words[position]))
            options.kind = "PTR"
            position += 1
        elif word in ("-t", "-c", "-p", "-b", "-q") and position < len(words):
            if word == "-t":
                options.kind = words[position].upper()
            elif word == "-q":
                names.append(words[position])
            position += 1
        elif word in ("-4", "-6", "-u", "-r"):
            continue
        elif word.startswith("-") and len(word) > 1:
            return Output("", f"Invalid option: {word}\n{_USAGE}", 1)
        elif word.upper() in text.TYPES and (names or word.isupper()):
            options.kind = word.upper()
        elif word.upper() not in ("IN", "CH", "HS"):
            names.append(word)
    if names:
        options.name = names[0]
    server, configured = options.server, wire.resolver()[2]
    if server and not text.is_address(server):
        found = wire.resolve(server)
        if not found.addresses:
            return Output("", f"dig: couldn't get address for '{server}': not found\n", 1)
        server = found.addresses[0]
    return _ask(process, wire, options, argv, server or configured)


def _set(options: _Options, word: str) -> bool:
    name, equals, value = word.partition("=")
    if equals and name in _VALUED:
        # dig says "Couldn't parse"; a number that is none counts as not given.
        if value.isascii() and value.isdecimal() and len(value) < 6:
            options.numbers[name] = value
        return True
    is_on = not (name.startswith("no") and name not in _FLAGS)
    bare = name if is_on else name[2:]
    if bare not in _FLAGS and bare not in _VALUED:
        return False
    if bare == "all":
        options.on = {
            key: value
            for key, value in options.on.items()
            if key not in ("answer", "comments", "question", "authority", "additional", "stats", "cmd")
        }
    options.on[bare] = is_on
    return True


def _ask(process: Process, wire: Wire, options: _Options, argv: list[str], server: str) -> Output:
    search, ndots, _ = wire.resolver()
    if "ndots" in options.numbers and options.numbers["ndots"].isdigit():
        ndots = int(options.numbers["ndots"])
    names = (
        text.candidates(options.name, search, ndots)
        if options.on.get("search") or options.on.get("showsearch")
        else [options.name.rstrip(".") or "."]
    )
    out: list[str] = []
    protocol = "TCP" if options.on.get("tcp") or options.on.get("vc") or options.kind == "ANY" else "UDP"
    for position, name in enumerate(names):
        answer = wire.query(name, options.kind, server, protocol)
        if answer.failure:
            return _silent(process, options, argv, server, name, answer, protocol)
        is_last = position == len(names) - 1 or (answer.rcode == "NOERROR" and bool(answer.records))
        if is_last or options.on.get("showsearch"):
            out.append(_shown(process, options, argv, server, name, answer, protocol))
        if is_last:
            break
    return Output("".join(out))


def _banner(options: _Options, argv: list[str]) -> str:
    found = f"\n; <<>> DiG {_VERSION} <<>> {' '.join(argv[1:])}\n"
    if options.server:
        found += "; (1 server found)\n"
    return found + ";; global options: +cmd\n"


def _silent(
    process: Process,
    options: _Options,
    argv: list[str],
    server: str,
    name: str,
    answer: Answer,
    protocol: str,
) -> Output:
    tries = options.numbers.get("tries", "3")
    if "retry" in options.numbers:
        tries = str(int(options.numbers["retry"]) + 1)
    wait_ms = int(options.numbers.get("time", options.numbers.get("timeout", "5"))) * 1000
    out: list[str] = []
    for _ in range(int(tries)):
        if answer.failure == REFUSED:
            if protocol == "TCP":
                out.append(
                    f";; Connection to {server}#53({server}) for {name} failed: connection refused.\n;; no servers could be reached\n"
                )
                continue
            out.append(f";; communications error to {server}#53: connection refused\n")
            continue
        if sleep(process, wait_ms):
            return Output("".join(out), "", 9)
        out.append(f";; communications error to {server}#53: timed out\n")
    if protocol == "TCP" and answer.failure == REFUSED:
        return Output("".join(out), "", 9)
    return Output("".join(out) + _banner(options, argv) + ";; no servers could be reached\n", "", 9)


def _shown(
    process: Process,
    options: _Options,
    argv: list[str],
    server: str,
    name: str,
    answer: Answer,
    protocol: str,
) -> str:
    if options.on.get("short"):
        return "".join(f"{text.value_text(kind, value)}\n" for _, kind, value in answer.records)
    has_cookie = options.on.get("cookie", True)
    now_ms = process.now_ms()
    number = now_ms // 7 % 65_536
    authority = answer.authority if not answer.records else ""
    out: list[str] = []
    if options.shows("cmd"):
        out.append(_banner(options, argv))
    if options.shows("comments"):
        out.append(";; Got answer:\n")
        if name.rstrip(".").endswith(".local") or name.rstrip(".") == "local":
            out.append(
                ";; WARNING: .local is reserved for Multicast DNS\n;; You are currently testing what happens when an mDNS query is leaked to DNS\n"
            )
        flags = (
            "qr" + (" aa" if answer.is_authoritative else "") + " rd" + (" ra" if answer.is_recursive else "")
        )
        out.append(f";; ->>HEADER<<- opcode: QUERY, status: {answer.rcode}, id: {number}\n")
        out.append(
            f";; flags: {flags}; QUERY: 1, ANSWER: {len(answer.records)}, AUTHORITY: {int(bool(authority))}, ADDITIONAL: 1\n"
        )
        if not answer.is_recursive:
            out.append(";; WARNING: recursion requested but not available\n")
        out.append("\n;; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n")
        if has_cookie:
            out.append(f"; COOKIE: {now_ms % (1 << 64):016x} (echoed)\n")
    if options.shows("question"):
        out.append(
            (";; QUESTION SECTION:\n" if options.shows("comments") else "")
            + text.question_line(name, options.kind)
            + "\n"
        )
    if answer.records and options.shows("answer"):
        if options.shows("comments"):
            out.append(";; ANSWER SECTION:\n")
        out += [
            text.record_line(owner, answer.ttl_seconds, kind, text.value_text(kind, value))
            for owner, kind, value in answer.records
        ]
        if options.shows("comments") or options.on.get("all", True):
            out.append("\n")
    if authority and options.shows("authority"):
        if options.shows("comments"):
            out.append(";; AUTHORITY SECTION:\n")
        out += [text.record_line(authority, answer.ttl_seconds, "SOA", text.soa_of(authority)), "\n"]
    if options.shows("stats"):
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=now_ms)
        size = text.size(name, answer, has_cookie=has_cookie)
        out.append(
            f";; Query time: {answer.latency_ms} msec\n;; SERVER: {server}#53({server}) ({protocol})\n;; WHEN: {at:%a %b %d %H:%M:%S UTC %Y}\n;; MSG SIZE  rcvd: {size}\n\n"
        )
    return "".join(out)


_HOST_USAGE: Final = """Usage: host [-aCdilrTvVw] [-c class] [-N ndots] [-t type] [-W time]
            [-R number] [-m flag] [-p port] hostname [server]
       -a is equivalent to -v -t ANY
       -A is like -a but omits RRSIG, NSEC, NSEC3
       -c specifies query class for non-IN data
       -C compares SOA records on authoritative nameservers
       -d is equivalent to -v
       -l lists all hosts in a domain, using AXFR
       -m set memory debugging flag (trace|record|usage)
       -N changes the number of dots allowed before root lookup is done
       -p specifies the port on the server to query
       -r disables recursive processing
       -R specifies number of retries for UDP packets
       -s a SERVFAIL response should stop query
       -t specifies the query type
       -T enables TCP/IP mode
       -U enables UDP mode
       -v enables verbose output
       -V print version number and exit
       -w specifies to wait forever for a reply
       -W specifies how long to wait for a reply
       -4 use IPv4 query transport only
       -6 use IPv6 query transport only
"""


def run_host(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run bind's host."""
    words: list[str] = []
    kind, wait_ms = "", 5_000
    rest = argv[1:]
    while rest:
        word = rest.pop(0)
        if word in ("-t", "-W", "-R", "-N", "-c", "-p", "-m") and rest:
            value = rest.pop(0)
            kind = value.upper() if word == "-t" else kind
            wait_ms = int(value) * 1000 if word == "-W" and value.isdigit() else wait_ms
        elif not word.startswith("-"):
            words.append(word)
    if not words:
        return Output("", _HOST_USAGE, 1)
    host = words[0]
    search, ndots, configured = wire.resolver()
    server = words[1] if len(words) > 1 else ""
    head = f"Using domain server:\nName: {server}\nAddress: {server}#53\nAliases: \n\n" if server else ""
    is_reverse = text.is_address(host)
    names = [text.reverse(host)] if is_reverse else text.candidates(host, search, ndots)
    asked = host
    answer = Answer(rcode="NXDOMAIN")
    for name in names:
        asked = name
        answer = wire.query(name, "PTR" if is_reverse else kind or "A", server)
        if answer.failure:
            why = "connection refused" if answer.failure == REFUSED else "timed out"
            out = ""
            for _ in range(2):
                if answer.failure != REFUSED and sleep(process, wait_ms):
                    return Output(out, "", 1)
                out += f";; communications error to {server or configured}#53: {why}\n"
            return Output(out + ";; no servers could be reached\n", "", 1)
        if answer.rcode != "NXDOMAIN" and (answer.records or answer.rcode != "NOERROR"):
            break
    if answer.rcode != "NOERROR":
        code = {"NXDOMAIN": 3, "SERVFAIL": 2, "REFUSED": 5}[answer.rcode]
        shown = text.dotted(asked) if is_reverse else host
        return Output(f"{head}Host {shown} not found: {code}({answer.rcode})\n", "", 1)
    lines = [_host_line(owner, each, value) for owner, each, value in answer.records]
    if not lines:
        return Output(f"{head}{asked} has no {kind or 'A'} record\n")
    return Output(head + "".join(lines))


def _host_line(owner: str, kind: str, value: str) -> str:
    if kind == "A":
        return f"{owner} has address {value}\n"
    if kind == "CNAME":
        return f"{owner} is an alias for {text.dotted(value)}\n"
    if kind == "PTR":
        return f"{owner} domain name pointer {text.dotted(value)}\n"
    if kind == "SRV":
        return f"{owner} has SRV record {value}\n"
    return f"{owner} has {kind} record {value}\n"


_ACCOUNTS: Final = {
    "root": ("root", "0", "0", "root", "/root", "/bin/bash"),
    "nobody": ("nobody", "65534", "65534", "nobody", "/nonexistent", "/usr/sbin/nologin"),
}
_SERVICES: Final = {
    "http": "80/tcp",
    "https": "443/tcp",
    "ssh": "22/tcp",
    "domain": "53/tcp",
    "redis": "6379/tcp",
    "postgresql": "5432/tcp",
    "mysql": "3306/tcp",
}
_TRY_GETENT: Final = "Try `getent --help' or `getent --usage' for more information.\n"


def run_getent(process: Process, argv: list[str], wire: Wire) -> Output:
    """Run glibc's getent for hosts, ahosts, passwd and services."""
    words = argv[1:]
    if not words:
        return Output(_TRY_GETENT, "getent: wrong number of arguments\n", 1)
    database, keys = words[0], words[1:]
    if database in ("hosts", "ahosts", "ahostsv4"):
        return _hosts(process, wire, database, keys)
    if database == "passwd":
        lines = [
            f"{name}:x:{':'.join(rest)}\n"
            for name, *rest in _ACCOUNTS.values()
            if not keys or name in keys or rest[0] in keys
        ]
        lines = [line for line in lines if line]
        if not lines and keys == ["1000"]:
            lines = ["app:x:1000:1000::/home/app:/bin/sh\n"]
        return Output("".join(lines), "", 0 if lines else 2)
    if database == "services":
        lines = [f"{name:<21} {port}\n" for name, port in _SERVICES.items() if not keys or name in keys]
        return Output("".join(lines), "", 0 if lines else 2)
    return Output(_TRY_GETENT, f"Unknown database: {database}\n", 1)


def _hosts(process: Process, wire: Wire, database: str, keys: list[str]) -> Output:
    out: list[str] = []
    for host in keys:
        if host == "localhost" and database == "hosts":
            out.append("::1             localhost ip6-localhost ip6-loopback\n")
            continue
        if text.is_address(host) and database == "hosts":
            answer = wire.query(text.reverse(host), "PTR")
            if answer.failure or not answer.records:
                return Output("".join(out), "", 2)
            out.append(f"{host:<15} {answer.records[0][2]}\n")
            continue
        found = wire.resolve(host)
        sleep(process, found.latency_ms)
        if not found.addresses:
            return Output("".join(out), "", 2)
        if database == "hosts":
            out += [f"{address:<15} {found.name}\n" for address in found.addresses]
            continue
        for position, address in enumerate(found.addresses):
            name = found.name if position == 0 else ""
            out += [f"{address:<15} STREAM {name}\n", f"{address:<15} DGRAM  \n", f"{address:<15} RAW    \n"]
    return Output("".join(out))
