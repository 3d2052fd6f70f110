"""The declaration of a tron scenario: how it breaks, what counts as repaired, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from env_core.cluster import Cluster
from env_core.programs import Request
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.keep import Allowance

NAMESPACE = "tron"
HOST = "tron.localhost"

Params = Mapping[str, str]
Script = tuple[str, ...]


WAIT_SPREAD_MS = 45_000
_VISIT_PAUSE_MS = 10_000


def visited(cluster: Cluster, times: int = 1) -> None:
    """Let users ask for data before anybody is paged, so that logs tell of it."""
    for _ in range(times):
        cluster.network.request_ingress(Request(path="/data", host=HOST, timeout_ms=3_000))
        cluster.advance(_VISIT_PAUSE_MS)


def drawn_wait(stream: Stream, waits_ms: tuple[int, ...]) -> str:
    """Draw how long ago the last change was: one of the usual waits and up to 45 s more, in milliseconds."""
    return str(stream.choice(waits_ms) + stream.below(WAIT_SPREAD_MS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One incident template.

    `draw` turns a stream into this case's parameters; `inject` makes the changes through the API, as ordinary
    people and pipelines would, letting time pass between them. `score_after` is the service score that the
    activation check demands. `repairs` and `decoys` are shell scripts, one command a line.
    """

    type: str
    difficulty: str
    summary: str
    draw: Callable[[Stream], Params]
    inject: Callable[[Cluster, Params], None]
    score_after: float
    goals: Callable[[Params], tuple[Check, ...]]
    allowance: Callable[[Params], Allowance]
    repairs: Callable[[Params], tuple[Script, ...]]
    decoys: Callable[[Params], tuple[Script, ...]]
    evidence: Callable[[Params], tuple[tuple[str, str], ...]]
    """Read-only commands and a text that each one's output contains: the fault can be found."""
    source: str
