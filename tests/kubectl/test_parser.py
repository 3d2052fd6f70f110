"""Command lines are read as cobra and pflag read them."""

from __future__ import annotations

import pytest

from env_core.kubectl.command import root, suggestions
from env_core.kubectl.govalues import duration_ms
from env_core.kubectl.help import help_text
from env_core.kubectl.parser import HelpWanted, find_verb, parse
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args, Verb


def _parse(line: str) -> Args:
    verb, path, rest = find_verb(root(), line.split())
    return parse(verb, path, rest, Screen())


@pytest.mark.parametrize(
    ("line", "path", "words"),
    [
        ("get pods", "kubectl get", ("pods",)),
        ("-n x get pods", "kubectl get", ("pods",)),
        ("-nx get pods", "kubectl get", ("pods",)),
        ("--namespace=x get pods", "kubectl get", ("pods",)),
        ("rollout status deploy/web", "kubectl rollout status", ("deploy/web",)),
        ("rollout -n x status deploy/web", "kubectl rollout status", ("deploy/web",)),
        ("top pods", "kubectl top pod", ()),
        ("config use x", "kubectl config use-context", ("x",)),
        ("rollout nope web", "kubectl rollout", ("nope", "web")),
        ("exec web -- get pods -n y", "kubectl exec", ("web", "get", "pods", "-n", "y")),
    ],
)
def test_verbs_are_found_around_flags(line: str, path: str, words: tuple[str, ...]) -> None:
    args = _parse(line)
    assert (args.path, args.positional) == (path, words)


@pytest.mark.parametrize(
    ("line", "flag", "value"),
    [
        ("get pods -o wide", "output", "wide"),
        ("get pods -owide", "output", "wide"),
        ("get pods -o=wide", "output", "wide"),
        ("get pods --output wide", "output", "wide"),
        ("get pods --output=wide", "output", "wide"),
        ("get pods -Ao yaml", "output", "yaml"),
        ("get pods -Ao yaml", "all-namespaces", True),
        ("get pods --no-headers=false", "no-headers", False),
        ("get pods --show_labels", "show-labels", True),
        ("get pods -L a,b -L c", "label-columns", ("a", "b", "c")),
        ("get pods --chunk-size=0x10", "chunk-size", 16),
        ("wait x --timeout=1m30s", "timeout", 90_000),
        ("wait x --for=a,b --for=c", "for", ("a,b", "c")),
        ("rollout undo deploy/x --dry-run", "dry-run", "unchanged"),
    ],
)
def test_flags_are_read_in_every_spelling(line: str, flag: str, value: object) -> None:
    assert _parse(line).values[flag] == value


# Every text was printed by the real binary (1.37.1).
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("get --foo", "unknown flag: --foo\nSee 'kubectl get --help' for usage."),
        ("get -z", "unknown shorthand flag: 'z' in -z\nSee 'kubectl get --help' for usage."),
        ("get -pods", "unknown shorthand flag: 'p' in -pods\nSee 'kubectl get --help' for usage."),
        ("get --output", "flag needs an argument: --output\nSee 'kubectl get --help' for usage."),
        ("get -n", "flag needs an argument: 'n' in -n\nSee 'kubectl get --help' for usage."),
        ("get --=3", "bad flag syntax: --=3\nSee 'kubectl get --help' for usage."),
        (
            "get -A=foo",
            'invalid argument "foo" for "-A, --all-namespaces" flag: strconv.ParseBool: parsing "foo": '
            "invalid syntax\nSee 'kubectl get --help' for usage.",
        ),
        (
            "get --chunk-size=9999999999999999999999",
            'invalid argument "9999999999999999999999" for "--chunk-size" flag: strconv.ParseInt: parsing '
            "\"9999999999999999999999\": value out of range\nSee 'kubectl get --help' for usage.",
        ),
        ("rollout status --foo", "unknown flag: --foo\nSee 'kubectl rollout status --help' for usage."),
        ("rollout --foo status", "unknown flag: --foo\nSee 'kubectl rollout --help' for usage."),
    ],
)
def test_wrong_flags_are_refused_in_the_words_of_pflag(line: str, text: str) -> None:
    with pytest.raises(Failure) as caught:
        _parse(line)
    assert caught.value.text == text


def test_help_comes_after_errors() -> None:
    with pytest.raises(HelpWanted):
        _parse("get -h foo")
    with pytest.raises(Failure):
        _parse("get -h foo --bar")


# Printed by the real binary (1.37.1).
@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("ge", ["set", "get", "cp"]),
        ("pods", ["logs"]),
        ("ps", ["cp"]),
        ("rm", ["run", "delete", "cp"]),
        ("watch", ["patch"]),
        ("ex", ["expose", "set", "explain", "get", "exec", "cp"]),
        ("update", []),
        ("alph", ["auth"]),
    ],
)
def test_unknown_commands_get_the_suggestions_of_the_real_binary(word: str, names: list[str]) -> None:
    assert suggestions(word) == names


def test_bad_durations_are_refused_in_the_words_of_go() -> None:
    with pytest.raises(ValueError, match='time: missing unit in duration "5"'):
        duration_ms("5")


def _every(verb: Verb, path: str) -> list[tuple[str, Verb]]:
    found = [(path, verb)]
    for name, subverb in verb.subverbs.items():
        found.extend(_every(subverb, f"{path} {name}"))
    return found


@pytest.mark.parametrize(("path", "verb"), [each for each in _every(root(), "kubectl") if each[1].helps])
def test_every_verb_explains_itself(path: str, verb: Verb) -> None:
    text = help_text(verb, path)
    assert verb.source
    assert text.startswith(verb.summary)
    assert f"Usage:\n  kubectl {verb.usage}" in text
    assert all(f"--{flag.name}=" in text for flag in verb.flags if not flag.is_hidden and not flag.deprecated)
    assert all(flag.words or flag.is_hidden for flag in verb.flags), [
        f.name for f in verb.flags if not f.words
    ]
