"""Which changes can matter to pods that wait: what upstream calls queueing hints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from env_core.scheduler._framework import profile
from env_core.scheduler._plugin import Change, Plugin
from env_core.scheduler._podinfo import PodInfo, is_finished
from env_core.world import Object


@lru_cache(maxsize=1)
def _by_name() -> Mapping[str, Plugin]:
    return {plugin.name: plugin for plugin in profile()}


def matters(pod: Object, old: Object) -> bool:
    """Say whether an update of a pod changed anything that scheduling looks at."""
    spec, old_spec = pod["spec"], old["spec"]
    if spec is not old_spec and spec != old_spec:
        return True
    metadata, old_metadata = pod["metadata"], old["metadata"]
    if metadata is not old_metadata:
        if metadata.get("labels") != old_metadata.get("labels"):
            return True
        if ("deletionTimestamp" in metadata) != ("deletionTimestamp" in old_metadata):
            return True
    return is_finished(pod) != is_finished(old)


def helps(plugins: tuple[str, ...], pod: PodInfo, change: Change) -> bool:
    """Say whether any of the plugins that rejected the pod takes the change for one that may help."""
    table = _by_name()
    for name in plugins:
        plugin = table[name]
        if change.resource in plugin.watches and (
            change.kind != "DELETED" or change.resource != "nodes" or name == "PodTopologySpread"
        ):
            if plugin.helps(pod, change):
                return True
    return False
