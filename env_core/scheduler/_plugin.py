"""The declaration of a scheduling plugin, and what one scheduling cycle shows to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from env_core.apiserver.store import Store
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

SCORE_MAX = 100


class Rejection(NamedTuple):
    """Why a node cannot take the pod. `is_final` when no eviction of other pods would change that."""

    reasons: tuple[str, ...]
    is_final: bool


class Impossible(Exception):
    """Raised by `prepare`: the pod fits nowhere, whatever the nodes are."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Cycle:
    """One attempt to place one pod. `store` is for reading only."""

    pod: PodInfo
    nodes: list[NodeInfo]
    store: Store


class Change(NamedTuple):
    """Something in the cluster that may let a pod in: `resource` is a plural, `kind` ADDED, MODIFIED or DELETED.

    For pods it is about pods that have a node; for nodes about the node itself.
    """

    kind: str
    resource: str
    new: Object
    old: Object | None


SKIP = object()
"""What `prepare` and `prepare_score` return when the plugin has nothing to say about the pod."""


def nothing_to_prepare(_cycle: Cycle) -> Any:
    """Return no state."""
    return None


def always_helps(_pod: PodInfo, _change: Change) -> bool:
    """Take every change of the watched resources for one that may help."""
    return True


def as_it_is(_cycle: Cycle, _state: Any, _nodes: list[NodeInfo], scores: list[int]) -> list[int]:
    """Return the scores as they are."""
    return scores


def up_to_maximum(scores: list[int], *, is_reversed: bool = False) -> list[int]:
    """Stretch scores to 0-100 by the greatest one; turn them round when less is better.

    Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/helper normalize_score.go.
    """
    greatest = max(scores, default=0)
    if greatest == 0:
        return [SCORE_MAX] * len(scores) if is_reversed else scores
    stretched = [score * SCORE_MAX // greatest for score in scores]
    return [SCORE_MAX - score for score in stretched] if is_reversed else stretched


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One filter, score or both; `order` is the place in upstream's default profile.

    `prepare` looks at the pod once (SKIP takes the filter out of this cycle, `Impossible` ends it);
    `filter` judges one node. `prepare_score`, `score` and `normalize` do the same for scoring, where each
    score ends between 0 and 100 and counts `weight` times. `watches` are the resources whose changes `helps`
    judges for a pod that this plugin has rejected.
    """

    name: str
    order: int
    prepare: Callable[[Cycle], Any] = nothing_to_prepare
    filter: Callable[[Cycle, Any, NodeInfo], Rejection | None] | None = None
    prepare_score: Callable[[Cycle, list[NodeInfo]], Any] = lambda _cycle, _nodes: None
    score: Callable[[Cycle, Any, NodeInfo], int] | None = None
    normalize: Callable[[Cycle, Any, list[NodeInfo], list[int]], list[int]] = as_it_is
    weight: int = 1
    watches: tuple[str, ...] = ("nodes",)
    helps: Callable[[PodInfo, Change], bool] = always_helps
    source: str
