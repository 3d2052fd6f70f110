"""The shell language against dash 0.5.12 and Debian 12's tools, recorded line by line in data/lines.jsonl."""

import pytest

from env_core.shell.context import FileSystem, Process
from env_core.shell.pipeline import Shell
from tests.shell import shellkit
from tests.shell.shellkit import run, stdout

FILES = {
    "/srv/syn.sh": "if true; then\necho\n",
    "/srv/f": "foo\ncd /nope\ncat < nofile\n",
    "/srv/s.sh": "#!/bin/sh\n\nfoo\nexit abc\n",
    "/srv/t": "a 1\nb 2\nc 3\n",
}


@pytest.mark.parametrize("case", shellkit.stored("lines"), ids=lambda case: case["line"][:40])
def test_lines_print_what_dash_prints(case):
    output = run(case["line"], files=FILES, cwd="/srv")
    assert (output.stdout, output.stderr, output.exit_code) == (case["stdout"], case["stderr"], case["exit"])


@pytest.mark.parametrize("case", shellkit.stored("bash"), ids=lambda case: case["line"][:40])
def test_lines_print_what_bash_prints(case):
    """Recorded from bash 5.2.15 in a directory without files."""
    process = Process(fs=FileSystem(), env={"HOME": "/root", "PATH": "/usr/bin:/bin"}, cwd="/tmp")
    Shell(process, {})
    output = process.find("bash")(process, ["bash", "-c", case["line"]])
    assert (output.stdout, output.stderr, output.exit_code) == (case["stdout"], case["stderr"], case["exit"])


def test_variables_and_directory_live_from_line_to_line():
    shell = Shell(Process(env={"A": "1"}), {})
    shell.run("export B=2; C=3; cd /tmp; f() { echo hi; }")
    assert shell.run("echo $A $B $C $PWD; f").stdout == "1 2 3 /tmp\nhi\n"
    assert shell.process.cwd == "/tmp"
    assert shell.process.env == {"A": "1", "B": "2"}


def test_status_of_the_last_line_is_kept():
    shell = Shell(Process(), {})
    shell.run("false")
    assert shell.run("echo $?").stdout == "1\n"


def test_external_programs_get_argv_environment_and_input():
    def kubectl(process, argv):
        from env_core.world import Output

        return Output(f"{argv} {process.env['NS']} {process.stdin}", "warn\n", 3)

    output = run("NS=shop; export NS; echo in | kubectl get 'a b' 2>/dev/null", programs={"kubectl": kubectl})
    assert output.stdout == "['kubectl', 'get', 'a b'] shop in\n"
    assert output.exit_code == 3


def test_a_loop_keeps_its_input_when_the_body_does_not_read():
    from env_core.world import Output

    line = "while read pod; do kubectl $pod; done < pods"
    files = {"/tmp/pods": "a\nb\n"}
    assert stdout(line, files=files, programs={"kubectl": lambda _, argv: Output(argv[1] + "\n")}) == "a\nb\n"


def test_messages_come_before_the_output_of_success_and_after_that_of_failure():
    from env_core.world import Output

    programs = {"ok": lambda *_: Output("out\n", "warn\n"), "bad": lambda *_: Output("out\n", "err\n", 1)}
    assert run("ok 2>&1", programs=programs).stdout == "warn\nout\n"
    assert run("bad 2>&1", programs=programs).stdout == "out\nerr\n"


def test_both_streams_can_go_to_a_file():
    assert (
        stdout("ls nope t &> log; cat log", files={"/tmp/t": ""})
        == "t\nls: cannot access 'nope': No such file or directory\n"
    )


def test_here_strings_and_ansi_quotes_are_understood():
    assert stdout("cat <<< \"a b\"; printf %s $'x\\ty'") == "a b\nx\ty"


def test_busybox_says_its_own_words():
    assert run("foo", flavour="busybox").stderr == "sh: foo: not found\n"
    assert run("[[ a == a ]] && echo y", flavour="busybox").stdout == "y\n"
    assert run("jq .", flavour="busybox").exit_code == 127


def test_scripts_run_from_files():
    fs = FileSystem({"/tmp/x.sh": "#!/bin/sh\necho $0 $1 $#\nexit 4\n"})
    fs.chmod("/tmp/x.sh", 0o755)
    output = Shell(Process(fs=fs, cwd="/tmp"), {}).run("./x.sh a b; echo $?; sh x.sh c")
    assert output.stdout == "./x.sh a 2\n4\nx.sh c 1\n"
    assert output.exit_code == 4


def test_writing_never_changes_a_fork():
    fs = FileSystem({"/tmp/a": "1"})
    twin = fs.fork()
    Shell(Process(fs=twin, cwd="/tmp"), {}).run("echo 2 > a; rm -f a; echo 3 > b")
    assert fs.read("/tmp/a") == "1"
    assert not fs.exists("/tmp/b")
