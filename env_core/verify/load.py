"""LOAD: the peak that an application sees on a busy day, replayed through its original ways in while a client measures.

The traffic rises, stays, and falls again. Each request stands for all users of its tick, who come at once, so that a limit costs
what it costs a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from env_core.cluster import Cluster
from env_core.verify.checks.entries import why_not_served
from env_core.verify.entry import Entry
from env_core.verify.trials import Trial

TICK_MS: Final = 500
STEP_MS: Final = 150
"""From one user to the next at a way in that is watched without a gap."""
SERVED_SHARE: Final = 0.95
"""How many of a peak's requests must be answered as promised."""
_RAMP: Final = 0.25
"""The share of the time in which traffic rises, and in which it falls: it is half as strong then."""


def load(entries: Sequence[Entry], per_second: int, duration_ms: int) -> Trial:
    """Return the trial of a peak of `per_second` requests at each way in, which lasts `duration_ms`."""

    def act(cluster: Cluster) -> str:
        return why_overloaded(cluster, entries, per_second, duration_ms)

    return Trial("load", act)


def under_traffic(trial: Trial, entries: Sequence[Entry], duration_ms: int) -> Trial:
    """Return a trial while which, and for so long after it, users go on coming: each one of them must be served."""

    def act(cluster: Cluster) -> str:
        why = trial.act(cluster)
        if why:
            return why
        end_ms = cluster.now_ms + duration_ms
        while cluster.now_ms < end_ms:
            for entry in entries:
                why = why_not_served(cluster, entry)
                if why:
                    return f"{why} meanwhile"
            cluster.advance(STEP_MS)
        return ""

    return Trial(f"{trial.name} under traffic", act)


def why_overloaded(cluster: Cluster, entries: Sequence[Entry], per_second: int, duration_ms: int) -> str:
    """Send a peak to a cluster, which changes by it; return "" when enough is served as promised, else what was wrong first."""
    if not entries:
        return "there is no way in"
    ticks = max(duration_ms // TICK_MS, 1)
    edge = int(ticks * _RAMP)
    most = max(per_second * TICK_MS // 1_000, 1)
    asked = failed = 0
    first = ""
    for tick in range(ticks):
        users = most if edge <= tick < ticks - edge else max(most // 2, 1)
        for entry in entries:
            why = why_not_served(cluster, entry, users=users)
            asked += users
            if why:
                failed += users
                first = first or why
        cluster.advance(TICK_MS)
    if failed <= asked * (1 - SERVED_SHARE):
        return ""
    return f"{failed} of {asked} requests of the peak are not served: {first}"
