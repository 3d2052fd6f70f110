"""A table that was stopped is gone on with, and what was measured is not measured again."""

import json

from env_core.suites.repair import SUITE, levels
from tests.baselines import __main__ as baselines


def test_a_table_that_was_stopped_is_gone_on_with(tmp_path, monkeypatch, capsys):
    known = {entry.task_id: f"{entry.family.id}/{entry.fault.id}" for entry in levels.variants().values()}
    names = [known.get(task.id, task.id) for task in SUITE.tasks]
    blank = {"level": 1, "is_control": False, **dict.fromkeys(baselines.NAMES, 0)}
    rows = [{"task": name, "seeds": 1, **blank} for name in names if name != "NW-01/selector-drift"]
    rows.append({"task": "NW-01/selector-drift", "seeds": 2, **blank})
    results = tmp_path / "baselines.json"
    results.write_text(json.dumps(rows))
    monkeypatch.setattr(baselines, "RESULTS", results)
    assert baselines.main(["--seeds", "1", "--jobs", "1", "--resume"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "TASK",
        "NW-01/selector-drift",
    ]
    written = json.loads(results.read_text())
    assert [row["task"] for row in written] == names
    measured = next(row for row in written if row["task"] == "NW-01/selector-drift")
    assert measured["seeds"] == measured["reference"] == measured["heuristic"] == measured["static"] == 1
    assert measured["no-op"] == 0
