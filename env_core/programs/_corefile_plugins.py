"""What CoreDNS's plugins make of their words in a Corefile: their settings, and their complaints.

Source: github.com/coredns/coredns plugin/*/setup.go (1.14.7) and plugin.cfg; tests/golden/promql/coredns (1.15.0),
tests/golden/programs/coredns (1.12.1).
"""

from __future__ import annotations

from typing import Final

from env_core.objects._re2_parser import Re2Error
from env_core.objects.goint import IntegerError, atoi
from env_core.objects.problems import quoted
from env_core.objects.re2 import compiled
from env_core.programs._corefile_cache import cache
from env_core.programs._corefile_cluster import kubernetes, rewrite
from env_core.programs._corefile_forward import forward
from env_core.programs._corefile_matching import acl, template
from env_core.programs._corefile_parser import CorefileProblem, Cursor
from env_core.programs._corefile_words import (
    HOSTNAMES_SINCE,
    ONCE,
    Facts,
    Refused,
    Setup,
    Surroundings,
    Turns,
    check_address,
    duration_of,
    is_ip,
    zone_list,
)
from env_core.sim.timefmt import DurationError, parse_go_duration

# In the order in which they are set up, and in which a query passes them.
_ORDER: Final = (
    "root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket reload nsid bufsize bind debug"
    " trace ready health pprof shed prometheus errors log dnstap local dns64 any chaos loadbalance tsig rewrite autopath acl"
    " cache header dnssec tls minimal template transfer hosts route53 azure clouddns k8s_external kubernetes file auto"
    " secondary etcd loop forward grpc erratic whoami on sign view nomad"
)
ORDER: Final = tuple(_ORDER.split())
DIRECTIVES: Final = frozenset(ORDER)
CLOUD: Final = frozenset({"route53", "azure", "clouddns"})
"""Directives that a lean build knows by name only."""


