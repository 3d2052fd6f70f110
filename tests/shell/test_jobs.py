"""Commands in the background go on while the one in front waits, each at its own time."""

import pytest

from tests.programs.test_postgres_sessions import Pod


@pytest.fixture(scope="module")
def pod():
    return Pod()


@pytest.mark.parametrize(
    ("line", "printed", "took_ms"),
    [
        ("sleep 2 & sleep 1; echo a; wait; echo b", "a\nb\n", 2_000),
        ("(sleep 1; echo one) & (sleep 3; echo three) & sleep 2; echo two; wait", "one\ntwo\nthree\n", 3_000),
        ("for i in 1 2 3; do (sleep $i; echo $i) & done; wait", "1\n2\n3\n", 3_000),
        ("(while true; do echo x; sleep 1; done) & sleep 2.5; echo end", None, None),
        ("x=1; (x=2; sleep 1) & wait; echo $x", "1\n", 1_000),
        (
            "{ sleep 1; echo late > /tmp/o; } & test -e /tmp/o || echo none; wait; cat /tmp/o",
            "none\nlate\n",
            1_000,
        ),
        ("x=$(sleep 2 & echo now); echo $x", "now\n", 2_000),
        ("(exit 3) & wait; echo $?", "0\n", 0),
        ("sh -c 'sleep 5 & wait' & sleep 1; echo first; wait", "first\n", 5_000),
        ("(sleep 1; echo a; sleep 1; echo b) | cat & sleep 3; wait", "a\nb\n", 3_000),
    ],
)
def test_a_line_with_background_commands(pod, line, printed, took_ms):
    before_ms = pod.cluster.now_ms
    output = pod.sh(line)
    if printed is None:
        # What never ends is cut off at the end of the line's time, and all that was written is there.
        assert "end\n" in output.stdout
        assert output.stdout.startswith("x\nx\nx\n")
        return
    assert (output.stdout, output.stderr, output.exit_code) == (printed, "", 0)
    assert took_ms <= pod.cluster.now_ms - before_ms < took_ms + 60
