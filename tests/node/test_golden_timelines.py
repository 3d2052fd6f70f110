"""Recorded pods of the real kubelet 1.37.2, replayed: what a client sees must be the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.node import replaying

SEEDS = (7, 8, 9)
"""Chance decides how long back-offs are stretched; one of these draws must look like the recording."""

MATCHED_MIN = 228
MATCHED_MIN_OF_TAG = {
    "Always": 5,
    "Never": 4,
    "OnFailure": 4,
    "admission": 9,
    "aggregation": 2,
    "attach": 1,
    "backoff": 11,
    "config": 13,
    "crash": 2,
    "crashloop": 6,
    "createerror": 2,
    "csi": 6,
    "deadline": 4,
    "defaults": 1,
    "delete": 25,
    "dns": 3,
    "downward": 1,
    "ephemeral": 1,
    "events": 2,
    "eviction": 4,
    "exit": 19,
    "hook": 11,
    "image": 25,
    "imagegc": 1,
    "init": 8,
    "killerror": 2,
    "kubelet-restart": 1,
    "liveness": 17,
    "long": 4,
    "multi": 9,
    "oom": 4,
    "pressure": 2,
    "probe": 35,
    "pull": 3,
    "qos": 3,
    "readiness": 10,
    "reset": 1,
    "resize": 7,
    "rules": 3,
    "sandbox": 5,
    "secret": 2,
    "security": 9,
    "sidecar": 11,
    "soft": 1,
    "start": 7,
    "starterror": 6,
    "startup": 3,
    "subpath": 3,
    "termmsg": 6,
    "update": 1,
    "volume": 26,
}


def _is_ours(record: Any) -> bool:
    return bool(record["standalone"])


def _differences(record: Any, seed: int) -> dict[str, str]:
    want = replaying.recorded(record)
    _, got = replaying.replay(record, seed)
    found = {
        "states": replaying.state_difference(want, got),
        "events": replaying.event_difference(record, want, got),
        "starts": replaying.start_difference(record, want, got),
    }
    return {aspect: text for aspect, text in found.items() if text}


def _best(record: Any) -> dict[str, str]:
    first: dict[str, str] = {}
    for seed in SEEDS:
        try:
            found = _differences(record, seed)
        except Exception as error:  # a crash is a difference like others, to be counted and shown
            found = {"error": f"{type(error).__name__}: {error}"}
        if not found:
            return {}
        first = first or found
        if "error" in found:
            break
    return first


@pytest.fixture(scope="module")
def outcome() -> tuple[dict[str, dict[str, str]], Counter[str], Counter[str]]:
    failures: dict[str, dict[str, str]] = {}
    totals: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for record in replaying.records():
        if not _is_ours(record):
            continue
        tags = [*record["tags"], "all"]
        totals.update(tags)
        found = _best(record)
        if found:
            failures[record["name"]] = found
        else:
            matched.update(tags)
    return failures, totals, matched


def test_recorded_pods_look_the_same(outcome):
    failures, totals, matched = outcome
    assert matched["all"] >= MATCHED_MIN, replaying.report(failures, totals, matched)


@pytest.mark.parametrize(("tag", "least"), sorted(MATCHED_MIN_OF_TAG.items()))
def test_recorded_pods_look_the_same_by_topic(outcome, tag, least):
    failures, totals, matched = outcome
    assert matched[tag] >= least, replaying.report(failures, totals, matched)
