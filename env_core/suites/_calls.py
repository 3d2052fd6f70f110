"""REST requests as actions: which change something, and what they cost.

A person's or a program's own client (kubectl, Helm, a library) sends them, several for each command. Writes cost what the
command costs that sends them; so many reads together count as one look.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import orjson

from env_core.rest.api import UPGRADES
from env_core.rest.message import HttpRequest
from env_core.rest.paths import Target, target_of
from env_core.rest.queries import Query
from env_core.suites import _pricing as pricing

READS_PER_STEP: Final = 10
"""So many reads count as one step: `describe` sends up to six, `get all` ten."""
_REVIEWS = frozenset({"authorization.k8s.io", "authentication.k8s.io"})
_ROLLED = frozenset({"deployments", "statefulsets", "daemonsets"})
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_RESTARTED: Final = b"kubectl.kubernetes.io/restartedAt"


class Call(NamedTuple):
    """What a suite makes of a request."""

    is_action: bool
    """Whether it asks a resource: discovery, OpenAPI, reviews and health are free."""
    is_mutating: bool = False
    cost: float = 0.0
    refusal: str = ""
    """Why the suite refuses it; "" when it does not."""
    reads_records: bool = False
    """Whether it reads what requests leave behind: logs, usage, files."""


def reviewed(request: HttpRequest) -> Call:
    """Return what a suite makes of a request, before it is answered; one that refuses some adds the refusal."""
    path, _, text = request.target.partition("?")
    target = target_of(path)
    if target is None or target.group in _REVIEWS:
        return Call(is_action=False)
    if target.subresource in UPGRADES:
        is_exec = target.subresource == "exec"
        return Call(
            is_action=True,
            is_mutating=is_exec,
            cost=pricing.EXEC if is_exec else pricing.READ,
            reads_records=True,
        )
    if request.method not in _WRITES:
        has_records = target.subresource in ("log", "proxy") or target.group == "metrics.k8s.io"
        return Call(is_action=True, reads_records=has_records)
    if target.subresource == "token" or _is_dry_run(request, text):
        return Call(is_action=True)
    return Call(is_action=True, is_mutating=True, cost=_price(request, target), reads_records=True)


def plural_of(request: HttpRequest) -> str:
    """Return the group-qualified plural that a request is about; "" for discovery and the like."""
    target = target_of(request.target.partition("?")[0])
    if target is None:
        return ""
    return f"{target.plural}.{target.group}" if target.group else target.plural


def _is_dry_run(request: HttpRequest, query: str) -> bool:
    """Whether a write only tries; of a deletion with a body the API reads the options from there alone."""
    if request.method != "DELETE" or not request.body:
        return bool(Query(query).text("dryRun"))
    try:
        options = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return False
    return isinstance(options, dict) and bool(options.get("dryRun"))


def as_write(request: HttpRequest) -> Call:
    """Return what the suite makes of a request that has written, whatever it looked like."""
    target = target_of(request.target.partition("?")[0])
    cost = pricing.CHANGE if target is None else _price(request, target)
    return Call(is_action=True, is_mutating=True, cost=cost, reads_records=True)


def _price(request: HttpRequest, target: Target) -> float:
    if request.method == "DELETE" or target.subresource == "eviction":
        return pricing.DESTROY
    if target.subresource == "scale":
        return pricing.SCALE
    if target.plural == "nodes" and not target.group:
        return pricing.ROLL
    if target.plural in _ROLLED and request.method == "PATCH" and _RESTARTED in request.body:
        return pricing.ROLL
    return pricing.CHANGE
