"""Commands that speak REST as it is, or many requests at once: --raw, cluster-info dump, auth reconcile, attach."""

from __future__ import annotations

import json

import pytest

from env_core.kubectl.command import run
from env_core.sim.timefmt import parse_ms
from env_core.world import Object, Output
from tests.kubectl.written_world import World, context_of, world_of

NOW_MS = parse_ms("2026-01-05T09:00:00Z")
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}}
PATH = "/api/v1/namespaces/shop/configmaps"
ROLE = """apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
  namespace: shop
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [{verbs}]
"""


def _pod(phase: str) -> Object:
    state: Object = (
        {"running": {"startedAt": "2026-01-05T08:00:00Z"}} if phase == "Running" else {"waiting": {}}
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "uid": "u", "resourceVersion": "1"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "c", "state": state}]},
    }


@pytest.fixture
def world() -> World:
    return world_of([_pod("Running")], "shop", NOW_MS)


def _run(world: World, line: str, stdin: str = "", files: dict[str, str] | None = None) -> Output:
    return run(line.split(), context_of(world, "shop", stdin=stdin, files=files))


def test_objects_are_created_read_replaced_and_deleted_by_path(world: World) -> None:
    created = json.loads(_run(world, f"create --raw {PATH} -f -", json.dumps(MAP)).stdout)
    assert created["metadata"]["namespace"] == "shop"
    assert json.loads(_run(world, f"get --raw {PATH}/a").stdout) == created
    changed = {**created, "data": {"k": "2"}}
    _run(world, f"replace --raw {PATH}/a -f -", json.dumps(changed))
    live = world.store.get("configmaps", "shop", "a")
    assert live is not None
    assert live["data"] == {"k": "2"}
    assert json.loads(_run(world, f"delete --raw {PATH}/a").stdout)["status"] == "Success"
    assert world.store.get("configmaps", "shop", "a") is None


def test_a_refusal_is_worded_like_any_other(world: World) -> None:
    refused = _run(world, f"get --raw {PATH}/nope")
    assert refused.stderr == 'Error from server (NotFound): configmaps "nope" not found\n'
    assert _run(world, "get --raw /nope").stderr.startswith("Error from server (NotFound): ")
    assert _run(world, "get --raw /version").stdout.startswith("{\n")
    assert _run(world, "get --raw /healthz").stdout == "ok"


def test_raw_goes_with_nothing_else(world: World) -> None:
    for line in ("get --raw /version pods", "create --raw /x", f"get --raw {PATH} -l a=b"):
        output = _run(world, line)
        assert output.exit_code == 1, line
        assert output.stdout == "", line


def test_reconciling_adds_what_is_missing_and_takes_away_when_told(world: World) -> None:
    line = "auth reconcile -f role.yaml"
    output = _run(world, line, files={"role.yaml": ROLE.format(verbs="get, list")})
    assert output.stdout.startswith("role.rbac.authorization.k8s.io/reader reconciled\n")
    _run(world, line, files={"role.yaml": ROLE.format(verbs="watch")})
    role = world.store.get("roles.rbac.authorization.k8s.io", "shop", "reader")
    assert role is not None
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    _run(world, f"{line} --remove-extra-permissions", files={"role.yaml": ROLE.format(verbs="watch")})
    role = world.store.get("roles.rbac.authorization.k8s.io", "shop", "reader")
    assert role is not None
    assert [rule["verbs"] for rule in role["rules"]] == [["watch"]]
    _run(world, f"{line} --dry-run=client", files={"role.yaml": ROLE.format(verbs="delete")})
    assert role == world.store.get("roles.rbac.authorization.k8s.io", "shop", "reader")


def test_a_dump_holds_nodes_objects_and_logs(world: World) -> None:
    text = _run(world, "cluster-info dump --namespaces shop").stdout
    assert '"kind": "NodeList"' in text
    assert '"kind": "PodList"' in text
    assert "==== START logs for container c of pod shop/p ====" in text
    ctx = context_of(world, "shop")
    assert run(["cluster-info", "dump", "--output-directory=d"], ctx).stdout == "Cluster info dumped to d\n"
    assert json.loads(ctx.files.read("d/nodes.json"))["kind"] == "NodeList"
    assert [pod["metadata"]["name"] for pod in json.loads(ctx.files.read("d/shop/pods.json"))["items"]] == [
        "p"
    ]


def test_attaching_needs_a_container_that_runs(world: World) -> None:
    assert _run(world, "attach p").exit_code == 0
    world.store.put("pods", _pod("Succeeded"))
    ended = _run(world, "attach p")
    assert ended.exit_code == 1
    assert ended.stderr == "error: cannot attach a container in a completed pod; current phase is Succeeded\n"
    assert _run(world, "attach nope").stderr == 'Error from server (NotFound): pods "nope" not found\n'
    assert _run(world, "attach").stderr.startswith("error: at least 1 argument is required for attach")
