"""The page says what the committed counts say, and the counts are whole."""

import json

import pytest

from training import report
from training.shares import wilson, z_of


def test_the_page_has_the_tables_of_the_committed_results():
    page = report.PAGE.read_text()
    assert report.written(page, report.tables()) == page


@pytest.mark.parametrize(
    "path", sorted(report.RESULTS.glob("*-greedy.json")) + sorted(report.RESULTS.glob("*-sampled.json"))
)
def test_pooled_counts_are_the_sums_of_the_seeds_and_of_the_kinds(path):
    result = json.loads(path.read_text())
    assert sorted(result["by_seed"]) == sorted(map(str, result["seeds"]))
    for when in ("before", "after"):
        for key in ("successes", "n"):
            assert result[when][key] == sum(entry[when][key] for entry in result["by_seed"].values())
        sums = [sum(column) for column in zip(*result["by_task"][when].values(), strict=True)]
        assert sums == [result[when]["successes"], result[when]["n"]]


def test_tables_are_made_from_the_counts(tmp_path):
    counts = {"successes": 50, "n": 100}
    better = {"successes": 80, "n": 100}
    solved = {"calls_solved": 4.2, "calls_solved_min": 3}
    result = {
        "before": counts,
        "after": better,
        "by_seed": {"0": {"before": counts, "after": {**better, **solved}}},
        "by_task": {"before": {"a": [50, 100]}, "after": {"a": [80, 100]}},
    }
    for way in report.WAYS:
        (tmp_path / f"x-{way}.json").write_text(json.dumps(result))
    (tmp_path / "x-run.json").write_text(json.dumps({"seconds": {"0": {"sft": 60.0, "grpo": 120.0}}}))
    made = report.tables(tmp_path, "x")
    assert "| greedy | 50/100 = 50.0% (40.4% to 59.6%) | 80/100 = 80.0% (71.1% to 86.7%) | 4.4 |" in made
    assert "| 0 | 50/100 | 80/100 | 4.2 (3) | 3.0 |" in made
    assert "| `a` | 50/100 | 80/100 |" in made
    assert report.tables(tmp_path / "none") == "It has not been run yet."


def test_intervals_and_z():
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert z_of((50, 100), (80, 100)) == pytest.approx(4.448, abs=1e-3)
    assert z_of((10, 10), (10, 10)) == 0.0
