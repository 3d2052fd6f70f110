"""The scheduler: wakes on pods and nodes, takes the most urgent waiting pod, places it or says why not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.store import WatchEvent
from env_core.objects.volume_claims import CLAIMS, CLASSES, VOLUMES
from env_core.scheduler import _binding, _changes, preemption
from env_core.scheduler._framework import PREPARE_FAILED, Unfit, best, judge_all, prepared, reasons_text
from env_core.scheduler._nodeinfo import NodeCache, NodeInfo
from env_core.scheduler._plugin import Change, Cycle
from env_core.scheduler._podinfo import PodInfo, is_finished
from env_core.scheduler.queue import BINDING, Key, Queue, Queued, due
from env_core.world import Object

NAME = "default-scheduler"
DELAY_MS = 10
"""From a change to the scheduling of the first pod it lets in."""

PER_POD_MS = 1
"""From one pod to the next, while several wait."""

_QUEUE_KEY = ("queue",)
_BIND = "bind"
_WATCHED = frozenset((CLAIMS, VOLUMES, CLASSES))
_NO_NODES = "no nodes available to schedule pods"


def _poll_ms(entry: Queued, now_ms: int) -> int:
    """Return when it is looked next whether a pod's claims are bound: every `POLL_MS` since the wait began.

    Nothing can have come of the looks before a change, so that only one after a change is made.
    """
    begun_ms = entry.ready_ms - _binding.VOLUMES_TIMEOUT_MS
    return begun_ms + ((now_ms - begun_ms) // _binding.POLL_MS + 1) * _binding.POLL_MS


class Scheduler:
    """The default scheduler of one cluster. All its state is in the component's tables."""

    __slots__ = ("_cache", "_component", "_queue")

    def __init__(self, component: Component) -> None:
        self._component = component
        tables = (component.table(name) for name in ("queue", "aside", "promised"))
        self._queue = Queue(*tables)
        self._cache = NodeCache(component.cache, component.table("nodes"), component.table("pods"))

    # Events

    def on_write(self, event: WatchEvent) -> None:
        """Take note of a change: new pods to place, or changes that may let a waiting pod in."""
        resource = event.ref.resource
        if resource == "pods":
            self._on_pod(event)
        elif resource == "nodes":
            if event.type == "DELETED":
                self._cache.forget_node(event.ref.name)
            self._on_change(Change(event.type, "nodes", event.object, event.old))
        elif resource in _WATCHED:
            self._on_change(Change(event.type, resource, event.object, event.old))

    def _on_pod(self, event: WatchEvent) -> None:
        pod, old = event.object, event.old
        key = (event.ref.namespace, event.ref.name)
        node = pod["spec"].get("nodeName")
        if not node:
            self._on_waiting_pod(key, event)
            return
        is_new = old is None or not old["spec"].get("nodeName")
        if not is_new and event.type == "MODIFIED":
            assert old is not None
            if not _changes.matters(pod, old):
                return
        if key in self._queue:
            self._queue.remove(key)
        if not is_new:
            self._cache.forget_node(node)
        is_gone = event.type == "DELETED" or is_finished(pod)
        if event.type == "DELETED":
            self._cache.forget_pod(pod["metadata"].get("uid") or "")
        kind = "DELETED" if is_gone else "ADDED" if is_new else "MODIFIED"
        self._on_change(Change(kind, "pods", pod, None if is_gone or is_new else old))

    def _on_waiting_pod(self, key: Key, event: WatchEvent) -> None:
        pod = event.object
        metadata, spec = pod["metadata"], pod["spec"]
        known = self._queue.get(key)
        if event.type == "DELETED" or "deletionTimestamp" in metadata or is_finished(pod):
            if known is not None:
                self._queue.remove(key)
                if known.nominated or known.node:
                    self._cache.forget_node(known.nominated or known.node)
                    self._on_change(Change("DELETED", "pods", pod, None))
            if event.type == "DELETED":
                self._cache.forget_pod(metadata.get("uid") or "")
            return
        if spec.get("schedulingGates") or (spec.get("schedulerName") or NAME) != NAME:
            return
        now_ms = self._component.now_ms
        if known is None or known.uid != (metadata.get("uid") or ""):
            nominated = (pod.get("status") or {}).get("nominatedNodeName") or ""
            self._queue.add(key, metadata.get("uid") or "", spec.get("priority") or 0, now_ms, nominated)
            self._wake(DELAY_MS)
        elif event.old is not None and _changes.matters(pod, event.old):
            self._queue.move(key, now_ms)
            self._wake(DELAY_MS)

    def _on_change(self, change: Change) -> None:
        """Move the pods that the change may help, as those plugins see it that rejected them."""
        queue, now_ms = self._queue, self._component.now_ms
        has_moved = False
        for key, entry in queue.aside():
            if entry.state == BINDING:
                if change.resource in _WATCHED:
                    self._component.loop.wake(_poll_ms(entry, now_ms), "scheduler", (_BIND, *key))
            elif entry.plugins:
                pod = self._component.cache.get("pods", *key)
                if pod is not None and _changes.helps(entry.plugins, self._cache.pod(pod), change):
                    queue.move(key, now_ms)
                    has_moved = True
        if has_moved:
            self._wake(DELAY_MS)

    def _wake(self, after_ms: int) -> None:
        loop = self._component.loop
        loop.wake(loop.now_ms + after_ms, "scheduler", _QUEUE_KEY)

    # Work

    def handle(self, key: Hashable) -> None:
        """Schedule the most urgent pod, or finish binding one whose claims may be bound by now."""
        if key != _QUEUE_KEY:
            assert isinstance(key, tuple)
            self._finish_binding((key[1], key[2]))
            return
        now_ms = self._component.now_ms
        chosen, again_ms = self._queue.next(now_ms)
        if chosen is not None:
            self._schedule(chosen)
            left = self._queue.get(chosen)
            own_ms = due(left) if left is not None else None
            if own_ms is not None and (again_ms is None or own_ms < again_ms):
                again_ms = own_ms
        if again_ms is not None:
            self._wake(max(again_ms - now_ms, PER_POD_MS))

    def _schedule(self, key: Key) -> None:
        component = self._component
        pod = component.cache.get("pods", *key)
        entry = self._queue.get(key)
        assert entry is not None
        if pod is None or pod["metadata"].get("uid", "") != entry.uid or pod["spec"].get("nodeName"):
            self._queue.remove(key)
            return
        info = self._cache.newest(pod)
        cycle = Cycle(info, self._nodes(key), component.cache)
        if not cycle.nodes:
            self._fail(key, entry, info, ("NodeUnschedulable",), _NO_NODES)
            return
        try:
            filters = prepared(cycle)
        except Unfit as problem:
            text = f"0/{len(cycle.nodes)} nodes are available: {problem.message}. {PREPARE_FAILED}"
            self._fail(key, entry, info, (problem.plugin,), text)
            return
        overlays = self._overlays(key, info, cycle.nodes)
        verdict = judge_all(cycle, filters, overlays)
        if verdict.fitting:
            self._place(key, entry, cycle, self._chosen(entry, cycle, verdict.fitting))
            return
        outcome = preemption.preempt(cycle, filters, verdict, overlays, self._chooser(cycle))
        text = f"{reasons_text(len(cycle.nodes), verdict.rejections.values())} {outcome.text}"
        nominated = outcome.plan.node if outcome.plan is not None else ""
        if outcome.keeps_nomination:
            nominated = entry.nominated
        self._fail(key, replace(entry, nominated=nominated), info, verdict.plugins, text)
        if outcome.plan is not None:
            _binding.evict(component, pod, outcome.plan)

    def _chosen(self, entry: Queued, cycle: Cycle, fitting: list[NodeInfo]) -> NodeInfo:
        for node in fitting:
            if node.name == entry.nominated:
                return node
        return best(cycle, fitting, self._component.stream("ties"))

    def _chooser(self, _cycle: Cycle) -> Callable[[Sequence[preemption.Plan]], preemption.Plan]:
        return preemption.first

    def _nodes(self, own: Key) -> list[NodeInfo]:
        """Return every node, with the pods that are being bound to it as if they were there."""
        nodes = self._cache.nodes()
        assumed = [
            (key, entry.node)
            for key, entry in self._queue.promised()
            if entry.state == BINDING and key != own
        ]
        return self._with_extra(nodes, assumed) if assumed else nodes

    def _overlays(self, own: Key, info: PodInfo, nodes: list[NodeInfo]) -> dict[str, NodeInfo]:
        """Return the nodes that others of at least this priority are nominated to, those others included."""
        nominated = [
            (key, entry.nominated)
            for key, entry in self._queue.promised()
            if entry.nominated and key != own and entry.priority >= info.priority and entry.state != BINDING
        ]
        if not nominated:
            return {}
        names = {node for _, node in nominated}
        return {node.name: node for node in self._with_extra(nodes, nominated) if node.name in names}

    def _with_extra(self, nodes: list[NodeInfo], extra: list[tuple[Key, str]]) -> list[NodeInfo]:
        added: dict[str, list[PodInfo]] = {}
        for key, name in extra:
            pod = self._component.cache.get("pods", *key)
            if pod is not None:
                added.setdefault(name, []).append(self._cache.pod(pod))
        return [
            node.with_pods((*node.pods, *added[node.name])) if node.name in added else node for node in nodes
        ]

    def _place(self, key: Key, entry: Queued, cycle: Cycle, node: NodeInfo) -> None:
        component, pod = self._component, cycle.pod.pod
        if not _binding.reserve_volumes(component, cycle, node):
            timeout_ms = component.now_ms + _binding.VOLUMES_TIMEOUT_MS
            waiting = replace(entry, state=BINDING, node=node.name, ready_ms=timeout_ms)
            self._queue.put(key, waiting)
            _binding.nominate(component, pod, node.name)
            component.loop.wake(_poll_ms(waiting, component.now_ms), "scheduler", (_BIND, *key))
            return
        self._bind(key, entry, pod, node.name)

    def _bind(self, key: Key, entry: Queued, pod: Object, node: str) -> None:
        self._queue.remove(key)
        try:
            _binding.bind(self._component, pod, node)
        except StatusError as error:
            if error.code == 404:
                return
            self._queue.put(key, entry)
            info = self._cache.newest(pod)
            self._fail(key, entry, info, (), f"binding rejected: {error.message}", "SchedulerError")

    def _finish_binding(self, key: Key) -> None:
        entry = self._queue.get(key)
        if entry is None or entry.state != BINDING:
            return
        component = self._component
        pod = component.cache.get("pods", *key)
        if pod is None or pod["spec"].get("nodeName"):
            self._queue.remove(key)
            return
        info = self._cache.newest(pod)
        if _binding.are_claims_bound(component, info):
            self._bind(key, entry, pod, entry.node)
            return
        if component.now_ms >= entry.ready_ms:
            text = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
            self._fail(key, entry, info, ("VolumeBinding",), text, "SchedulerError")
            self._wake(DELAY_MS)
        else:
            component.loop.wake(entry.ready_ms, "scheduler", (_BIND, *key))

    def _fail(
        self,
        key: Key,
        entry: Queued,
        info: PodInfo,
        plugins: tuple[str, ...],
        text: str,
        reason: str = "Unschedulable",
    ) -> None:
        self._queue.set_aside(key, entry, plugins, self._component.now_ms)
        _binding.report(self._component, info.pod, text, reason, entry.nominated)
