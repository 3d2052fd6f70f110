"""What programs keep on disk: on volumes, which outlast their containers, and in containers' own layers, which do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from env_core.programs._model import Container, Fill, Mount
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


class Space(NamedTuple):
    """How large a volume is and how much of it is in use, in bytes."""

    size: int
    used: int


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


class Level(NamedTuple):
    """How full a volume was at a moment, and how that grows while one run of a container lives."""

    pod_uid: str
    container: str
    since_ms: int
    size_bytes: int
    bytes_per_s: int = 0
    bytes_max: int = 0
    """How far it grows."""

    def at(self, at_ms: int) -> int:
        """Return the bytes in use at a moment of the run."""
        grown = self.bytes_per_s * max(at_ms - self.since_ms, 0) // 1000
        return max(min(self.size_bytes + grown, self.bytes_max), self.size_bytes)

    def reaches_ms(self, size_bytes: int) -> int | None:
        """Return when that many bytes are in use, None for never."""
        if not self.bytes_per_s or self.bytes_max < size_bytes:
            return None
        return self.since_ms + max(size_bytes - self.size_bytes, 0) * 1000 // self.bytes_per_s + 1


class Disks:
    """The contents of all volumes and layers, by directory, and how full those volumes are that something fills."""

    __slots__ = ("_levels", "_volumes")

    def __init__(self, state: State) -> None:
        self._volumes: Any = state.table("runtime/disks")
        self._levels: Any = state.table("runtime/levels")

    def level(self, volume: str) -> Level | None:
        """Return how full a volume was last known to be, None for one that nothing fills."""
        found: Level | None = self._levels.get(volume)
        return found

    def fill(self, container: Container, fills: Fill) -> None:
        """Take note that a run starts to write; what is there beyond its bound goes."""
        volume = place_of(container, fills.path).volume
        before = self.level(volume)
        held = min(before.size_bytes if before is not None else 0, fills.bytes_max)
        self._levels[volume] = Level(
            container.pod_uid, container.name, container.started_ms, held, fills.bytes_per_s, fills.bytes_max
        )

    def settle(self, container: Container, end_ms: int) -> None:
        """Take note that a run of a container has ended: it writes no more."""
        key = (container.pod_uid, container.name, container.started_ms)
        for volume, level in self._levels.items():
            if (level.pod_uid, level.container, level.since_ms) == key:
                self._levels[volume] = Level(level.pod_uid, level.container, end_ms, level.at(end_ms))

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
