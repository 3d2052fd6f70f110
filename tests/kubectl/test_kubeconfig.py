"""`kubectl config`: the kubeconfig of a terminal, read, changed, and used by the commands after it."""

from __future__ import annotations

import pytest

from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.sim.timefmt import parse_ms
from env_core.world import Output
from tests.kubectl.written_world import context_of, world_of

NOW_MS = parse_ms("2026-01-05T09:00:00Z")
CONFIG_MAP = {
    "apiVersion": "v1", "kind": "ConfigMap",
    "metadata": {"name": "far", "namespace": "other", "uid": "u", "resourceVersion": "1"},
}  # fmt: skip


@pytest.fixture
def ctx() -> Context:
    return context_of(world_of([CONFIG_MAP], "shop", NOW_MS), "shop", files={"broken.yaml": "a: b: c\n"})


def _run(ctx: Context, line: str) -> Output:
    return run(line.split(), ctx)


def test_a_context_that_is_set_holds_for_the_commands_after_it(ctx: Context) -> None:
    assert _run(ctx, "get cm far -o name").exit_code == 1
    assert (
        _run(ctx, "config set-context --current --namespace=other").stdout == 'Context "admin@l2" modified.\n'
    )
    assert _run(ctx, "get cm far -o name").stdout == "configmap/far\n"
    assert _run(ctx, "get cm far -n shop -o name").exit_code == 1


def test_another_context_is_made_used_renamed_and_removed(ctx: Context) -> None:
    made = _run(ctx, "config set-context mine --cluster=l2 --user=admin --namespace=other")
    assert made.stdout == 'Context "mine" created.\n'
    assert _run(ctx, "get cm far -o name --context mine").stdout == "configmap/far\n"
    assert _run(ctx, "config use-context mine").stdout == 'Switched to context "mine".\n'
    assert _run(ctx, "config current-context").stdout == "mine\n"
    assert _run(ctx, "get cm far -o name").stdout == "configmap/far\n"
    assert _run(ctx, "config rename-context mine yours").stdout == 'Context "mine" renamed to "yours".\n'
    assert _run(ctx, "config get-contexts -o name").stdout == "admin@l2\nyours\n"
    removed = _run(ctx, "config delete-context yours")
    assert removed.stdout == f"deleted context yours from {ctx.kubeconfig_path}\n"
    assert "warning: this removed your active context" in removed.stderr
    assert "context was not found for specified context: yours" in _run(ctx, "get cm").stderr


def test_what_does_not_exist_is_refused(ctx: Context) -> None:
    assert _run(ctx, "config use-context nope").stderr == 'error: no context exists with the name: "nope"\n'
    refused = _run(ctx, "get pods --context nope")
    assert refused.stderr == "Error in configuration: context was not found for specified context: nope\n"
    assert _run(ctx, "get pods --cluster nope").stderr == 'error: no server found for cluster "nope"\n'
    assert _run(ctx, "get pods --user nope").stderr == 'error: auth info "nope" does not exist\n'
    assert _run(ctx, "get pods --kubeconfig nope").stderr == "error: stat nope: no such file or directory\n"
    assert "error loading config file" in _run(ctx, "get pods --kubeconfig broken.yaml").stderr


def test_a_cluster_elsewhere_answers_nothing(ctx: Context) -> None:
    _run(ctx, "config set-cluster far --server=https://10.1.1.1:6443")
    _run(ctx, "config set-context far --cluster=far --user=admin")
    output = _run(ctx, "get pods --context far")
    assert output.exit_code == 1
    assert "10.1.1.1:6443" in output.stderr


def test_secrets_are_hidden_unless_asked_for(ctx: Context) -> None:
    assert _run(ctx, "config set-credentials bot --token=topsecret").stdout == 'User "bot" set.\n'
    assert "topsecret" not in _run(ctx, "config view").stdout
    assert "token: REDACTED" in _run(ctx, "config view").stdout
    assert "topsecret" in _run(ctx, "config view --raw").stdout
    assert "bot" not in _run(ctx, "config view --minify").stdout


def test_single_values_are_set_and_unset(ctx: Context) -> None:
    _run(ctx, "config set contexts.admin@l2.namespace other")
    assert _run(ctx, "config view -o jsonpath={.contexts[0].context.namespace}").stdout == "other"
    assert _run(ctx, "config unset contexts.admin@l2.namespace").exit_code == 0
    assert _run(ctx, "config view -o jsonpath={.contexts[0].context.namespace}").stdout == ""


def test_a_refused_change_changes_nothing(ctx: Context) -> None:
    before = _run(ctx, "config view --raw").stdout
    for line in (
        "config rename-context nope x",
        "config delete-cluster nope",
        "config set-context",
        "config set a",
    ):
        assert _run(ctx, line).exit_code == 1, line
    assert _run(ctx, "config view --raw").stdout == before
