"""One look at a DaemonSet: the pods it makes and deletes on each node, also to roll a new template out.

Source: k8s.io/kubernetes pkg/controller/daemon daemon_controller.go, update.go; tests/golden/l2/flows (ids ds-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _daemonset_nodes as nodes
from env_core.controllers._history import REVISION_LABEL
from env_core.controllers._pods import create_pod, delete_pod, in_batches, is_finished
from env_core.objects import conditions, meta
from env_core.objects.int_or_percent import scaled_value
from env_core.world import Object

BURST_MAX = 250
BACK_OFF_MS = 1_000
BACK_OFF_MAX_MS = 900_000
_BACK_OFFS = "failed pods"


class Sync:
    """Lives for one reconcile. Pods that it made or deleted do not show in its lists: a second look comes."""

    __slots__ = (
        "_by_node",
        "_has_acted",
        "_min_ready_s",
        "_nodes",
        "_revision",
        "_runs_on",
        "_set",
        "_tolerations",
        "component",
        "wait_ms",
    )

    def __init__(
        self, component: Component, daemon_set: Object, revision: str, pods: Sequence[Object]
    ) -> None:
        self.component = component
        self.wait_ms: int | None = None
        self._set = daemon_set
        self._revision = revision
        self._min_ready_s: int = daemon_set["spec"].get("minReadySeconds", 0)
        self._tolerations = nodes.tolerations_of(daemon_set)
        self._nodes = component.cache.list("nodes")
        self._runs_on = {
            meta.name(node): nodes.runs_on(daemon_set, node, self._tolerations) for node in self._nodes
        }
        self._by_node: dict[str, list[Object]] = {}
        self._has_acted = False
        for pod in pods:
            target = nodes.target_node(pod)
            if target and not (is_finished(pod) and meta.is_terminating(pod)):
                self._by_node.setdefault(target, []).append(pod)

    def act(self) -> None:
        """Bring pods to the nodes that lack one, take them from others, then roll on if nothing was to be done.

        Raises:
            StatusError: the first refusal.
        """
        self._manage()
        if not self._has_acted and self._strategy("type") == "RollingUpdate":
            self._roll()

    def _strategy(self, key: str) -> object:
        return (self._set["spec"].get("updateStrategy") or {}).get(key)

    def _count(self, key: str, total: int) -> int:
        rolling = self._strategy("rollingUpdate")
        share = rolling.get(key) if isinstance(rolling, dict) else None
        return 0 if share is None else scaled_value(share, total, True)

    # Pods that are missing, or too many

    def _manage(self) -> None:
        missing: list[str] = []
        doomed: list[Object] = []
        for name, (should_run, may_stay) in self._runs_on.items():
            pods = self._by_node.get(name)
            if pods is None:
                if should_run:
                    missing.append(name)
            elif may_stay:
                missing += self._sort_out(name, pods, doomed, should_run=should_run)
            else:
                doomed += [pod for pod in pods if not meta.is_terminating(pod)]
        doomed += [
            pod
            for name, pods in self._by_node.items()
            if name not in self._runs_on
            for pod in pods
            if not pod["spec"].get("nodeName")
        ]
        self._write(nodes.in_turn(self._set, missing), doomed)

    def _sort_out(
        self, node: str, pods: Sequence[Object], doomed: list[Object], *, should_run: bool
    ) -> Sequence[str]:
        """Find out which pods of a node have to go; return the node if it needs a new one now."""
        running = []
        for pod in pods:
            if meta.is_terminating(pod):
                continue
            if not is_finished(pod):
                running.append(pod)
            elif self._may_replace(node, pod):
                doomed.append(pod)
        running = nodes.oldest_first(running)
        if not self._surge(1):
            doomed += running[1:]
            return ()
        if not running:
            return (node,) if should_run else ()
        if len(running) > 1:
            doomed += self._beyond_surge(running)
        return ()

    def _may_replace(self, node: str, pod: Object) -> bool:
        """Say whether a finished pod may be deleted now, and tell of it; failing pods on a node have to wait."""
        where = f"{meta.namespace(pod)}/{meta.name(pod)} on node {node}"
        if conditions.pod_phase(pod) == "Succeeded":
            text = f"Found succeeded daemon pod {where}, will try to delete it"
            self.component.recorder.event(self._set, "Normal", "SucceededDaemonPod", text)
            return True
        table = self.component.table(_BACK_OFFS)
        key = (meta.uid(self._set), meta.observed_generation(self._set), node)
        now_ms = self.component.now_ms
        delay_ms, since_ms = table.get(key) or (0, 0)
        if now_ms < since_ms + delay_ms:
            self._wait(since_ms + delay_ms - now_ms)
            return False
        is_forgotten = now_ms - since_ms > 2 * BACK_OFF_MAX_MS
        longer_ms = BACK_OFF_MS if not delay_ms or is_forgotten else min(2 * delay_ms, BACK_OFF_MAX_MS)
        table[key] = (longer_ms, now_ms)
        text = f"Found failed daemon pod {where}, will try to kill it"
        self.component.recorder.event(self._set, "Warning", "FailedDaemonPod", text)
        return True

    def _wait(self, wait_ms: int) -> None:
        self.wait_ms = wait_ms if self.wait_ms is None else min(self.wait_ms, wait_ms)

    def _beyond_surge(self, running: Sequence[Object]) -> list[Object]:
        """Return what has to go of several pods on a node: all but one old and one new, and one of these in time."""
        is_new = [meta.label(pod, REVISION_LABEL) == self._revision for pod in running]
        new = next((pod for pod, flag in zip(running, is_new, strict=True) if flag), None)
        old = next((pod for pod, flag in zip(running, is_new, strict=True) if not flag), None)
        doomed = [pod for pod in running if pod is not new and pod is not old]
        if new is not None and old is not None:
            if not conditions.is_pod_ready(old) or self._is_available(new):
                doomed.append(old)
        return doomed

    def _is_available(self, pod: Object) -> bool:
        return conditions.is_pod_available(pod, self._min_ready_s, self.component.now_ms)

    # Rolling

    def _surge(self, total: int) -> int:
        return self._count("maxSurge", total) if self._strategy("type") == "RollingUpdate" else 0

    def _roll(self) -> None:
        wanted = [name for name, (should_run, _) in self._runs_on.items() if should_run]
        by_node = {name: self._by_node.get(name, []) for name in (*self._by_node, *wanted)}
        surge = self._surge(len(wanted))
        if surge:
            self._roll_by_surge(by_node, surge, len(wanted))
            return
        unavailable = self._count("maxUnavailable", len(wanted))
        self._roll_by_deletion(by_node, max(unavailable, 1) if wanted else unavailable)

    def _split(self, pods: Sequence[Object]) -> tuple[Object | None, Object | None] | None:
        """Return the new and the old pod of a node; None if there are several of one."""
        live = [pod for pod in pods if not meta.is_terminating(pod)]
        new = [pod for pod in live if nodes.is_updated(self._set, pod, self._revision)]
        old = [pod for pod in live if pod not in new]
        if len(new) > 1 or len(old) > 1:
            return None
        return new[0] if new else None, old[0] if old else None

    def _roll_by_deletion(self, by_node: dict[str, list[Object]], allowed: int) -> None:
        unavailable = 0
        broken: list[Object] = []
        candidates: list[Object] = []
        for name in nodes.in_turn(self._set, by_node):
            found = self._split(by_node[name])
            new, old = found if found is not None else (None, None)
            if (new is None) == (old is None):
                # Several of one kind, none, or one of each: the next look sorts that out.
                unavailable += 1
            elif new is not None:
                unavailable += not self._is_available(new)
            elif old is not None and not self._is_available(old):
                broken.append(old)
                unavailable += 1
            elif old is not None and unavailable < allowed:
                candidates.append(old)
        self._write([], [*broken, *candidates[: max(allowed - unavailable, 0)]])

    def _roll_by_surge(self, by_node: dict[str, list[Object]], surge: int, wanted: int) -> None:
        surging = available = 0
        doomed: list[Object] = []
        strays: list[Object] = []
        broken: list[str] = []
        candidates: list[str] = []
        for name in nodes.in_turn(self._set, by_node):
            found = self._split(by_node[name])
            if found is None:
                surging += 1
                continue
            new, old = found
            shown = old if old is not None else new
            available += shown is not None and self._is_available(shown)
            should_run, _ = self._runs_on.get(name, (False, False))
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    doomed.append(old)
                else:
                    surging += 1
            elif not should_run:
                (strays if self._is_available(old) else doomed).append(old)
            elif not self._is_available(old):
                broken.append(name)
            elif surging < surge:
                candidates.append(name)
        doomed += strays[: max(available - wanted, 0)]
        self._write([*broken, *candidates[: max(surge - surging, 0)]], doomed)

    # Writing

    def _write(self, missing: Sequence[str], doomed: Sequence[Object]) -> None:
        self._has_acted = self._has_acted or bool(missing or doomed)
        chosen = missing[:BURST_MAX]

        def create(number: int) -> None:
            pod = nodes.new_pod(self._set, chosen[number], self._revision, self._tolerations)
            create_pod(self.component, self._set, pod)

        failure = in_batches(len(chosen), create)
        for pod in doomed[:BURST_MAX]:
            try:
                delete_pod(self.component, self._set, pod)
            except StatusError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    # Status

    def status(self, pods: Sequence[Object]) -> Object:
        """Return the status for the set's pods as they are now."""
        by_node: dict[str, list[Object]] = {}
        for pod in pods:
            target = nodes.target_node(pod)
            if target and not (is_finished(pod) and meta.is_terminating(pod)):
                by_node.setdefault(target, []).append(pod)
        desired = current = misplaced = ready = available = updated = 0
        for name, (should_run, _) in self._runs_on.items():
            found = by_node.get(name)
            if not should_run:
                misplaced += bool(found)
                continue
            desired += 1
            if not found:
                continue
            current += 1
            pod = nodes.oldest_first(found)[0]
            if conditions.is_pod_ready(pod):
                ready += 1
                available += self._is_available(pod)
            updated += nodes.is_updated(self._set, pod, self._revision)
        optional = {
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
            "numberUnavailable": desired - available,
        }
        old = self._set.get("status") or {}
        return {
            "currentNumberScheduled": current,
            "numberMisscheduled": misplaced,
            "desiredNumberScheduled": desired,
            "numberReady": ready,
            "observedGeneration": meta.generation(self._set),
            **{key: count for key, count in optional.items() if count},
            **{key: old[key] for key in ("collisionCount", "conditions") if key in old},
        }
