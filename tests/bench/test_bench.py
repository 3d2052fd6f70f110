"""The bench runs, its document has the promised shape, and its mix is what the budgets speak of."""

from __future__ import annotations

import json

import pytest

from tests.bench import __main__ as bench
from tests.bench import mix
from tests.bench.load import frame
from tests.bench.report import MET, MISSED, Row, document, regressions, table

ROW_KEYS = {
    "id", "what", "unit", "budget", "measured", "is_higher_better", "peer", "peer_measured", "ratio", "verdict", "skipped",
    "details",
}  # fmt: skip


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    target = tmp_path_factory.mktemp("bench") / "bench.json"
    assert bench.main(["--quick", "--only", "1", "2", "3", "--json", str(target)]) == 0
    return json.loads(target.read_text())


def test_the_document_has_the_promised_shape(quick):
    assert set(quick) == {"schema", "quick", "machine", "rows"}
    assert quick["quick"] is True
    assert [row["id"] for row in quick["rows"]] == ["1", "2", "3"]
    for row in quick["rows"]:
        assert set(row) == ROW_KEYS
        assert row["verdict"] in (MET, MISSED)
        assert row["measured"] > 0
        assert row["peer_measured"] > 0
        assert row["ratio"] > 0


def test_the_step_row_tells_where_the_time_goes_and_that_the_commands_worked(quick):
    details = quick["rows"][2]["details"]
    commands = details["by_command"]
    assert details["steps"] == 40
    assert len(commands) == 10
    assert {name: entry["exits_not_0"] for name, entry in commands.items() if entry["exits_not_0"]} == {}
    assert set(details["parts_of_a_read"]) >= {"command", "probe", "summary", "whole step"}


def test_the_mix_has_two_rollouts_in_twenty_steps_and_every_read_twice():
    lines = [mix.command(at) for at in range(mix.STEPS)]
    reads = [line for line in lines if not mix.is_rollout(line)]
    assert len(lines) - len(reads) == 2
    assert sorted(reads) == sorted(2 * list(dict.fromkeys(reads)))


def test_a_row_whose_machinery_fails_is_told_and_the_others_are_measured(monkeypatch):
    def broken(_profile, *, is_quick):
        raise RuntimeError("no such thing")

    monkeypatch.setitem(bench.GROUPS, "1", (broken,))
    monkeypatch.setattr(bench.in_process, "warm", lambda: None)
    rows = bench.run(["1"], is_quick=True, profile=bench.Profile(is_on=False), say=lambda _text: None)
    assert [(row.id, row.verdict, row.skipped) for row in rows] == [
        ("1", "skipped", "RuntimeError: no such thing")
    ]


def row(**changed):
    return Row(
        **{
            "id": "x",
            "what": "thing",
            "unit": "ms",
            "measured": 2.0,
            "budget": 3.0,
            "peer": "peer",
            "peer_measured": 8.0,
        }
        | changed
    )


@pytest.mark.parametrize(
    ("changed", "verdict", "ratio"),
    [
        ({}, "met", 4.0),
        ({"measured": 4.0}, "missed", 2.0),
        ({"measured": 4.0, "is_higher_better": True}, "met", 0.5),
        ({"budget": None}, "-", 4.0),
        ({"measured": None, "skipped": "no peer"}, "skipped", None),
        ({"peer_measured": None}, "met", None),
    ],
)
def test_a_row_knows_its_verdict_and_ratio(changed, verdict, ratio):
    assert (row(**changed).verdict, row(**changed).ratio) == (verdict, ratio)


def test_only_a_ratio_that_fell_by_more_than_a_fifth_is_a_regression():
    before = json.dumps(document([row()], is_quick=True)).encode()
    assert regressions([row(measured=2.4)], before) == []
    assert regressions([row(measured=2.6)], before) == ["x: ratio 3.08, was 4"]
    assert regressions([row(id="new")], before) == []


def test_the_table_has_one_line_a_row_and_tells_why_one_was_skipped():
    lines = table([row(), row(measured=None, skipped="no kubectl")]).splitlines()
    assert len(lines) == 4
    assert "8 ms (4×)" in lines[2]
    assert "no kubectl" in lines[3]


@pytest.mark.parametrize("length", [0, 125, 126, 300])
def test_a_frame_is_final_masked_and_carries_its_payload(length):
    payload = bytes(at % 251 for at in range(length))
    sent = frame(payload)
    assert sent[0] == 0x81
    assert sent[1] & 0x80
    start = 2 if length < 126 else 4
    declared = sent[1] & 0x7F if length < 126 else int.from_bytes(sent[2:4], "big")
    assert declared == length
    mask = sent[start : start + 4]
    assert bytes(byte ^ mask[at % 4] for at, byte in enumerate(sent[start + 4 :])) == payload
