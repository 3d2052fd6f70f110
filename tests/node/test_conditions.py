"""Phases and conditions against what the real functions returned."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from env_core.node import conditions

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "pod_phase.jsonl.gz"
RECORDS = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]


def _statuses(pod: Any) -> dict[str, Any]:
    status = pod.get("status") or {}
    return {
        row["name"]: {**row, "state": row.get("state") or {}}
        for key in ("initContainerStatuses", "containerStatuses")
        for row in status.get(key) or ()
    }


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_phase_is_that_of_the_real_function(record):
    statuses = _statuses(record["pod"])

    def phase(*, is_ended: bool, was_initialized: bool) -> str:
        return conditions.phase_of(
            record["pod"], statuses, is_ended=is_ended, was_initialized=was_initialized
        )

    assert phase(is_ended=False, was_initialized=True) == record["phase"]
    assert phase(is_ended=False, was_initialized=False) == record["phaseNotInitialized"]
    assert phase(is_ended=True, was_initialized=True) == record["phaseIfTerminal"]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_conditions_are_those_of_the_real_functions(record):
    pod = record["pod"]
    statuses = _statuses(pod)
    all_ready = conditions.containers_ready(pod, statuses, record["phase"])
    found = {
        "containersReady": all_ready,
        "initialized": conditions.initialized(pod, statuses, record["phase"]),
        "ready": conditions.ready(pod, (pod.get("status") or {}).get("conditions") or (), all_ready),
    }
    for name, actual in found.items():
        expected = record.get(name)
        if expected is not None:
            keys = ("type", "status", "reason", "message")
            assert {key: actual.get(key) for key in keys} == {key: expected.get(key) for key in keys}
