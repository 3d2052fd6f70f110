"""HEALTH: an outside client that nobody in the cluster sees or edits uses the original ways in for a while."""

from __future__ import annotations

from collections.abc import Sequence

from env_core.cluster import Cluster
from env_core.programs import Request
from env_core.verify.checks._model import Check
from env_core.verify.entry import Entry
from env_core.verify.view import View

ROUNDS = 8
ROUND_MS = 2_000
"""Requests go out every two seconds of virtual time: sixteen seconds in all."""


def why_not_served(cluster: Cluster, entry: Entry, *, users: int = 1) -> str:
    """Send one request, or that of so many users at once; return "" when it is answered as promised, else what was wrong."""
    reply = cluster.network.request_ingress(
        Request(
            method=entry.method,
            path=entry.path,
            host=entry.host,
            body=entry.body,
            timeout_ms=entry.latency_ms_max * 3,
        ),
        users=users,
    )
    if reply.failure:
        return f"{entry.name} answers {reply.failure}"
    if reply.status != entry.status:
        return f"{entry.name} answers {reply.status}"
    if entry.contains not in reply.body:
        return f"{entry.name} answers without {entry.contains!r}"
    if reply.latency_ms > entry.latency_ms_max:
        return f"{entry.name} takes {reply.latency_ms} ms"
    return ""


def all_served(entries: Sequence[Entry]) -> Check:
    """Every way in serves every request for a while."""

    def fails(view: View) -> str:
        if not entries:
            return "there is no way in"
        trial = view.fork()
        for _ in range(ROUNDS):
            trial.advance(ROUND_MS)
            for entry in entries:
                why = why_not_served(trial, entry)
                if why:
                    return why
        return ""

    return Check("the ways in serve", fails)


def some_fail(entries: Sequence[Entry]) -> Check:
    """At least one request of a while is not served as promised: users notice."""

    def fails(view: View) -> str:
        return "" if all_served(entries).fails(view) else "every request is served"

    return Check("users notice", fails)
