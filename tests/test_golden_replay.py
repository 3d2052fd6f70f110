"""The harness that replays recordings: what agrees stays so, and what disagrees is noticed."""

import json

import pytest

from tests.golden import mutations, replay
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison
from tests.golden.recordings import GOLDEN, Folder
from tests.golden.topics import programs_service_clients

FLOORS = json.loads(replay.FLOORS.read_text())
WHOLE = ("l0/*", "l2/facts/*", "l2/defaults", "l2/kubectl")
"""Topics that are quick enough to be replayed whole; `python -m tests.golden.replay` replays all."""
FLOWS = {
    "rs-pod-delete": 10,
    "gc-owner": 20,
    "label-annotate": 32,
    "quota": 24,
    "deploy-create": 11,
    "wait-cmd": 22,
}
"""Steps of some flows that agree."""


@pytest.mark.parametrize("pattern", WHOLE)
def test_no_topic_falls_below_its_floor(pattern):
    tallies = replay.run([GOLDEN], pattern)
    assert tallies
    failures = replay.below_floor(tallies)
    shown = [comparison.diff(name) for tally in tallies.values() for name, comparison in tally.differences]
    assert failures == [], "\n".join([*failures, *shown[:5]])


@pytest.mark.parametrize("name", sorted(FLOWS))
def test_flows_stay_as_recorded(name):
    (path,) = (GOLDEN / "l2" / "flows").glob(f"{name}.json.gz")
    tally = replay.run([path], kept=2)["l2/flows"]
    assert tally.matched >= FLOWS[name], "\n".join(
        comparison.diff(unit) for unit, comparison in tally.differences
    )


def test_every_recorded_file_that_holds_records_has_a_topic():
    tables = ("texts.json", "texts.jsonl", "errors.jsonl", "_setup.json")
    lost = [
        path.relative_to(GOLDEN).as_posix()
        for path in replay.files_under(GOLDEN)
        if replay.plain_name(path).endswith(".jsonl") and replay.topic_of(path) is None
    ]
    assert [name for name in lost if not name.removesuffix(".gz").endswith(tables)] == []


def test_every_topic_has_a_floor_or_no_recording_here():
    here = {topic.name for path in replay.files_under(GOLDEN) if (topic := replay.topic_of(path)) is not None}
    assert sorted(here - set(FLOORS)) == []


def test_what_is_not_simulated_is_counted_and_said(capsys):
    topic = next(each for each in replay.topics() if each.judge is None and each.name in FLOORS)
    assert replay.main([str(GOLDEN), "--topic", topic.name, "--json"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    (row,) = json.loads(last)["topics"]
    assert (row["matched"], row["total"]) == (0, FLOORS[topic.name][1])


def test_a_few_records_elsewhere_are_replayed_like_the_whole_file(tmp_path):
    records = Folder(GOLDEN / "l0" / "selectors.jsonl.gz").records
    few = [record for record in records if record["kind"] == "field"][3:6]
    (tmp_path / "selectors.jsonl").write_text("".join(json.dumps(record) + "\n" for record in few))
    (tally,) = replay.run([tmp_path]).values()
    assert (tally.matched, tally.total) == (3, 3)


def test_a_lone_document_is_known_by_what_it_holds(tmp_path):
    source = GOLDEN / "l2" / "flows" / "gc-owner.json.gz"
    (tmp_path / "anything.json.gz").write_bytes(source.read_bytes())
    assert list(replay.run([tmp_path])) == ["l2/flows", "l2/flows (managed fields)"]


def test_the_exit_code_tells_of_a_fall_below_the_floor(monkeypatch, tmp_path):
    floors = tmp_path / "floors.json"
    floors.write_text(json.dumps({"l0/duration": [FLOORS["l0/duration"][0] + 1, FLOORS["l0/duration"][1]]}))
    monkeypatch.setattr(replay, "FLOORS", floors)
    assert replay.main([str(GOLDEN / "l0" / "duration.jsonl.gz"), "--differences", "0"]) == 1


@pytest.fixture
def written(monkeypatch, tmp_path):
    """Let the floors and what remains be written elsewhere: two topics so far."""
    for name, content in (("FLOORS", {"a": [1, 4], "b": [2, 2]}), ("REMAINING", {"a": ["x", "y", "z"]})):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content))
        monkeypatch.setattr(replay, name, path)
    return lambda: (json.loads(replay.FLOORS.read_text()), json.loads(replay.REMAINING.read_text()))


def test_what_is_accepted_of_one_topic_leaves_the_others(written):
    replay.accept({"c": replay.Tally(matched=1, total=2, unmatched=["u"])}, is_whole=False)
    assert written() == ({"a": [1, 4], "b": [2, 2], "c": [1, 2]}, {"a": ["x", "y", "z"], "c": ["u"]})


def test_a_part_of_a_topic_is_not_accepted(written):
    before = written()
    with pytest.raises(ValueError, match="a: 3 of 4 units were run"):
        replay.accept({"a": replay.Tally(matched=3, total=3)}, is_whole=False)
    assert written() == before


def test_differences_show_as_unified_diffs():
    shown = Comparison({"stdout": "a\nb\n", "rc": 0}, {"stdout": "a\nc\n", "rc": 0}).diff("case")
    assert shown.splitlines() == [
        "--- case (recorded)",
        "+++ case (ours)",
        "@@ -2,2 +2,2 @@",
        " a",
        "-b",
        "+c",
    ]
    assert Comparison({}, NOT_IMPLEMENTED).diff("case") == "case: not implemented"


def test_almost_every_change_of_a_recorded_answer_is_noticed():
    found = mutations.mutations(2, documents=4, lines_only=("kubelet/timelines",), seed=7)
    missed = [each for each in found if not each.was_noticed]
    assert len(found) >= 60
    assert len(missed) <= 0.01 * len(found), missed


def test_a_change_in_what_a_client_library_says_is_noticed():
    noticed = 0
    for name in ("app-python", "app-node", "app-java", "client-libs"):
        folder = Folder(GOLDEN / "programs" / f"{name}.jsonl.gz")
        for record in folder.records:
            found = programs_service_clients.judge(record, folder)
            if found.apart or not found.is_equal:
                continue
            said = found.wanted[0].partition(": ")[2] or found.wanted[0]
            changed = record["stderr"].replace(said, f"{said}q")
            assert not programs_service_clients.judge({**record, "stderr": changed}, folder).is_equal, record[
                "id"
            ]
            noticed += 1
    assert noticed >= 60
