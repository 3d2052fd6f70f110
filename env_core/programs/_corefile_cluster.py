"""What CoreDNS's kubernetes and rewrite plugins make of their words.

Source: github.com/coredns/coredns plugin/kubernetes/setup.go, plugin/rewrite (1.14.7); tests/golden/promql/coredns.
"""

from __future__ import annotations

from typing import Final

from env_core.objects._re2_parser import Re2Error
from env_core.objects.goint import atoi
from env_core.objects.problems import quoted
from env_core.objects.re2 import compiled
from env_core.programs._corefile_parser import Cursor
from env_core.programs._corefile_words import ONCE, Facts, Refused, Surroundings, Turns, number_of, zone_list
from env_core.programs._dns_names import full_name
from env_core.sim.timefmt import DurationError, parse_go_duration


def kubernetes(cursor: Cursor, facts: Facts, around: Surroundings) -> None:
    """Read `kubernetes` lines."""
    for turn in Turns(cursor):
        if turn:
            raise Refused(ONCE)
        zones = zone_list(cursor.rest_of_line(), around.keys)
        if all(
            zone.endswith((".in-addr.arpa.", ".ip6.arpa.", "in-addr.arpa.", "ip6.arpa.")) for zone in zones
        ):
            raise Refused("non-reverse zone name must be used")
        facts.cluster_zones = tuple(zone.rstrip(".") for zone in zones)
        namespaces = labels = False
        while cursor.next_in_block():
            name = cursor.value
            _kubernetes_property(cursor, name, facts)
            namespaces = namespaces or name == "namespaces"
            labels = labels or name == "namespace_labels"
        if namespaces and labels:
            raise cursor.problem("namespaces and namespace_labels cannot both be set")
    if not facts.endpoint and "KUBERNETES_SERVICE_HOST" not in around.env:
        raise Refused(
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
        )


def _kubernetes_property(cursor: Cursor, name: str, facts: Facts) -> None:
    counts = _KUBERNETES.get(name)
    if counts is None:
        raise cursor.problem(f"unknown property '{name}'")
    words = cursor.rest_of_line()
    if not counts[0] <= len(words) <= counts[1]:
        raise cursor.wrong_count()
    if name == "pods":
        if words[0] not in ("disabled", "verified", "insecure"):
            raise Refused(f"wrong value for pods: {words[0]},  must be one of: disabled, verified, insecure")
        facts.pods = words[0]
    elif name == "endpoint":
        facts.endpoint = words[0]
        if len(words) > 1:
            facts.warnings.append(
                "[WARNING] plugin/kubernetes: Multiple endpoints have been deprecated, only the first specified endpoint"
                f" '{words[0]}' is used"
            )
    elif name == "ttl":
        ttl = number_of(words[0])
        if not 0 <= ttl <= 3_600:
            raise cursor.problem(f"ttl must be in range [0, 3600]: {ttl}")
        facts.ttl_seconds = ttl
    elif name == "fallthrough":
        facts.falls_through = tuple(full_name(word) for word in words) or (".",)
    elif name == "ignore" and words and words[0] != "empty_service":
        raise Refused(f"unable to parse ignore value: '{words[0]}'")
    elif name == "startup_timeout":
        try:
            facts.startup_ms = parse_go_duration(words[0])
        except DurationError as error:
            raise Refused(f"failed to parse startup_timeout: {words[0]}, {error}") from None
    elif name == "kubeconfig":
        facts.endpoint = f"kubeconfig {words[0]}"
    elif name.startswith("apiserver_"):
        _api_limit(cursor, name, words[0])


def _api_limit(cursor: Cursor, name: str, word: str) -> None:
    function = "ParseFloat" if name == "apiserver_qps" else "Atoi"
    try:
        number = float(word) if function == "ParseFloat" else atoi(word)
    except ValueError:
        raise cursor.problem(
            f"invalid {name} {quoted(word)}: strconv.{function}: parsing {quoted(word)}: invalid syntax"
        ) from None
    if number < 0:
        raise cursor.problem(f"{name} must be >= 0")


_MANY: Final = 1_000
_KUBERNETES: Final[dict[str, tuple[int, int]]] = {
    "endpoint_pod_names": (0, 0), "pods": (1, 1), "namespaces": (1, _MANY), "endpoint": (1, _MANY), "tls": (3, 3),
    "labels": (1, _MANY), "namespace_labels": (1, _MANY), "fallthrough": (0, _MANY), "ttl": (1, _MANY), "noendpoints": (0, 0),
    "zonal": (0, 0), "ignore": (0, _MANY), "kubeconfig": (1, 2), "multicluster": (0, _MANY), "startup_timeout": (1, _MANY),
    "apiserver_qps": (1, 1), "apiserver_burst": (1, 1), "apiserver_max_inflight": (1, 1),
}  # fmt: skip


def rewrite(cursor: Cursor, facts: Facts, _around: Surroundings) -> None:
    """Read `rewrite` lines."""
    for _ in Turns(cursor):
        words = cursor.rest_of_line()
        if len(words) < 2:
            while cursor.next_in_block():
                words.append(cursor.value)
                words += cursor.rest_of_line()
        rule = _rewrite_rule(words)
        if rule is not None:
            facts.rewrites = (*facts.rewrites, rule)


def _rewrite_rule(words: list[str]) -> tuple[str, str, str] | None:
    if not words:
        raise Refused("no rule type specified for rewrite")
    first = words[0].lower()
    rest = words
    if first in ("continue", "stop"):
        if len(words) < 2:
            raise Refused(f"{first} rule must begin with a rule type")
        rest = words[1:]
    kind = rest[0].lower()
    if kind == "answer":
        raise Refused("response rewrites must begin with a name rule")
    if kind in ("class", "type"):
        if len(rest) != 3:
            raise Refused(f"{kind} rules must have exactly two arguments")
        return None
    if kind == "name":
        return _name_rule(rest[1:])
    if kind not in ("edns0", "ttl", "cname", "rcode"):
        raise Refused(f"invalid rule type {quoted(words[0])}")
    return None


def _name_rule(words: list[str]) -> tuple[str, str, str]:
    if len(words) < 2:
        raise Refused("too few arguments for a name rule")
    if len(words) == 2:
        return "exact", full_name(words[0]), full_name(words[1])
    kind = words[0].lower()
    if len(words) > 3:
        if len(words) < 5:
            raise Refused(f"invalid arguments for {kind} rule")
        if words[3] != "answer":
            raise Refused(f"exceeded the number of arguments for a non-answer rule argument for {kind} rule")
    if kind == "regex":
        try:
            compiled(words[1])
        except Re2Error:
            raise Refused(f"invalid regex matching pattern: {words[1]}") from None
        return kind, words[1], words[2]
    if kind not in ("exact", "prefix", "suffix", "substring"):
        raise Refused(
            f"name rule supports only exact, prefix, suffix, substring, and regex name matching, received: {kind}"
        )
    source, target = words[1].lower(), words[2].lower()
    return (
        (kind, full_name(source), full_name(target))
        if kind in ("exact", "suffix")
        else (kind, source, target)
    )
