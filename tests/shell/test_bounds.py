from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.shell.context import FileSystem, Interrupted, Process, ShellFileError
from env_core.shell.pipeline import LIMIT_STATUS, Shell, SyntaxProblem, parse, simple_commands
from env_core.world import Output
from tests.shell.shellkit import Clock, run

FRAGMENTS = [
    "echo",
    "a",
    "$x",
    "${x:-b}",
    "$(",
    "`",
    ")",
    "(",
    "{",
    "}",
    ";",
    "&&",
    "||",
    "|",
    "'",
    '"',
    "\\",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "case",
    "esac",
    ";;",
    "<",
    ">",
    ">>",
    "2>&1",
    "<<E",
    "E",
    "$((1+",
    "))",
    "*",
    "?",
    "[a-z]",
    "cat",
    "grep",
    "(a+)+",
    "sed",
    "s/a/b/",
    "awk",
    "{print$1}",
    "jq",
    ".a[]",
    "sort",
    "x=1",
    "export",
    "!",
    "#",
    "&",
    "xargs",
    "eval",
    "read",
    "f()",
    "sh",
    "-c",
    "${",
    "%",
    "##",
    "@",
    "$@",
    "[.[]",
    "map(",
    "as",
    "\\(",
    "\\{1,",
    "*{2}",
    "-e",
    "-n",
    "yes",
    "tee",
    "test",
    "[",
    "]",
    "~",
    "é",
]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=14), st.sampled_from(["", " ", "\n"])
)
def test_no_line_ever_raises(words, joiner):
    line = joiner.join(words)
    assert isinstance(run(line, stdin="a b\n", files={"/tmp/f": "1\n"}), Output)
    with suppress(SyntaxProblem):
        assert isinstance(simple_commands(parse(line)), list)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("while :; do :; done", "stopped after 1000 loop iterations"),
        ("f() { f; }; f", "stopped at 45 levels of nesting"),
        ("echo 'sh x' > x; sh x", "stopped at 45 levels of nesting"),
        ("seq 6000 | xargs -n1 echo", "stopped after 5000 commands"),
        ("for i in $(seq 300); do yes; done", "stopped: too much output"),
    ],
)
def test_endless_lines_stop_with_a_message(line, text):
    output = run(line)
    assert output.exit_code == LIMIT_STATUS
    assert output.stderr.endswith(f"{text}\n")


def test_output_that_fits_is_kept():
    assert len(run("for i in $(seq 300); do yes; done").stdout) == 1024 * 1024


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(a*)*c", "([a-z]+)*1"])
def test_exponential_expressions_are_refused(pattern):
    output = run(f"grep -E '{pattern}'", stdin="a" * 60 + "\n")
    assert output.exit_code == 2
    assert "nested repetition" in output.stderr or "too" in output.stderr


@pytest.mark.parametrize("pattern", ["([0-9]+\\.){3}", "(foo|bar)+", "([^,]*,)*x", "(ab*c)+"])
def test_ordinary_repetitions_of_groups_are_allowed(pattern):
    assert run(f"grep -E '{pattern}'", stdin="1.2.3. foo a,x abbc\n").exit_code == 0


@pytest.mark.parametrize(
    "line", ["awk 'BEGIN{while(1);}'", "jq -n '[repeat(1)]'", "jq -n 'def f: f; f'", "sed 'G;D'"]
)
def test_endless_programs_stop(line):
    assert run(line, stdin="x\n").exit_code != 0


def test_files_are_capped():
    fs = FileSystem()
    fs.write("/tmp/a", "x" * (4 * 1024 * 1024))
    with pytest.raises(ShellFileError, match="No space left on device"):
        fs.append("/tmp/a", "y")


def test_sleep_lets_virtual_time_pass():
    clock = Clock()
    before = clock.now
    assert run("sleep 1.5; sleep 1m", clock=clock).exit_code == 0
    assert clock.now - before == 61_500


@pytest.mark.parametrize("flavour", ["gnu", "busybox"])
@pytest.mark.parametrize("word", ["infinity", "inf", "INF"])
def test_an_endless_sleep_lasts_until_the_deadline(word, flavour):
    clock = Clock()
    before = clock.now
    process = Process(
        now_ms=clock.now_ms, advance=clock.advance, flavour=flavour, deadline_ms=clock.now + 7000
    )
    with pytest.raises(Interrupted):
        Shell(process, {}).run(f"sleep {word}")
    assert clock.now - before == 7000


def test_timeout_ends_an_endless_sleep():
    clock = Clock()
    before = clock.now
    assert run("timeout 3 sleep infinity; echo $?", clock=clock).stdout == "124\n"
    assert run("timeout inf sleep 2; echo $?", clock=clock).stdout == "0\n"
    assert clock.now - before == 5000


def test_timeout_ends_a_loop_and_keeps_what_it_printed():
    clock = Clock()
    before = clock.now
    output = run("timeout 3 sh -c 'while true; do echo t; sleep 2; done'; echo $?", clock=clock)
    assert output.stdout == "t\nt\n124\n"
    assert clock.now - before == 3000


def test_a_deadline_from_outside_interrupts_with_the_output_so_far():
    clock = Clock()
    process = Process(now_ms=clock.now_ms, advance=clock.advance, deadline_ms=clock.now + 500)
    with pytest.raises(Interrupted) as caught:
        Shell(process, {}).run("echo a; sleep 1")
    assert caught.value.output == Output("a\n", "", 124)
