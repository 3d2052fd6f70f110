"""`kubectl cp` between a terminal and containers."""

from __future__ import annotations

import pytest

from env_core.tools.terminal import Terminal
from env_core.world import Output
from tests.catalogue.worlds import healthy, terminal


@pytest.fixture(scope="module")
def shell() -> Terminal:
    cluster = healthy()
    shell = terminal(cluster)
    for line in (
        "kubectl config set-context --current --namespace=tron",
        "kubectl run box --image=busybox:1.36 -- sleep 100000",
        "kubectl run still --image=registry.k8s.io/pause:3.9",
        "echo hello > a.txt; mkdir -p d/e; echo 1 > d/x; echo 2 > d/e/y",
    ):
        assert run(shell, line).exit_code == 0
    cluster.advance(30_000)
    return shell


def run(shell: Terminal, line: str) -> Output:
    return shell.run(line, lambda _argv: None, 120_000)


def test_files_and_directories_go_there_and_come_back(shell: Terminal) -> None:
    assert (
        run(shell, "kubectl cp a.txt box:/tmp/b.txt; kubectl exec box -- cat /tmp/b.txt").stdout == "hello\n"
    )
    assert run(shell, "kubectl cp a.txt box:/tmp; kubectl exec box -- cat /tmp/a.txt").stdout == "hello\n"
    assert run(shell, "kubectl cp d tron/box:/tmp/dd; kubectl exec box -- cat /tmp/dd/e/y").stdout == "2\n"
    output = run(shell, "kubectl cp box:/tmp/dd back; cat back/x back/e/y")
    assert output.stdout == "tar: removing leading '/' from member names\n1\n2\n"
    assert run(shell, "kubectl cp box:tmp/b.txt new/deep; cat new/deep").stdout == "hello\n"
    assert run(shell, "kubectl cp --no-preserve a.txt box:/tmp/np").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "stdout", "stderr"),
    [
        ("nope box:/tmp/x", 1, "", "error: nope doesn't exist in local filesystem\n"),
        ("a.txt b.txt", 1, "", "error: one of src or dest must be a remote file specification\n"),
        ("box:/a box:/b", 1, "", "error: one of src or dest must be a local file specification\n"),
        ("a.txt box:", 1, "", "error: filepath can not be empty\n"),
        ("a.txt", 1, "", "error: source and destination are required\n"),
        ("box:tmp/b.txt .", 1, "", "error: open .: is a directory\n"),
        ("a.txt box:/nodir/x", 1, "",
         "tar: can't change directory to '/nodir': No such file or directory\ncommand terminated with exit code 1\n"),
        ("still:/pause p", 126,
         'OCI runtime exec failed: exec failed: unable to start container process: exec: "tar": '
         "executable file not found in $PATH: unknown\n", "command terminated with exit code 126\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_copied_says_why(
    shell: Terminal, words: str, code: int, stdout: str, stderr: str
) -> None:
    run(shell, "kubectl cp a.txt box:/tmp/b.txt")
    output = run(shell, f"kubectl cp {words}")
    assert (output.exit_code, output.stdout, output.stderr) == (code, stdout, stderr)
