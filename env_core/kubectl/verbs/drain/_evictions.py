"""Evicting or deleting the pods of a node, and waiting until they are gone.

Source: k8s.io/kubectl pkg/drain drain.go (evictPods, deletePods, waitForDelete); tests/golden/l2/flows/drain-pdb.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Screen
from env_core.kubectl.verbs.drain._pods import is_skipped
from env_core.kubectl.writes import BOUND_MS
from env_core.sim.timefmt import go_duration
from env_core.world import Object

_RETRY_MS = 5000
_TERMINATING = "NamespaceTerminating"


@dataclass(slots=True)
class _Eviction:
    pod: Object
    retry_ms: int
    is_evicted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evictor:
    """Gets pods off a node. Times are milliseconds; a timeout of 0 means none."""

    ctx: Context
    screen: Screen
    grace_seconds: int
    timeout_ms: int
    skip_wait_seconds: int
    is_dry: bool

    def evict(self, pods: list[Object]) -> list[str]:
        """Evict the pods, trying again every five seconds what a budget forbids, and return the errors."""
        clock = self.ctx.clock
        start_ms = clock.now_ms
        deadline_ms = start_ms + (self.timeout_ms or BOUND_MS)
        errors: list[str] = []
        # All pods are evicted at once, each by its own goroutine; the one started last runs first.
        active = [_Eviction(pod, start_ms) for pod in (*pods[-1:], *pods[:-1])]
        while active:
            for eviction in list(active):
                if not eviction.is_evicted and eviction.retry_ms <= clock.now_ms:
                    problem = self._try(eviction, deadline_ms)
                    if problem is not None:
                        active.remove(eviction)
                        if problem:
                            errors.append(problem)
            active = [one for one in active if not (one.is_evicted and self._is_finished(one.pod, "evicted"))]
            if not active:
                break
            if any(one.is_evicted for one in active) and clock.now_ms >= deadline_ms:
                for one in [one for one in active if one.is_evicted]:
                    metadata = one.pod["metadata"]
                    errors.append(
                        f'error when waiting for pod "{metadata["name"]}" in namespace "{metadata["namespace"]}" '
                        "to terminate: context deadline exceeded"
                    )
                    active.remove(one)
                continue
            self._pass_time(active, deadline_ms)
        return errors

    def _pass_time(self, active: list[_Eviction], deadline_ms: int) -> None:
        clock = self.ctx.clock
        waiting = [one.pod for one in active if one.is_evicted]
        retries = [one.retry_ms for one in active if not one.is_evicted]
        until_ms = min([*retries, *([deadline_ms] if waiting else [])])
        duration_ms = max(until_ms - clock.now_ms, 1)
        if waiting:
            clock.advance_until(partial(self._is_any_gone, waiting), duration_ms)
        else:
            clock.advance(duration_ms)

    def _try(self, eviction: _Eviction, deadline_ms: int) -> str | None:
        """Evict once. Return None to go on with the pod, "" when it is done, else why it failed."""
        pod = eviction.pod
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        head = f'error when evicting pods/"{name}" -n "{namespace}"'
        note = " (server dry run)" if self.is_dry else ""
        self.screen.out(f"evicting pod {namespace}/{name}{note}\n")
        if self.ctx.clock.now_ms >= deadline_ms:
            return f"{head}: global timeout reached: {go_duration(self.timeout_ms or BOUND_MS)}"
        options: Object = {}
        if self.grace_seconds >= 0:
            options["gracePeriodSeconds"] = self.grace_seconds
        if self.is_dry:
            options["dryRun"] = ["All"]
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": options,
        }
        try:
            self.ctx.api.create(
                "pods",
                namespace,
                body,
                subresource="eviction",
                name=name,
                options=Options(dry_run=self.is_dry),
            )
        except StatusError as error:
            return self._refused(eviction, error, head)
        if self.is_dry:
            return ""
        eviction.is_evicted = True
        return None

    def _refused(self, eviction: _Eviction, error: StatusError, head: str) -> str | None:
        if error.code == 404:
            return ""
        causes = (error.status.get("details") or {}).get("causes") or ()
        if error.code == 429:
            self.screen.err(f"{head} (will retry after 5s): {error.message}\n")
        elif error.code == 403 and any(cause.get("reason") == _TERMINATING for cause in causes):
            if eviction.pod["metadata"].get("deletionTimestamp"):
                eviction.is_evicted = True
                return None
            metadata = eviction.pod["metadata"]
            self.screen.err(
                f'error when evicting pod "{metadata["name"]}" from terminating namespace '
                f'"{metadata["namespace"]}" (will retry after 5s): {error.message}\n'
            )
        else:
            return f"{head}: {error.message}"
        eviction.retry_ms = self.ctx.clock.now_ms + _RETRY_MS
        return None

    def delete(self, pods: list[Object]) -> list[str]:
        """Delete the pods without asking any budget, wait until they are gone, and return the errors."""
        ctx = self.ctx
        options = Options(
            grace_period_seconds=self.grace_seconds if self.grace_seconds >= 0 else None, dry_run=self.is_dry
        )
        for pod in pods:
            metadata = pod["metadata"]
            try:
                ctx.api.delete("pods", metadata["namespace"], metadata["name"], options)
            except StatusError as error:
                if error.code != 404:
                    return [error.message]
        if self.is_dry:
            return []
        deadline_ms = ctx.clock.now_ms + (self.timeout_ms or BOUND_MS)
        pending = list(pods)
        while True:
            pending = [pod for pod in pending if not self._is_finished(pod, "deleted")]
            if not pending:
                return []
            left_ms = deadline_ms - ctx.clock.now_ms
            if left_ms <= 0:
                return ["context deadline exceeded"]
            ctx.clock.advance_until(partial(self._is_any_gone, pending), left_ms)

    def _is_any_gone(self, pods: list[Object]) -> bool:
        return any(map(self._is_gone, pods))

    def _is_gone(self, pod: Object) -> bool:
        metadata = pod["metadata"]
        found = self.ctx.api.find("pods", metadata["namespace"], metadata["name"])
        return found is None or found["metadata"].get("uid") != metadata.get("uid")

    def _is_finished(self, pod: Object, operation: str) -> bool:
        """Whether nobody need wait for the pod any more; what happened to it is printed."""
        metadata = pod["metadata"]
        found = self.ctx.api.find("pods", metadata["namespace"], metadata["name"])
        if found is None or found["metadata"].get("uid") != metadata.get("uid"):
            self.screen.out(f"pod/{metadata['name']} {operation}\n")
            return True
        if is_skipped(found, self.skip_wait_seconds, self.ctx.clock.now_ms):
            self.screen.out(
                f'pod "{metadata["name"]}" has DeletionTimestamp older than {self.skip_wait_seconds} seconds, skipping\n'
            )
            return True
        return False
