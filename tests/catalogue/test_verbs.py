"""Every kubectl command declares itself, helps, refuses what it does not know, and never raises."""

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.kubectl import command as kubectl
from env_core.kubectl.verb import Array, Duration, Flag, Int32, Slice
from env_core.world import Output
from tests.catalogue import worlds

PATHS = worlds.paths(kubectl.root())
EXAMPLES = 300
OUTPUT_CHARS_MAX = 4_000_000

every_verb = pytest.mark.parametrize(("words", "verb"), PATHS, ids=[" ".join(words) for words, _ in PATHS])


def kubectl_in(cluster, argv, stdin=""):
    """Run one command at an administrator's terminal and return its output."""
    line = shlex.join(("kubectl", *argv))
    if stdin:
        line += f" <<'END'\n{stdin}\nEND"
    return worlds.run(worlds.terminal(cluster, "tron"), line)


@every_verb
def test_declarations_are_complete(words, verb):
    assert verb.name == words[-1]
    assert verb.summary.strip()
    assert verb.source.strip()
    assert verb.usage == " ".join(words) or verb.usage.startswith(" ".join(words) + " ")
    assert verb.run is not None or verb.subverbs
    names = [flag.name for flag in verb.flags]
    assert sorted(set(names)) == sorted(names)
    letters = [flag.shorthand for flag in verb.flags if flag.shorthand]
    assert sorted(set(letters)) == sorted(letters)
    for flag in verb.flags:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", flag.name)
        assert flag.type in (str, bool, int, Int32, Duration, Slice, Array)


@every_verb
def test_flags_have_words(words, verb):
    assert [flag.name for flag in verb.flags if not (flag.words or flag.is_hidden or flag.deprecated)] == []


def test_top_level_commands_are_those_of_the_real_binary():
    assert set(kubectl.root().subverbs) <= set(kubectl.COMMAND_ORDER)


def test_an_alias_means_one_command():
    for group in [kubectl.root(), *(verb for _, verb in PATHS if verb.subverbs)]:
        names = [name for verb in group.subverbs.values() for name in (verb.name, *verb.aliases)]
        assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(("words", "verb"), [path for path in PATHS if path[1].helps])
def test_help_shows_the_usage(words, verb):
    cluster = worlds.healthy()
    for argv in ((*words, "--help"), (*words, "-h"), ("help", *words)):
        output = kubectl_in(cluster, argv)
        assert (output.exit_code, output.stderr) == (0, ""), argv
        assert f"Usage:\n  kubectl {verb.usage}" in output.stdout
        for flag in verb.flags:
            if not (flag.is_hidden or flag.deprecated):
                assert f"--{flag.name}=" in output.stdout


@every_verb
def test_an_unknown_flag_is_refused_in_kubectls_words(words, verb):
    path = " ".join(("kubectl", *words))
    output = kubectl_in(worlds.healthy(), (*words, "--no-such-flag"))
    assert output == Output("", f"error: unknown flag: --no-such-flag\nSee '{path} --help' for usage.\n", 1)


@every_verb
def test_a_flag_without_its_argument_is_refused(words, verb):
    path = " ".join(("kubectl", *words))
    for flag in verb.flags:
        if not flag.bare:
            output = kubectl_in(worlds.healthy(), (*words, f"--{flag.name}"))
            text = f"error: flag needs an argument: --{flag.name}\nSee '{path} --help' for usage.\n"
            assert output == Output("", text, 1)


@every_verb
def test_no_arguments_at_all_are_answered(words, verb):
    output = kubectl_in(worlds.healthy(), words)
    assert isinstance(output.exit_code, int)
    assert output.stdout + output.stderr or output.exit_code == 0


WORDS = (
    "pods", "po", "deployments", "deploy/nginx", "svc", "service/redis", "nodes", "node-a", "configmap", "cm/app-config", "ingress",
    "rs", "events", "all", "secrets", "netpol", "endpoints", "namespaces", "tron", "default", "nginx", "redis", "no-such-thing", "pods/",
    "/", "", "-", "--", "a=b", "a-", "=", "app=nginx", "a=b=c", "status", "deployment,svc", "deployment/nginx,svc/redis", "クラスタ", "\x00", "\t",
    "-1", "0", "99999999999999999999", "1.5", "10s", "0s", "1h", "json", "yaml", "wide", "name", "jsonpath={.items[*].metadata.name}", "jsonpath={",
    "custom-columns=A:.metadata.name", "go-template={{.kind}}", "go-template={{", "{}", "[]", "null", '{"spec":{"replicas":2}}', '{"spec":',
    '[{"op":"remove","path":"/spec"}]', "merge", "strategic", "env", "printenv", "sh", "-c", "spec.replicas", ".metadata.name", "metadata.name=x",
    "node-role.kubernetes.io/x=:NoSchedule", "key:NoExecute-", "get", "create", "can-i", "*", "nginx=nginx:1.27-alpine", "nginx:1.27-alpine",
    "/no/such/file", "for=delete", "condition=Available", "tron/redis", "8080", "80:8080",
)  # fmt: skip


def spelled(flag: Flag) -> list[str]:
    """Return the ways in which a line may begin a flag."""
    return [f"--{flag.name}", f"--{flag.name}=", *([f"-{flag.shorthand}"] if flag.shorthand else [])]


def _lines():
    """Command lines: a real command, then its own flags, words and values in any order."""
    words = st.sampled_from(WORDS)

    def line(entry):
        path, verb = entry
        flags = [text for flag in (*verb.flags, *GLOBAL_SOME) for text in spelled(flag)]
        flag = st.sampled_from(flags or ["--help"])
        joined = st.tuples(flag, words).map(
            lambda pair: pair[0] + pair[1] if pair[0].endswith("=") else pair[0]
        )
        return st.lists(st.one_of(words, words, joined, flag), max_size=6).map(lambda rest: [*path, *rest])

    return st.sampled_from(PATHS).flatmap(line)


GLOBAL_SOME = (
    Flag("namespace", shorthand="n"),
    Flag("context"),
    Flag("as"),
    Flag("request-timeout"),
    Flag("v", int, shorthand="v"),
)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    _lines(),
    st.sampled_from(
        ("", "{}", "kind: Pod\n", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", "a: [", "\x00")
    ),
)
def test_no_line_raises(argv, stdin):
    cluster = worlds.healthy()
    output = kubectl_in(cluster, argv, stdin)
    assert isinstance(output, Output)
    assert isinstance(output.exit_code, int)
    assert 0 <= output.exit_code <= 255
    assert len(output.stdout) + len(output.stderr) < OUTPUT_CHARS_MAX
    cluster.advance(5_000)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.sampled_from(
            (*WORDS, *(word for path, _ in PATHS for word in path), "--help", "-n", "-o", "-f", "-l")
        ),
        max_size=7,
    )
)
def test_no_heap_of_words_raises(argv):
    output = kubectl_in(worlds.healthy(), argv)
    assert isinstance(output.exit_code, int)
