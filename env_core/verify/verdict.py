"""Reach a verdict on a fork: settle, check, churn the pods, settle again, check again; the world is left alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.sim.work import VERDICT_MAX
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Interrupted

SETTLE_QUIET_MS = 5_000
SETTLE_TIMEOUT_MS = 90_000
TRAFFIC_MS = 20_000
TOO_BUSY = "the cluster does not come to rest: it has too much to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome: for each check, "" when it held before and after the churn, else why not."""

    repairs: Mapping[str, str]
    keeps: Mapping[str, str]

    @property
    def is_repaired(self) -> bool:
        """Whether every check held throughout."""
        return not any(self.repairs.values()) and not any(self.keeps.values())

    @property
    def share(self) -> float:
        """The share of repair checks that held, in [0, 1]."""
        held = sum(1 for why in self.repairs.values() if not why)
        return held / len(self.repairs) if self.repairs else 1.0

    def reasons(self) -> list[str]:
        """Return why it is no repair, in order of the checks."""
        return [why for why in (*self.repairs.values(), *self.keeps.values()) if why]


Churn = Callable[[Cluster], None]


def delete_pods(namespace: str) -> Churn:
    """Return a churn that deletes every pod of a namespace, as an eviction storm would."""

    def churn(cluster: Cluster) -> None:
        admin = cluster.client()
        for pod in cluster.store.list("pods", namespace):
            try:
                admin.delete("pods", namespace, pod["metadata"]["name"], Options(grace_period_seconds=1))
            except StatusError as error:
                if error.code != 404:
                    raise

    return churn


def judge(
    cluster: Cluster, repairs: tuple[Check, ...], keeps: tuple[Check, ...], churns: tuple[Churn, ...]
) -> Verdict:
    """Return the verdict on `cluster` as it is now. Nothing in `cluster` changes.

    Nothing holds in a cluster that has so much to do that it cannot be told.
    """
    fork = cluster.fork()
    why: dict[str, str] = {}
    checks = (*repairs, *keeps)
    try:
        with fork.work.limited(VERDICT_MAX):
            fork.settle(SETTLE_QUIET_MS, SETTLE_TIMEOUT_MS)
            _note(why, fork, checks)
            for churn in churns:
                churn(fork)
                fork.settle(SETTLE_QUIET_MS, SETTLE_TIMEOUT_MS)
                fork.advance(TRAFFIC_MS)
                _note(why, fork, checks)
    except Interrupted:
        why = {check.name: why.get(check.name) or TOO_BUSY for check in checks}
    return Verdict(
        repairs={check.name: why[check.name] for check in repairs},
        keeps={check.name: why[check.name] for check in keeps},
    )


def _note(why: dict[str, str], fork: Cluster, checks: tuple[Check, ...]) -> None:
    view = View(fork)
    for check in checks:
        if not why.get(check.name):
            why[check.name] = check.fails(view)
