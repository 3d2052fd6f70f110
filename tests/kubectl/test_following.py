"""Commands that let time pass: they end when their goal is reached, and at their bound otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import ADMIN, ApiRequest
from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.sim.timefmt import parse_ms
from env_core.world import Object, Output
from tests.kubectl.golden_world import MemoryFiles, TinyApi, registry

START_MS = parse_ms("2026-01-15T12:00:00Z")
KINDS = registry()


class _Schedule:
    """A clock on which objects change at given moments (milliseconds after the start)."""

    def __init__(self, api: TinyApi, changes: dict[int, Callable[[TinyApi], None]]) -> None:
        self.now_ms = START_MS
        self._api = api
        self._changes = sorted((START_MS + at_ms, change) for at_ms, change in changes.items())

    def advance(self, duration_ms: int) -> None:
        self.advance_until(lambda: False, duration_ms)

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        end = self.now_ms + timeout_ms
        while self._changes and self._changes[0][0] <= end:
            self.now_ms, change = self._changes.pop(0)
            change(self._api)
            if is_met():
                return True
        self.now_ms = end
        return False


def _put(obj: Object) -> Callable[[TinyApi], None]:
    return lambda api: api.put(obj)


def _world(objects: list[Object], changes: dict[int, Callable[[TinyApi], None]]) -> Context:
    api = TinyApi(KINDS, objects)
    return Context(
        api=ApiClient(api, ADMIN),
        clock=_Schedule(api, changes),
        files=MemoryFiles(),
        discovery=KINDS,
        namespace="shop",
    )


def _deployment(version: int, updated: int, available: int, *, observed: int = 2) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "d",
            "generation": 2,
            "resourceVersion": str(version),
            "creationTimestamp": "2026-01-15T11:00:00Z",
        },
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {}},
        "status": {
            "observedGeneration": observed,
            "replicas": 2,
            "updatedReplicas": updated,
            "availableReplicas": available,
            "conditions": [{"type": "Available", "status": "True" if available else "False"}],
        },
    }


def _run(ctx: Context, line: str) -> Output:
    return run(line.split(), ctx)


def test_rollout_status_prints_each_change_and_ends_when_done() -> None:
    changes = {
        1_000: _put(_deployment(2, 1, 0)),
        5_000: _put(_deployment(3, 2, 1)),
        9_000: _put(_deployment(4, 2, 2)),
        20_000: _put(_deployment(5, 0, 0)),
    }
    ctx = _world([_deployment(1, 0, 0)], changes)
    output = _run(ctx, "rollout status deploy/web")
    assert output.stdout.splitlines() == [
        'Waiting for deployment "web" rollout to finish: 0 out of 2 new replicas have been updated...',
        'Waiting for deployment "web" rollout to finish: 1 out of 2 new replicas have been updated...',
        'Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...',
        'deployment "web" successfully rolled out',
    ]
    assert (output.exit_code, output.stderr) == (0, "")
    assert ctx.clock.now_ms == START_MS + 9_000


def test_rollout_status_keeps_what_it_printed_when_time_is_up() -> None:
    ctx = _world([_deployment(1, 0, 0)], {1_000: _put(_deployment(2, 1, 0))})
    output = _run(ctx, "rollout status deploy/web --timeout=3s")
    assert len(output.stdout.splitlines()) == 2
    assert (output.exit_code, output.stderr) == (1, "error: timed out waiting for the condition\n")
    assert ctx.clock.now_ms == START_MS + 3_000


def test_wait_ends_when_the_condition_is_met() -> None:
    ctx = _world([_deployment(1, 2, 0)], {4_000: _put(_deployment(2, 2, 2))})
    output = _run(ctx, "wait --for=condition=available deploy/web")
    assert (output.exit_code, output.stdout) == (0, "deployment.apps/web condition met\n")
    assert ctx.clock.now_ms == START_MS + 4_000


def test_wait_for_deletion_ends_when_the_object_is_gone() -> None:
    ctx = _world([_deployment(1, 2, 0)], {4_000: lambda api: api.drop("deployments.apps", "shop", "web")})
    output = _run(ctx, "wait --for=delete deploy/web --timeout=1m")
    assert (output.exit_code, output.stdout) == (0, "deployment.apps/web condition met\n")
    assert ctx.clock.now_ms == START_MS + 4_000


def test_wait_checks_once_with_a_timeout_of_zero() -> None:
    ctx = _world([_deployment(1, 2, 0)], {4_000: _put(_deployment(2, 2, 2))})
    output = _run(ctx, "wait --for=condition=available deploy/web --timeout=0")
    assert output.stderr == "error: condition not met for deployments/web\n"
    assert ctx.clock.now_ms == START_MS


def test_a_watch_prints_changes_in_the_columns_of_the_list_and_ends_at_its_bound() -> None:
    ctx = _world([_deployment(1, 0, 0)], {4_000: _put(_deployment(2, 2, 2))})
    output = _run(ctx, "get deploy -w")
    lines = output.stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("NAME   READY   UP-TO-DATE")
    assert [line.index(word) for line, word in zip(lines, ("READY", "0/2", "0/2"))] == [7, 7, 7]
    assert ctx.clock.now_ms == START_MS + 30_000


def test_a_watch_ends_at_the_request_timeout() -> None:
    ctx = _world([_deployment(1, 0, 0)], {})
    _run(ctx, "get deploy web -w --request-timeout=2s")
    assert ctx.clock.now_ms == START_MS + 2_000


def test_followed_logs_print_what_is_added() -> None:
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"nodeName": "n", "containers": [{"name": "app"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "app", "state": {"running": {}}}]},
    }
    ctx = _world([pod], {})
    api = ctx.api._api
    assert isinstance(api, TinyApi)

    def logs(_request: ApiRequest) -> Output:
        return Output("".join(f"line {n}\n" for n in range(1 + (ctx.clock.now_ms - START_MS) // 2000)))

    api.logs = logs
    output = _run(ctx, "logs web -f --request-timeout=5s")
    assert output.stdout == "line 0\nline 1\nline 2\n"
    assert ctx.clock.now_ms == START_MS + 5_000


def test_logs_wait_for_a_first_pod() -> None:
    ctx = _world([_deployment(1, 0, 0)], {})
    output = _run(ctx, "logs deploy/web")
    assert output.stderr == "error: timed out waiting for the condition\n"
    assert ctx.clock.now_ms == START_MS + 20_000


def test_the_namespace_of_the_context_can_be_changed() -> None:
    ctx = _world([], {})
    output = _run(ctx, "config set-context --current --namespace=kube-system")
    assert output.stdout == 'Context "sre@prod" modified.\n'
    assert _run(ctx, "get pods").stderr == "No resources found in kube-system namespace.\n"
    assert _run(ctx, "get pods -n x").stderr == "No resources found in x namespace.\n"
    assert ctx.namespace == "kube-system"


def test_a_user_without_the_right_may_not_act_as_another() -> None:
    ctx = _world([_deployment(1, 0, 0)], {})
    api = ctx.api._api
    assert isinstance(api, TinyApi)
    api.allows = lambda request: request.verb != "impersonate"
    output = _run(ctx, "get deploy --as=boss")
    assert output.exit_code == 1
    assert output.stderr.startswith("Error from server (Forbidden): deployments.apps is forbidden: User ")
