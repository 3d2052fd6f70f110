"""jq against jq 1.6 of Debian 12, recorded filter by filter in data/filters.jsonl (`jq -nc FILTER`)."""

import pytest

from tests.shell import shellkit
from tests.shell.shellkit import run, stdout

PODS = (
    '{"items":[{"metadata":{"name":"a"},"status":{"phase":"Running"}},'
    '{"metadata":{"name":"b"},"status":{"phase":"Pending"}}]}\n'
)


@pytest.mark.parametrize("case", shellkit.stored("filters"), ids=lambda case: case["filter"][:40])
def test_filters_print_what_jq_prints(case):
    quoted = case["filter"].replace("'", "'\\''")
    output = run(f"jq -nc '{quoted}'")
    assert (output.stdout, output.stderr, output.exit_code) == (case["stdout"], case["stderr"], case["exit"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-r '.items[].metadata.name'", "a\nb\n"),
        ("'.items|length'", "2\n"),
        ("-c '.items[0].status'", '{"phase":"Running"}\n'),
        ("--arg p Pending -r '.items[]|select(.status.phase==$p).metadata.name'", "b\n"),
        ("--argjson n 1 '.items[$n].metadata'", '{\n  "name": "b"\n}\n'),
        ("-s 'length'", "1\n"),
        ("-R '.' | head -c 4", '"{\\"'),
        ("-j '.items[].metadata.name'", "ab"),
        ("-S -c '.items[0]'", '{"metadata":{"name":"a"},"status":{"phase":"Running"}}\n'),
        ("--tab '.items[0].status'", '{\n\t"phase": "Running"\n}\n'),
        ("-n '[inputs]|length'", "1\n"),
        ("-r '.items[]|[.metadata.name,.status.phase]|@tsv'", "a\tRunning\nb\tPending\n"),
    ],
)
def test_options_work_as_documented(options, expected):
    assert stdout(f"jq {options}", stdin=PODS) == expected


def test_exit_status_follows_the_last_output():
    assert run("jq -e .x", stdin="{}").exit_code == 1
    assert run("jq -e empty", stdin="{}").exit_code == 4


def test_values_before_a_parse_error_are_used():
    output = run("jq -c .", stdin='{"a":1}\n[2,\n')
    assert output.stdout == '{"a":1}\n'
    assert output.stderr == "parse error: Unfinished JSON term at EOF at line 3, column 0\n"
    assert output.exit_code == 4
