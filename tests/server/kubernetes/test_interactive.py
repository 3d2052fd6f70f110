"""A shell that is spoken to: which pieces it runs, what it waits for, and when it ends."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.rest.message import HttpRequest
from env_core.world import Output
from server.kubernetes.interactive import LineEditor, ShellSession, is_interactive

MARK = "\x1e"


def begun(*, is_tty=False):
    request = HttpRequest(
        method="GET", target="/api/v1/namespaces/a/pods/b/exec?command=sh&container=c&stdin=1"
    )
    return ShellSession(request, is_tty=is_tty)


def script_of(request):
    return [value for key, value in parse_qsl(request.target.partition("?")[2]) if key == "command"][-1]


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        (("sh",), True),
        (("/bin/bash", "-l"), True),
        (("sh", "-c", "ls"), False),
        (("sh", "-ec", "ls"), False),
        (("sh", "script"), False),
        (("cat",), False),
        ((), False),
    ],
)
def test_knows_a_shell(command, is_one):
    assert is_interactive(command) is is_one


@pytest.mark.parametrize(
    "pieces",
    [
        ("for x in 1", "do", "echo $x", "done"),
        ("echo 'a", "b'"),
        ('echo "a', 'b"'),
        ("echo a \\", "b"),
        ("cat <<END", "x", "END"),
        ("if true", "then ls; fi"),
        ("f() {", "ls", "}"),
        ("ls |", "wc"),
        ("ls &&", "wc"),
        ("echo $(ls", ")"),
    ],
)
def test_waits_for_the_rest(pieces):
    shell = begun(is_tty=True)
    *first, last = pieces
    for piece in first:
        assert shell.request(piece) is None
        assert shell.prompt == b"> "
    assert script_of(shell.request(last)).startswith("\n".join(pieces) + "\n")
    assert shell.prompt == b"/ # "


def test_runs_what_there_is_when_nothing_more_comes():
    shell = begun()
    assert shell.request("cat <<END\nx") is None
    assert script_of(shell.request("y", is_last=True)) == "cat <<END\nx\ny"


@pytest.mark.parametrize("nothing", ["", "  ", "# a comment", "\n\n"])
def test_runs_nothing_for_nothing(nothing):
    assert begun().request(nothing) is None


def test_runs_what_is_no_shell_so_that_it_says_so():
    assert begun().request("ls )") is not None


@pytest.mark.parametrize(
    ("line", "code"), [("exit", 7), ("exit 3", 3), (" logout ", 7), ("exit 300", 44), ("\nexit 0\n", 0)]
)
def test_leaves_without_running_anything(line, code):
    shell = begun()
    shell.printed(Output(stdout=f"{MARK}/tmp", exit_code=7))
    assert shell.request(line) is None
    assert (shell.is_over, shell.exit_code) == (True, code)


def test_begins_where_it_left_off():
    shell = begun(is_tty=True)
    shell.request("cd '/a b'")
    assert shell.printed(Output(stdout=f"said{MARK}/a b")) == (b"said", b"")
    assert shell.prompt == b"/a b # "
    assert script_of(shell.request("ls")).startswith("cd '/a b'; ls\n")


def test_ends_when_the_shell_does():
    shell = begun()
    shell.request("true; exit 4")
    shell.printed(Output(stdout="said", exit_code=4))
    assert (shell.is_over, shell.exit_code) == (True, 4)


@pytest.mark.parametrize("is_tty", [True, False])
def test_only_a_persons_shell_survives_bad_syntax(is_tty):
    shell = begun(is_tty=is_tty)
    shell.request("ls )")
    shell.printed(Output(stderr='sh: 1: Syntax error: ")" unexpected\n', exit_code=2))
    assert shell.is_over is not is_tty


def test_an_interrupt_gives_up_what_was_begun():
    shell, editor = begun(is_tty=True), LineEditor(has_echo=True)
    _, lines, _ = editor.feed(b"echo 'a\rb\x03ls\r")
    wanted = [shell.request(line) for line in lines]
    assert wanted[:2] == [None, None]
    assert script_of(wanted[2]).startswith("ls\n")


def test_rubs_out_and_ends_as_a_terminal_does():
    editor = LineEditor(has_echo=True)
    assert editor.feed(b"lx\x7fs\r") == (b"lx\b \bs\r\n", ["ls"], False)
    assert editor.feed(b"\x04") == (b"", [], True)


@given(st.lists(st.binary(max_size=20)))
def test_a_programs_input_comes_whole_however_it_is_cut(pieces):
    editor = LineEditor(has_echo=False)
    lines = [line for piece in pieces for line in editor.feed(piece)[1]]
    whole = "".join(f"{line}\n" for line in lines) + editor.rest()
    assert whole.encode("utf-8", "surrogateescape") == b"".join(pieces)
