"""What programs keep on disk: on volumes, which outlast their containers, and in containers' own layers, which do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from env_core.programs._model import Container, Mount
from env_core.sim.state import State

Rows = Mapping[str, str]
_NOTHING: Final[Rows] = {}
_LAYER: Final = "layer "
_EMPTY: Final = "empty "


class Place(NamedTuple):
    """Where a path of a container lies: a directory of a volume, or of the container's own layer."""

    volume: str
    path: str
    claim: str = ""
    """namespace/name of the claim that the volume is bound to; "" for other volumes."""


def layer_of(container: Container) -> str:
    """Return the id of a container's own layer: that of one run."""
    return f"{_LAYER}{container.pod_uid} {container.name} {container.restarts}"


def scratch_of(pod_uid: str, volume: str) -> str:
    """Return the id of a pod's emptyDir: it lives as long as the pod."""
    return f"{_EMPTY}{pod_uid} {volume}"


def place_of(container: Container, path: str) -> Place:
    """Return where a path lies: on the volume mounted nearest above it, else in the container's layer."""
    clean = path.rstrip("/") or "/"
    at = max(
        (each for each in container.mounts if f"{clean}/".startswith(f"{each.rstrip('/')}/")),
        key=len,
        default=None,
    )
    if at is None:
        return Place(layer_of(container), clean)
    mount: Mount = container.mounts[at]
    below = clean[len(at.rstrip("/")) :].strip("/")
    return Place(mount.volume, "/".join(part for part in (mount.below, below) if part), mount.claim)


class Disks:
    """The contents of all volumes and layers, by directory."""

    __slots__ = ("_volumes",)

    def __init__(self, state: State) -> None:
        self._volumes: Any = state.table("runtime/disks")

    def read(self, place: Place) -> Rows:
        """Return what is kept in a directory, by name; not to be changed."""
        found: Mapping[str, Rows] = self._volumes.get(place.volume) or {}
        return found.get(place.path, _NOTHING)

    def write(self, place: Place, rows: Rows) -> None:
        """Replace what is kept in a directory."""
        found: Mapping[str, Rows] = self._volumes.get(place.volume) or {}
        self._volumes[place.volume] = {**found, place.path: dict(rows)}

    def drop_layer(self, container: Container) -> None:
        """Remove a container's own layer."""
        self._volumes.pop(layer_of(container))

    def drop_scratch(self, container: Container) -> None:
        """Remove the emptyDirs that a container has mounted."""
        for mount in container.mounts.values():
            if mount.volume.startswith(_EMPTY):
                self._volumes.pop(mount.volume)
