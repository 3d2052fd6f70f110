"""`kubectl kuberc`: a file of preferences that is written, changed and shown; texts are those of kubectl 1.37.1."""

from __future__ import annotations

from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.world import Output
from tests.golden.live_shell import in_shell
from tests.kubectl.golden_world import TinyApi, context


def terminal(**env: str) -> Context:
    ctx = context(TinyApi((), ()), 0, "default")
    in_shell(ctx, {}, env)
    return ctx


def said(ctx: Context, *words: str) -> Output:
    return run(["kuberc", *words], ctx)


def test_preferences_are_kept_and_shown() -> None:
    ctx = terminal()
    words = ("set", "--section", "defaults", "--command", "get", "--option", "output=wide")
    assert said(ctx, *words).stdout == "Updated /root/.kube/kuberc\n"
    assert said(ctx, *words).stderr == (
        'error: defaults for command "get" already exist, use --overwrite to replace\n'
    )
    said(ctx, "set", "--section", "aliases", "--command", "get", "--name", "getn", "--prependarg", "nodes")
    assert said(ctx, "view").stdout == (
        "aliases:\n- command: get\n  name: getn\n  prependArgs:\n  - nodes\n"
        "apiVersion: kubectl.config.k8s.io/v1beta1\n"
        "defaults:\n- command: get\n  options:\n  - default: wide\n    name: output\nkind: Preference\n"
    )
    assert said(ctx, "view", "-o", "json").stdout.startswith('{\n    "kind": "Preference",\n    "apiVersion"')


def test_mistakes_are_told() -> None:
    ctx = terminal()
    assert said(ctx, "set").stderr == 'error: required flag(s) "section" not set\n'
    assert said(ctx, "set", "--section", "x").stderr == (
        'error: --section must be "defaults", "aliases", or "credentialplugin", got: x\n'
    )
    entries = ("--allowlist-entry", "foo=a,b", "--allowlist-entry", "name=x")
    output = said(ctx, "set", "--section", "credentialplugin", "--policy", "Allowlist", *entries)
    assert output.stderr == (
        'unrecognized allowlist entry field: "foo"\nimproperly formatted allowlist entry: "b"\n'
        'allowlist entry field "name" is deprecated, use "command" instead\n'
    )
    assert said(ctx, "view", "--kuberc", "nope").stderr == (
        "error occurred while applying preferences kuberc error kuberc: open nope: no such file or directory\n"
    )


def test_the_variable_turns_them_off_and_a_yes_writes_the_usual_ones() -> None:
    assert said(terminal(KUBERC="off"), "view").stderr == (
        "error: KUBERC is disabled via KUBERC=off environment variable\n"
    )
    ctx = terminal()
    ctx.stdin = "y\n"
    assert said(ctx, "view").stdout.endswith("(y/N): Updated /root/.kube/kuberc\n")
    assert "server-side" in ctx.files.read("/root/.kube/kuberc")
