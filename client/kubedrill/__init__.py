"""The typed client of kubedrill: it speaks to a server and never sees the simulator."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubedrill.client import EpisodeError, KubeEnv
    from kubedrill.http import KubeHttpClient
    from kubedrill.models import KubeAction, KubeObservation, KubeState, Reward, TaskInfo

__all__ = [
    "EpisodeError",
    "KubeAction",
    "KubeEnv",
    "KubeHttpClient",
    "KubeObservation",
    "KubeState",
    "Reward",
    "TaskInfo",
]

_HOMES = {"EpisodeError": "client", "KubeEnv": "client", "KubeHttpClient": "http"}


def __getattr__(name: str) -> Any:
    # Lazily, so that whoever needs only the models does not load the transports.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kubedrill.{_HOMES.get(name, 'models')}"), name)
