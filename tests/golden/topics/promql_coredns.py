"""promql/coredns: what CoreDNS logs and answers, by its Corefile.

Times of answers are compared to whole seconds, as recorded. The zone of `file /etc/coredns/cluster.local.zone` is not in the
recording: it is made here from the sizes and counts of its answers.
"""

from __future__ import annotations

from typing import Any

from env_core.programs import REFUSED, TIMEOUT, coredns
from env_core.programs._coredns_serving import Asked, Message, Outcome, Query, Server, level_of
from env_core.programs._corefile import Zone
from env_core.programs._corefile_plugins import CLOUD, DIRECTIVES
from env_core.programs._zone_file import read_zone
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import coredns_line
from tests.golden.recordings import Folder, Record

ANSWERS = ("log", "queries", "ready", "exited", "exitCode", "logAfterSIGTERM")
PORT = 1053
# The README's servers on 127.0.0.1.
_SILENT, _CLOSED, _GARBAGE = ("127.0.0.1:1054", "127.0.0.1:1055", "127.0.0.1:1062")
_CODES = {
    "127.0.0.1:1056": "SERVFAIL",
    "127.0.0.1:1057": "REFUSED",
    "127.0.0.1:1058": "NOERROR",
    "127.0.0.1:1059": "NXDOMAIN",
}
_BUILD = coredns.Build("1.15.0", go="go1.26.8", revision="", plugins=DIRECTIVES - CLOUD)
ZONE_FILE = "/etc/coredns/cluster.local.zone"
_ZONE = """$ORIGIN cluster.local.
@ IN SOA ns.dns hostmaster 1 7200 1800 86400 30
@ IN NS ns.dns
kubernetes.default.svc IN A 10.96.0.1
cart.shop.svc IN A 10.96.44.7
_http._tcp.cart.shop.svc IN SRV 0 100 80 cart.shop.svc
"""
_FLOOD = "dial udp 127.0.0.1:1053: socket: too many open files"


def _ask(upstream: str, query: Query) -> Asked:
    address = upstream.rpartition("://")[2]
    code = _CODES.get(address)
    if code is None or "://" in upstream:
        return Asked(None, TIMEOUT if address in (_SILENT, _GARBAGE) else REFUSED)
    answers = (
        ((f"{query.name.rstrip('.')}.", "A", "192.0.2.1"),) if query.kind == "A" and code == "NOERROR" else ()
    )
    return Asked(Message(rcode=code, is_recursive=True, answers=answers))


def _shown(query: Record, outcome: Outcome) -> Record:
    message = outcome.message
    return {
        "name": query["name"],
        "type": query["type"],
        "rcode": message.rcode,
        "aa": message.is_authoritative,
        "answers": len(message.answers),
        "authority": len(message.authority),
        "seconds": round(outcome.took_ms / 1000, 0),
    }


def _lines(zones: tuple[Zone, ...], outcomes: list[Outcome]) -> list[str]:
    """Return the lines of queries, and of what the errors plugin gathered."""
    lines = [line for outcome in outcomes for line in outcome.lines]
    gathered: dict[tuple[int, str, str], int] = {}
    for outcome in outcomes:
        for zone in zones:
            for text in outcome.errors:
                rule = level_of(zone, text.partition(": ")[2])
                if rule is not None:
                    gathered[rule] = gathered.get(rule, 0) + 1
    for (period_ms, pattern, level), count in gathered.items():
        lines.append(
            f"[{level}] plugin/errors: {count} errors like '{pattern}' occurred in last {period_ms // 1000}s"
        )
    return lines


def _judge(record: Record, _folder: Folder) -> Comparison:
    has_api = "endpoint http://127.0.0.1:1060" not in record["corefile"]

    def start(text: str) -> coredns.Start:
        # Another DNS server of the recorder holds the usual port.
        return coredns.start(
            "/etc/coredns/Corefile", text, build=_BUILD, files={ZONE_FILE: _ZONE}, env={}, name_server="10.96.0.10",
            own_address="127.0.0.1", has_api=has_api, taken=("udp :53",),
        )  # fmt: skip

    begun = start(record["corefile"])
    log = [text for _, text in begun.lines]
    queries = record.get("queries") or []
    got: dict[str, Any] = {"exited": begun.code is not None}
    if begun.code is not None:
        got["exitCode"] = begun.code
    else:
        _serve(record, begun, log, queries, got)
    if "corefileAfter" in record:
        log += coredns.reloading(start(record["corefileAfter"]), record["corefileAfter"])
    if "logAfterSIGTERM" in record:
        got["logAfterSIGTERM"] = list(coredns.stopping(begun.zones))
    got["log"] = log[: len(record["log"])] if record.get("logLinesCut") else log
    wanted = {field: record[field] for field in ANSWERS if field in record}
    for side in (wanted, got):
        side["log"] = [coredns_line(line) for line in side["log"]]
    return Comparison(wanted, got)


def _serve(record: Record, begun: coredns.Start, log: list[str], queries: list[Record], got: Record) -> None:
    server = Server(begun.zones, {ZONE_FILE: read_zone(_ZONE, "cluster.local")}, _ask, version=_BUILD.release)
    if "ready" in record:
        waiting = sorted({"kubernetes" for zone in begun.zones if zone.has("kubernetes") and begun.wait_ms})
        got["ready"] = [503, ",".join(waiting)] if waiting else [200, "OK"]
        log += coredns.not_ready(waiting, _BUILD.release)
    if any(zone.has("loop") for zone in begun.zones):
        log += server.answer(Query(name=coredns.LOOP_QUERY, kind="HINFO"), PORT).lines
    if any(coredns.is_flooding(zone, "127.0.0.1") for zone in begun.zones):
        shown = [Outcome(Message(rcode="SERVFAIL", is_written=False), 4_000, ()) for _ in queries]
        log += [
            f"[ERROR] plugin/errors: 2 {query['name']}. {query['type']}: {_FLOOD}"
            for query in queries
            for _ in record["log"]
        ]
    else:
        shown, at_ms = [], 0
        for query in queries:
            shown.append(server.answer(Query(name=query["name"], kind=query["type"]), PORT, at_ms))
            at_ms += shown[-1].took_ms
        log += _lines(begun.zones, shown)
    if queries or "queries" in record:
        got["queries"] = [_shown(query, outcome) for query, outcome in zip(queries, shown, strict=True)]


TOPIC = Topic(name="promql/coredns", files=("coredns.jsonl",), answers=ANSWERS, judge=_judge)