def _bare(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    cursor.next()
    if cursor.next_on_line():
        raise cursor.wrong_count()


def _errors(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        words = cursor.rest_of_line()
        if len(words) > 1:
            raise cursor.wrong_count()
        if words and words[0] != "stdout":
            raise cursor.problem(f"invalid log file: {words[0]}")
        while cursor.next_in_block():
            if cursor.value == "stacktrace":
                continue
            if cursor.value != "consolidate":
                raise cursor.unexpected(f"Unknown field {cursor.value}")
            facts.consolidated = (*facts.consolidated, _consolidated(cursor))


def _consolidated(cursor: Cursor) -> tuple[int, str, str]:
    words = cursor.rest_of_line()
    if not 2 <= len(words) <= 4:
        raise cursor.wrong_count()
    try:
        period_ms = parse_go_duration(words[0])
        compiled(words[1])
    except (DurationError, Re2Error) as error:
        raise cursor.problem(str(error)) from None
    level = ""
    shows_first = False
    for word in words[2:]:
        if word in ("warning", "error", "info", "debug"):
            if level:
                raise cursor.problem("multiple log levels specified in consolidate")
            if shows_first:
                raise cursor.problem("log level must come before show_first in consolidate")
            level = word
        elif word == "show_first":
            shows_first = True
        else:
            raise cursor.problem(f"unknown option in consolidate: {word}")
    return period_ms, words[1], (level or "error").upper()


def _health(cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    facts.health = ":8080"
    for _ in Turns(cursor):
        words = cursor.rest_of_line()
        if len(words) > 1:
            raise cursor.wrong_count()
        if words:
            check_address(words[0])
            facts.health = words[0]
        while cursor.next_in_block():
            if cursor.value != "lameduck":
                if around.version < HOSTNAMES_SINCE:
                    raise cursor.wrong_count()
                raise cursor.problem(f"unknown property '{cursor.value}'")
            words = cursor.rest_of_line()
            if len(words) != 1:
                raise cursor.wrong_count()
            try:
                parse_go_duration(words[0])
            except DurationError as error:
                raise Refused(f"unable to parse lameduck duration value: '{words[0]}' : {error}") from None
            facts.lameduck = words[0]


def _ready(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    facts.ready = ":8181"
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        words = cursor.rest_of_line()
        if len(words) > 1:
            raise cursor.wrong_count()
        if words:
            check_address(words[0])
            facts.ready = words[0]
        while cursor.next_in_block():
            if cursor.value != "monitor":
                raise cursor.problem(f"unknown property '{cursor.value}'")
            words = cursor.rest_of_line()
            if len(words) != 1:
                raise cursor.wrong_count()
            if words[0] not in ("until-ready", "continuously"):
                raise cursor.problem(f"monitor type '{words[0]}' not supported")


def _prometheus(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    facts.metrics = "localhost:9153"
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        words = cursor.rest_of_line()
        if len(words) > 1:
            raise cursor.wrong_count()
        if words:
            check_address(words[0])
            facts.metrics = words[0]
        while cursor.next_in_block():
            if cursor.value not in ("runtime_metrics", "tls"):
                raise cursor.problem(f"unknown option: {cursor.value}")
            if len(cursor.rest_of_line()) > 1:
                raise cursor.wrong_count()


def _log(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    for _ in Turns(cursor):
        cursor.rest_of_line()
        classes: list[str] = []
        while cursor.next_in_block():
            if cursor.value != "class":
                raise cursor.problem(f"unknown property '{cursor.value}'")
            words = cursor.rest_of_line()
            if not words:
                raise cursor.wrong_count()
            for word in words:
                if word not in ("all", "success", "denial", "error"):
                    raise Refused(f"invalid Class: {word}")
            classes += words
        facts.log_classes = tuple(dict.fromkeys((*facts.log_classes, *(classes or ["all"]))))


def _loadbalance(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    for _ in Turns(cursor):
        words = cursor.rest_of_line()
        if words and words[0] == "round_robin":
            if len(words) > 1:
                raise cursor.problem(f"unknown property for {words[0]}")
        elif words and words[0] == "weighted":
            if len(words) < 2:
                raise cursor.problem("missing weight file argument")
            if len(words) > 2:
                raise cursor.problem("unexpected argument(s)")
            while cursor.next_in_block():
                if cursor.value != "reload":
                    raise cursor.problem(f"unknown property '{cursor.value}'")
                cursor.rest_of_line()
        elif words:
            raise Refused(f"unknown policy: {words[0]}")
        while cursor.next_in_block():
            if cursor.value != "prefer":
                raise cursor.problem(f"unknown property '{cursor.value}'")
            cursor.rest_of_line()


def _reload(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    cursor.next()
    words = cursor.rest_of_line()
    if len(words) > 2:
        raise cursor.wrong_count()
    if words and duration_of(words[0]) < 2_000:
        raise Refused("interval value must be greater or equal to 2s")
    if len(words) > 1 and (jitter_ms := duration_of(words[1])) and jitter_ms < 1_000:
        raise Refused("jitter value must be 0 or greater or equal to 1s")


def _loop(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        if cursor.next_on_line():
            raise cursor.wrong_count()


def _hosts(cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        words = cursor.rest_of_line()
        rows: list[list[str]] = []
        if words and words[0] not in around.files and words[0] != "/etc/hosts":
            facts.warnings.append(f"[WARNING] plugin/hosts: File does not exist: {words[0]}")
        elif words:
            rows += [line.partition("#")[0].split() for line in around.files.get(words[0], "").splitlines()]
        while cursor.next_in_block():
            name = cursor.value
            values = cursor.rest_of_line()
            if name == "fallthrough":
                facts.hosts_fall_through = True
            elif name == "no_reverse":
                continue
            elif name == "ttl":
                _hosts_ttl(cursor, values, facts)
            elif name == "reload":
                if len(values) != 1:
                    raise cursor.problem("reload needs a duration (zero seconds to disable)")
                try:
                    period_ms = parse_go_duration(values[0])
                except DurationError:
                    raise cursor.problem(f"invalid duration for reload '{values[0]}'") from None
                if period_ms < 0:
                    raise cursor.problem(f"invalid negative duration for reload '{values[0]}'")
            elif facts.hosts_fall_through:
                raise cursor.problem(f"unknown property '{name}'")
            else:
                rows.append([name, *values])
        facts.answers = tuple(
            (host.rstrip(".").lower(), row[0]) for row in rows if row and is_ip(row[0]) for host in row[1:]
        )


def _hosts_ttl(cursor: Cursor, values: list[str], facts: Facts) -> None:
    if not values:
        raise cursor.problem("ttl needs a time in second")
    try:
        ttl = atoi(values[0])
    except IntegerError:
        raise cursor.problem("ttl needs a number of second") from None
    if not 0 < ttl <= 65_535:
        raise cursor.problem("ttl provided is invalid")
    facts.hosts_ttl_seconds = ttl


def _file(cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    is_missing = ""
    for _ in Turns(cursor):
        if not cursor.next_on_line():
            raise cursor.wrong_count()
        path = cursor.value
        zones = zone_list(cursor.rest_of_line(), around.keys)
        if path not in around.files:
            is_missing = path
        while cursor.next_in_block():
            name = cursor.value
            values = cursor.rest_of_line()
            if name == "reload":
                if not values:
                    raise Refused("reload duration value is expected")
                try:
                    parse_go_duration(values[0])
                except DurationError as error:
                    raise Refused(f"plugin/file: {error}") from None
            elif name not in ("fallthrough", "reload_by_mtime", "upstream"):
                raise cursor.problem(f"unknown property '{name}'")
        facts.zone_files = (*facts.zone_files, *((zone, path) for zone in zones))
    if is_missing:
        facts.warnings.append(
            f'[WARNING] plugin/file: Failed to open "open {is_missing}: no such file or directory": trying again in 1m0s'
        )


def _bufsize(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    cursor.next()
    words = cursor.rest_of_line()
    if len(words) > 1 or (words and not (words[0].isdigit() and 512 <= int(words[0]) <= 4_096)):
        raise Refused(f"plugin/bufsize: {cursor.wrong_count().text}")


def _bind(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    for _ in Turns(cursor):
        words = cursor.rest_of_line()
        if not words:
            raise Refused("at least one address or interface name is expected")
        while cursor.next_in_block():
            if cursor.value != "except":
                raise Refused(f"invalid option {quoted(cursor.value)}")
            if not cursor.rest_of_line():
                raise Refused("at least one address or interface must be given to except subdirective")
        for word in words:
            if not is_ip(word) and word not in ("lo", "eth0"):
                raise Refused(f"not a valid IP address or interface name: {quoted(word)}")


def _autopath(cursor: Cursor, _facts: Facts, around: Surroundings) -> None:
    for _ in Turns(cursor):
        words = cursor.rest_of_line()
        if not words:
            raise Refused("no resolv-conf specified")
        if not words[-1].startswith("@") and words[-1] not in (*around.files, "/etc/resolv.conf"):
            raise Refused(f"failed to parse {quoted(words[-1])}: open {words[-1]}: no such file or directory")


def _ignored(cursor: Cursor, _facts: Facts, _around: Surroundings) -> None:
    while cursor.next():
        pass


_SETUPS: Final[dict[str, Setup]] = {
    "cache": cache, "errors": _errors, "health": _health, "ready": _ready, "prometheus": _prometheus, "log": _log,
    "loadbalance": _loadbalance, "reload": _reload, "loop": _loop, "hosts": _hosts, "file": _file, "rewrite": rewrite,
    "kubernetes": kubernetes, "template": template, "acl": acl, "bufsize": _bufsize, "bind": _bind, "autopath": _autopath,
    "forward": forward, "whoami": _bare, "debug": _bare, "any": _bare, "minimal": _bare, "local": _bare, "metadata": _ignored,
}  # fmt: skip


def set_up(name: str, cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    """Let one plugin read its words.

    Raises:
        CorefileProblem: with the plugin's own text.
    """
    facts.plugins.append(name)
    try:
        _SETUPS.get(name, _ignored)(cursor, facts, around)
    except Refused as problem:
        raise CorefileProblem(f"plugin/{name}: {problem}") from None
    except CorefileProblem as problem:
        raise CorefileProblem(f"plugin/{name}: {problem.text}") from None
