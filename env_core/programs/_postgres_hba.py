"""pg_hba.conf: who may connect how, what is said of those who may not, and of lines that are wrong.

Source: postgres 15 src/backend/libpq/hba.c, auth.c; tests/golden/programs/postgres (postgres.auth.*, postgres.hba.*).
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import NamedTuple

_METHODS = (
    "trust", "reject", "scram-sha-256", "md5", "password", "gss", "sspi", "ident", "peer", "ldap", "radius", "cert", "pam", "bsd",
)  # fmt: skip
_KINDS = ("local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc")
PASSWORDS = ("scram-sha-256", "md5", "password")


class Rule(NamedTuple):
    """One line."""

    number: int
    text: str
    kind: str
    databases: tuple[str, ...]
    users: tuple[str, ...]
    address: str
    method: str


class Problem(NamedTuple):
    """Why a line is refused."""

    text: str
    number: int


@lru_cache(maxsize=64)
def read(text: str) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    """Return the rules of a file, and what is wrong with it."""
    rules: list[Rule] = []
    problems: list[Problem] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        words = raw.partition("#")[0].split()
        if not words:
            continue
        kind = words[0]
        if kind not in _KINDS:
            problems.append(Problem(f'invalid connection type "{kind}"', number))
            continue
        places = words[1:] if kind == "local" else words[1:4]
        if len(words) < (4 if kind == "local" else 5):
            problems.append(Problem("end-of-line before authentication method", number))
            continue
        address = "" if kind == "local" else places[2]
        method = words[3 if kind == "local" else 4]
        problem = _address_problem(address)
        if not problem and method not in _METHODS:
            problem = f'invalid authentication method "{method}"'
        if problem:
            problems.append(Problem(problem, number))
            continue
        rules.append(
            Rule(
                number,
                " ".join(words),
                kind,
                tuple(words[1].split(",")),
                tuple(words[2].split(",")),
                address,
                method,
            )
        )
    return tuple(rules), tuple(problems)


def _address_problem(address: str) -> str:
    if not address or "/" not in address:
        return ""
    try:
        ipaddress.ip_network(address, strict=False)
    except ValueError:
        return f'invalid CIDR mask in address "{address}"'
    return ""


def match(rules: tuple[Rule, ...], *, is_local: bool, database: str, user: str, address: str) -> Rule | None:
    """Return the first rule that fits a connection."""
    for rule in rules:
        if (rule.kind == "local") != is_local or rule.kind in ("hostssl", "hostgssenc"):
            continue
        if not _has(rule.databases, database, user) or not _has(rule.users, user, ""):
            continue
        if is_local or _covers(rule.address, address):
            return rule
    return None


def _has(names: tuple[str, ...], name: str, user: str) -> bool:
    return "all" in names or name in names or ("sameuser" in names and name == user)


def _covers(place: str, address: str) -> bool:
    if place in ("all", address):
        return True
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(place, strict=False)
    except ValueError:
        return place == "samenet"
