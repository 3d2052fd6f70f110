"""Every shell program answers no arguments, --help and junk within bounds, and never raises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.discovery import discover
from env_core.shell import builtins as package
from env_core.shell.builtin import Builtin
from env_core.shell.context import Interrupted, Process
from env_core.shell.filesystem import FileSystem
from env_core.shell.pipeline import Shell
from env_core.world import Output

BUILTINS = discover(package, "BUILTIN", Builtin)
FILES = {"/tmp/a.txt": "alpha 1\nbeta 2\n", "/tmp/a.json": '{"a": [1, 2, {"b": null}]}\n', "/tmp/empty": ""}
EXAMPLES = 60
OUTPUT_CHARS_MAX = 20_000_000
LIMIT_MS = 600_000
"""The deadline of every line: what waits longer is stopped there."""
JUNK = (
    "-z", "-n", "-1", "-c", "-x", "--", "--no-such-option", "--help", "-f", "/tmp/a.txt", "/tmp/a.json", "/tmp", "/no/such", "", " ", "x", "0", "-",
    "1,2", "s/a/b/", "s/a", "{print $1}", "{", "(", ".a[2].b", ".[", "%d\\n", "%", "[", "a*", "\\", "é", "9999999999", "-0.5", "+%s", "-d", "1.5",
)  # fmt: skip

every_builtin = pytest.mark.parametrize("builtin", BUILTINS.values(), ids=lambda builtin: builtin.name)
every_flavour = pytest.mark.parametrize("flavour", ["gnu", "busybox"])


class Clock:
    """Virtual time that a test can look at."""

    def __init__(self):
        self.now = 1_700_000_000_000

    def now_ms(self):
        return self.now

    def advance(self, duration_ms):
        assert duration_ms >= 0
        self.now += duration_ms


def run(words, flavour="gnu", stdin="one\ntwo\n"):
    """Run one command in a fresh shell; return what it left and how long it took in virtual time."""
    clock = Clock()
    started = clock.now
    process = Process(
        stdin=stdin, fs=FileSystem(FILES), env={"HOME": "/root", "PATH": "/usr/bin:/bin"}, cwd="/tmp", now_ms=clock.now_ms,
        advance=clock.advance, flavour=flavour, deadline_ms=started + LIMIT_MS,
    )  # fmt: skip
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    try:
        output = Shell(process).run(quoted)
    except Interrupted as stopped:
        assert clock.now == started + LIMIT_MS
        output = stopped.output or Output(exit_code=124)
    return output, clock.now - started


def is_bounded(output, elapsed_ms):
    assert isinstance(output, Output)
    assert 0 <= output.exit_code <= 255
    assert len(output.stdout) + len(output.stderr) <= OUTPUT_CHARS_MAX
    assert elapsed_ms <= LIMIT_MS
    return True


@every_builtin
def test_declarations_are_complete(builtin):
    assert builtin.name
    assert builtin.source.strip()
    assert callable(builtin.run)


def test_names_are_unique():
    names = [name for builtin in BUILTINS.values() for name in (builtin.name, *builtin.aliases)]
    assert sorted(set(names)) == sorted(names)


@every_builtin
@every_flavour
@pytest.mark.parametrize(
    "arguments",
    [(), ("--help",), ("--no-such-option",), ("-Z",), ("/no/such/file",), ("/tmp",), ("",)],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_every_program_answers_within_bounds(builtin, flavour, arguments):
    for name in (builtin.name, *builtin.aliases):
        assert is_bounded(*run((name, *arguments), flavour))
        assert is_bounded(*run((name, *arguments), flavour, stdin=""))


@every_builtin
def test_the_same_command_gives_the_same_bytes(builtin):
    for arguments in ((), ("--help",), ("/tmp/a.txt",)):
        assert run((builtin.name, *arguments)) == run((builtin.name, *arguments))


@settings(max_examples=EXAMPLES * 10, deadline=None, derandomize=True, database=None)
@given(
    st.sampled_from(sorted(BUILTINS)),
    st.lists(st.sampled_from(JUNK), max_size=5),
    st.sampled_from(("gnu", "busybox")),
)
def test_no_junk_raises(name, words, flavour):
    assert is_bounded(*run((BUILTINS[name].name, *words), flavour))
