"""Running the plugins of the default profile for one pod: filter every node, score those that remain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from env_core.discovery import discover
from env_core.scheduler import plugins as plugins_package
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Cycle, Impossible, Plugin, Rejection
from env_core.sim.rng import Stream

PREPARE_FAILED = "not found"
"""What upstream appends when a pod fits nowhere before any node was looked at (recorded: pvc-missing and others)."""

Filters = list[tuple[Plugin, Any]]


@lru_cache(maxsize=1)
def profile() -> tuple[Plugin, ...]:
    """Return the plugins in the order of the default profile."""
    found = discover(plugins_package, "PLUGIN", Plugin)
    return tuple(sorted(found.values(), key=lambda plugin: plugin.order))


@lru_cache(maxsize=1)
def _filtering() -> tuple[Plugin, ...]:
    return tuple(plugin for plugin in profile() if plugin.filter is not None)


@lru_cache(maxsize=1)
def _scoring() -> tuple[Plugin, ...]:
    return tuple(plugin for plugin in profile() if plugin.score is not None)


class Verdict(NamedTuple):
    """What the filters said: nodes that fit, why the others do not, and who said so."""

    fitting: list[NodeInfo]
    rejections: dict[str, Rejection]
    plugins: tuple[str, ...]


class Unfit(Exception):
    """Raised when a pod fits nowhere before any node was looked at."""

    def __init__(self, message: str, plugin: str) -> None:
        super().__init__(message)
        self.message = message
        self.plugin = plugin


def prepared(cycle: Cycle) -> Filters:
    """Return the filters that have a say about the pod, with their states.

    Raises:
        Unfit: if the pod fits nowhere.
    """
    found: Filters = []
    for plugin in _filtering():
        try:
            state = plugin.prepare(cycle)
        except Impossible as problem:
            raise Unfit(problem.message, plugin.name) from None
        if state is not SKIP:
            found.append((plugin, state))
    return found


def judge(cycle: Cycle, filters: Filters, node: NodeInfo) -> tuple[Plugin, Rejection] | None:
    """Return the first plugin that rejects the node and why, None if it fits."""
    for plugin, state in filters:
        assert plugin.filter is not None
        rejection = plugin.filter(cycle, state, node)
        if rejection is not None:
            return plugin, rejection
    return None


def judge_all(cycle: Cycle, filters: Filters, overlays: dict[str, NodeInfo]) -> Verdict:
    """Judge every node; where an overlay (a node with pods that are promised to it) exists, both must fit."""
    fitting: list[NodeInfo] = []
    rejections: dict[str, Rejection] = {}
    rejecting: set[str] = set()
    for node in cycle.nodes:
        found = None
        if overlays and node.name in overlays:
            found = judge(cycle, filters, overlays[node.name])
        if found is None:
            found = judge(cycle, filters, node)
        if found is None:
            fitting.append(node)
        else:
            rejections[node.name] = found[1]
            rejecting.add(found[0].name)
    return Verdict(fitting, rejections, tuple(sorted(rejecting)))


def best(cycle: Cycle, nodes: list[NodeInfo], stream: Stream) -> NodeInfo:
    """Return the node with the highest score; equals are drawn for."""
    if len(nodes) == 1:
        return nodes[0]
    totals = scores(cycle, nodes)
    most = max(totals)
    winners = [node for node, total in zip(nodes, totals, strict=True) if total == most]
    return winners[0] if len(winners) == 1 else stream.choice(winners)


def scores(cycle: Cycle, nodes: list[NodeInfo]) -> list[int]:
    """Return the weighted total of each node."""
    totals = [0] * len(nodes)
    for plugin in _scoring():
        state = plugin.prepare_score(cycle, nodes)
        if state is SKIP:
            continue
        score = plugin.score
        assert score is not None
        found = plugin.normalize(cycle, state, nodes, [score(cycle, state, node) for node in nodes])
        weight = plugin.weight
        for index, value in enumerate(found):
            totals[index] += value * weight
    return totals


def reasons_text(count: int, rejections: Iterable[Rejection]) -> str:
    """Return `0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.`."""
    counted = Counter(reason for rejection in rejections for reason in rejection.reasons)
    parts = sorted(f"{amount} {reason}" for reason, amount in counted.items())
    return f"0/{count} nodes are available: {', '.join(parts)}."
