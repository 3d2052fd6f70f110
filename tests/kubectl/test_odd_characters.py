"""Characters that YAML has no place for, and halves of surrogate pairs: what kubectl says, and never a failure of ours."""

from __future__ import annotations

import json

import pytest

from env_core.kubectl.command import run
from env_core.sim.timefmt import parse_ms
from env_core.world import Output
from tests.kubectl.written_world import World, context_of, world_of

NOW_MS = parse_ms("2026-01-05T09:00:00Z")
# tests/golden/l0/yaml_print, id string/136.
REFUSED = "yaml: control characters are not allowed"
ODD = "\x7f\x9f\ufffe\uffff"


def _run(world: World, line: str, stdin: str = "") -> Output:
    return run(line.split(), context_of(world, "shop", stdin=stdin))


def _manifest(data: dict[str, str]) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "w", "namespace": "shop"},
            "data": data,
        }
    )


@pytest.mark.parametrize("character", ODD)
@pytest.mark.parametrize(
    "line", ["get cm w -o yaml", "get cm -o yaml", "apply view-last-applied cm w", "diff -f -"]
)
def test_yaml_of_what_yaml_has_no_place_for_is_an_error_of_kubectl(character, line):
    world = world_of((), "shop", NOW_MS)
    _run(world, "apply -f -", _manifest({"a": f"x{character}"}))
    output = _run(world, line, _manifest({"a": f"y{character}"}))
    assert (output.stdout, output.stderr, output.exit_code) == ("", f"error: {REFUSED}\n", 1)
    assert character in _run(world, "get cm w -o json").stdout


@pytest.mark.parametrize("line", ["create -f -", "apply -f -", "apply --server-side -f -", "replace -f -"])
def test_half_a_surrogate_pair_is_stored_as_the_replacement_character(line):
    world = world_of((), "shop", NOW_MS)
    if line.startswith("replace"):
        _run(world, "create -f -", _manifest({"a": "old"}))
    output = _run(world, line, _manifest({"a": "\ud800x", "b": "\U0001f600"}))
    assert output.exit_code == 0, output
    live = world.store.get("configmaps", "shop", "w")
    assert live is not None
    assert live["data"] == {"a": "\ufffdx", "b": "\U0001f600"}
    assert "\ufffdx" in _run(world, "get cm w -o yaml").stdout


def test_half_a_surrogate_pair_in_what_was_applied_last_does_no_harm():
    world = world_of((), "shop", NOW_MS)
    _run(world, "create -f -", _manifest({"a": "b"}))
    applied = _manifest({"a": "\udc00"}).replace(" ", "")
    _run(world, f"annotate cm w kubectl.kubernetes.io/last-applied-configuration={applied}")
    for line in ("apply -f -", "apply view-last-applied cm w", "apply --server-side --force-conflicts -f -"):
        assert _run(world, line, _manifest({"c": "d"})).exit_code == 0


@pytest.mark.parametrize("text", ["nonsense", "[1]", '"x"', "{", "null", '{"metadata":1}'])
@pytest.mark.parametrize(
    "line",
    [
        "apply -f -",
        "apply view-last-applied cm w",
        "apply view-last-applied cm w -o json",
        "apply --server-side --force-conflicts -f -",
        "apply set-last-applied -f -",
        "diff -f -",
    ],
)
def test_a_last_applied_annotation_that_is_no_manifest_is_at_worst_an_error(text, line):
    world = world_of((), "shop", NOW_MS)
    _run(world, "create -f -", _manifest({"a": "b"}))
    _run(world, f"annotate cm w kubectl.kubernetes.io/last-applied-configuration={text}")
    errors = (0, 1, 2) if line.startswith("diff") else (0, 1)
    assert _run(world, line, _manifest({"c": "d"})).exit_code in errors
