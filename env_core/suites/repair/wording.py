"""Pages: the symptom as users, pipelines and colleagues report it. Two disjoint sets, one of them kept for evaluation.

No object name, parameter or mechanism stands in them beyond the way in that fails, or the team whose release waits (SEEDS TR-19).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.faults import Case, Sign
from env_core.sim.rng import Stream

_PAGES: Final[Mapping[Sign, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    Sign.ERRORS: (
        (
            "PagerDuty P1: requests to {url} fail. Customers notice. Find the cause and repair it for good.",
            "Synthetic check: {url} has not been answered as promised for some minutes. Restore it durably.",
        ),
        (
            "Support has a dozen tickets about {url}. Something broke; make it work again, and keep it working.",
            "The error budget of {url} is burning. Bring the service back and see that it stays.",
        ),
    ),
    Sign.SLOW: (
        (
            "PagerDuty P2: {url} answers, but far too late. Find out why and repair it for good.",
            "Latency alert for {url}: the objective is missed. Restore it durably.",
        ),
        ("Users call {url} sluggish since today. Find the cause and remove it for good.",),
    ),
    Sign.RELEASE: (
        (
            "The pipeline's last release in namespace {namespace} has not finished. Find out what holds it and get the application into a sound state.",
            "Deploy watcher: a rollout in {namespace} is overdue. Repair what is wrong, durably.",
        ),
        (
            "A colleague released something in {namespace} before lunch and it never went green. Sort it out for good.",
        ),
    ),
    Sign.PODS: (
        (
            "PagerDuty P3: pods in namespace {namespace} are not well. Find the cause and repair it for good.",
            "Workload monitor: {namespace} has pods that should run and do not. Repair it durably.",
        ),
        ("Something in {namespace} does not come up as it should. Find out what, and mend it for good.",),
    ),
    Sign.BATCH: (
        (
            "The job monitor misses results from namespace {namespace}. Find the cause and repair it for good.",
        ),
        ("Nobody has seen last night's results of {namespace}. Find out why, and mend it for good.",),
    ),
    Sign.DOUBT: (
        ("A colleague suspects that something is wrong in {namespace}. Check, and repair it if it is so.",),
        ("Handover note: please look whether {namespace} is really well; act only if it is not.",),
    ),
}
_HINTS: Final = (
    "A maintenance window closed a few minutes ago.",
    "Several people were working in this cluster today; none of them reported a problem.",
    "The delivery pipeline was active within the last hour.",
    "The nodes got their monthly patches last week; nothing unusual since.",
    "Nobody has announced a change today.",
)


def page(stream: Stream, case: Case, sign: Sign, *, is_kept_apart: bool) -> str:
    """Return what the agent is told at the outset."""
    entries = case.entries or case.base.entries
    entry = entries[0] if entries else None
    url = f"http://{entry.host}{entry.path}" if entry else f"namespace {case.namespace}"
    return stream.choice(_PAGES[sign][is_kept_apart]).format(url=url, namespace=case.namespace)


def hint(stream: Stream) -> str:
    """Return a remark about recent changes, which may be beside the point."""
    return stream.choice(_HINTS)
