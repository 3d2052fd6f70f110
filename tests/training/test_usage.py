"""What a user of the scripts gets wrong is said in one line, at once, and costs nothing that was there."""

import dataclasses
import json
import subprocess
import sys

import pytest

from tests.server.children import ROOT, free_port
from training import data, launcher, scaling
from training.data import DataError
from training.errors import UsageError
from training.plan import PlanError, load, parsed
from training.replicas import ReplicaError, Replicas
from training.scripting import script

CONFIG = ROOT / "training" / "configs" / "cpu-tiny.yaml"
LARGE = ROOT / "training" / "configs" / "qwen3-8b-1xa100.yaml"
SMALL = ["data.demonstrations=4", "data.preferences=4", "data.incidents=2"]


@pytest.fixture(scope="module")
def rows():
    return data.demonstrations(load(CONFIG, SMALL))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("tasks=[[tron, nothing]]", "tasks: unknown task 'nothing'"),
        ("tasks=tron", "pair of suite and task"),
        ("tasks=[tron]", "pair of suite and task"),
        ("name=5", "name"),
        ("model=5", "model: 5 has no keys"),
        ("lora=5", "lora: 5 has no keys"),
        ("sft.arguments=5", "sft.arguments: 5 is no set of keys and values"),
        ("environment.urls=http://a:1", "environment.urls: 'http://a:1' is no list"),
        ("environment.urls=[a]", "no URL"),
        ("environment.options={colour: 1}", "environment.options.colour: unknown option"),
        ("environment.halves=0", "give at least 1"),
        ("grpo.credit=token", "grpo.credit: 'token' is none of episode, turn"),
        ("evaluation.split=tests", "evaluation.split"),
        ("data.habit=.nan", "data.habit"),
        ("data.habit=2", "data.habit"),
        ("model.kind=hub", "model.name"),
        ("model.layers=[", "is no YAML"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_key(change, said):
    with pytest.raises(PlanError) as caught:
        load(CONFIG, [change])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"a: [", b"- 1", b"\xff\xfe\xfa", b"tasks: [[tron, easy]]"])
def test_a_file_that_is_no_plan_is_refused(tmp_path, content):
    path = tmp_path / "plan.yaml"
    path.write_bytes(content)
    with pytest.raises(PlanError):
        load(path)
    with pytest.raises(PlanError, match="cannot be read"):
        load(tmp_path / "none.yaml")


def test_a_part_and_arguments_without_content_are_the_defaults():
    plan = parsed({"name": "x", "tasks": [["tron", "easy"]], "sft": {"arguments": None}, "grpo": None})
    assert plan.sft.arguments == {}


def test_an_error_of_the_user_is_one_line_of_a_script_and_any_other_is_not(capsys):
    def fails(error):
        def main():
            raise error

        return main

    for error in (UsageError("x: no"), DataError("x: no"), ReplicaError("x: no")):
        with pytest.raises(SystemExit) as caught:
            script(fails(error))
        assert (caught.value.code, capsys.readouterr().err) == (2, "error: x: no\n")
    with pytest.raises(SystemExit) as caught:
        script(fails(KeyboardInterrupt()))
    assert (caught.value.code, capsys.readouterr().err) == (130, "interrupted\n")
    with pytest.raises(ValueError, match="a bug"):
        script(fails(ValueError("a bug")))


def test_the_scripts_are_run_that_way():
    done = subprocess.run(
        [sys.executable, "-m", "training.data", "check", "/nowhere"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "error: /nowhere is no data set: No such file or directory: /nowhere/rows.jsonl\n"


def test_a_folder_that_exists_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(data.MAKERS, "demonstrations", lambda plan: pytest.fail("it was made all the same"))
    with pytest.raises(UsageError, match="is there already"):
        data.main(["demonstrations", str(tmp_path), "--config", str(CONFIG)])
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be made"):
        data.main(["demonstrations", str(tmp_path / "file" / "set"), "--config", str(CONFIG)])


@pytest.mark.parametrize("line", ["", "{", "5", "{}", '{"suite": "tron"}'])
def test_what_is_no_data_set_is_refused_with_its_line(tmp_path, line):
    (tmp_path / "rows.jsonl").write_text(line + "\n" if line else "")
    with pytest.raises(DataError, match="line 1" if line else "no rows"):
        data.read(tmp_path)


def test_a_data_set_without_rows_is_not_written(tmp_path):
    with pytest.raises(DataError, match="no rows"):
        data.write(tmp_path / "none", [], {})
    assert not (tmp_path / "none").exists()


def test_a_stage_reads_no_rows_of_the_test_split_and_none_of_the_other_kind(tmp_path, rows):
    data.write(tmp_path / "good", rows, {})
    assert data.read(tmp_path / "good", pairs=False) == rows
    with pytest.raises(DataError, match="line 1 is none of preferences"):
        data.read(tmp_path / "good", pairs=True)
    (tmp_path / "bad").mkdir()
    seed = data.draw([("tron", "easy")], "test", 1, 0)[0].seed
    (tmp_path / "bad" / "rows.jsonl").write_text(json.dumps(rows[0].shown() | {"seed": seed}) + "\n")
    with pytest.raises(DataError, match="belongs to test"):
        data.read(tmp_path / "bad")


def test_a_row_that_claims_more_than_was_played_does_not_check(rows):
    plan = load(CONFIG, SMALL)
    assert data.check(rows, plan) == len(rows)
    more = [*rows[0].messages, {"role": "assistant", "content": "done"}]
    for change in ({"is_solved": not rows[0].is_solved}, {"messages": more}):
        with pytest.raises(DataError, match="row 1, tron/"):
            data.check([dataclasses.replace(rows[0], **change)], plan)


@pytest.mark.parametrize("what", sorted(data.MAKERS))
def test_data_sets_of_tasks_without_scripts_are_refused(what):
    with pytest.raises(DataError, match="repair/repair-1"):
        data.MAKERS[what](load(LARGE))


def test_no_answering_server_is_an_error_that_names_them():
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ReplicaError, match=url):
        Replicas.at([url]).wait_for_any(0.1)


def test_a_launch_beyond_the_plan_and_a_folder_without_adapter_are_refused(tmp_path):
    with pytest.raises(UsageError, match="--index"):
        launcher.main([str(CONFIG), "server", "--index", "2"])
    with pytest.raises(UsageError, match="--rank"):
        launcher.main([str(CONFIG), "train", "--rank", "1"])
    with pytest.raises(UsageError, match="is no adapter"):
        scaling.main([str(tmp_path), str(tmp_path / "half"), "0.5"])
    assert not (tmp_path / "half").exists()
