import pytest

from env_core.shell.pipeline import SyntaxProblem, parse, simple_commands
from tests.shell import shellkit


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kubectl get pods", [["kubectl", "get", "pods"]]),
        ("a 'b c' \"d\" e\\ f", [["a", "b c", "d", "e f"]]),
        ("A=1 kubectl get $ns | grep -c x && echo ok || echo no", [
            ["kubectl", "get", "$ns"], ["grep", "-c", "x"], ["echo", "ok"], ["echo", "no"],
        ]),
        ("kubectl delete pod $(kubectl get pods -o name)", [
            ["kubectl", "delete", "pod", "$(kubectl get pods -o name)"], ["kubectl", "get", "pods", "-o", "name"],
        ]),
        ("for p in $(a); do b $p; done; if c; then d; fi; (e); { f; }; g & case x in y) h;; esac", [
            ["a"], ["b", "$p"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"],
        ]),
        ("cat <<E | b\n$(c)\nE", [["cat"], ["c"], ["b"]]),
        ("while read x; do a; done < f; x() { y; }", [["read", "x"], ["a"], ["y"]]),
        ("echo `a`; ! b; echo ${x:-$(c)}", [["echo", "`a`"], ["a"], ["b"], ["echo", "${x:-$(c)}"], ["c"]]),
        ("# only a comment", []),
        ("x=1", []),
    ],
)  # fmt: skip
def test_every_simple_command_is_found(line, expected):
    assert simple_commands(parse(line)) == expected


def test_a_bad_line_is_refused_with_the_shells_text():
    with pytest.raises(SyntaxProblem, match="Unterminated quoted string"):
        parse("echo 'a")


@pytest.mark.parametrize("case", shellkit.stored("tools"), ids=lambda case: case["line"][:40])
def test_tools_print_what_debians_print(case):
    """Recorded from coreutils 9.1, gzip 1.12, util-linux 2.38 and procps 4.0.2, as root."""
    output = shellkit.run(case["line"], files={"/srv/f": "one\ntwo\n"}, cwd="/srv")
    assert (output.stdout, output.stderr, output.exit_code) == (case["stdout"], case["stderr"], case["exit"])
