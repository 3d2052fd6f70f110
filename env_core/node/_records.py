"""What the kubelets remember of pods, containers and probes: immutable rows of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from env_core.world import Object

# What a pod worker does: start and restart, stop for good, clean up, nothing more.
SYNCING: Final = "syncing"
TERMINATING: Final = "terminating"
TERMINATED: Final = "terminated"
FINISHED: Final = "finished"

# What a busy worker waits for.
IDLE: Final = ""
ATTACHING: Final = "attaching"
"""Its volumes are not attached to the node: the write that tells of it wakes the worker."""
MOUNTING: Final = "mounting"
KILLING: Final = "killing"
PULLING: Final = "pulling"
HOOK: Final = "hook"


class Resize(NamedTuple):
    """A resize that goes on or was put off: the condition that tells of it."""

    kind: str
    reason: str
    message: str
    probed: str
    since: str


class Instance(NamedTuple):
    """One container in the runtime: a run of a container of a pod, living or dead."""

    container_id: str
    restarts: int
    image: str
    image_id: str
    started_ms: int
    """0 when it could not be started, as runtimes report."""
    specified_image: str
    user: int = 0
    finished_ms: int | None = None
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    resources: Object | None = None
    """What its runtime gives it, as the spec writes it."""

    @property
    def is_running(self) -> bool:
        """Whether the process lives as far as the kubelet has seen."""
        return self.finished_ms is None


class ContainerRecord(NamedTuple):
    """A container of a pod: its newest run, the one dead run that is kept, and its back-offs."""

    current: Instance | None = None
    previous: Instance | None = None
    waiting: tuple[str, str] | None = None
    """Reason and message of the last failed start, kept until one succeeds."""
    backoff_ms: int = 0
    backoff_at_ms: int = 0
    image_backoff_ms: int = 0
    image_backoff_at_ms: int = 0
    image_failed: str = ""
    image_error: str = ""
    is_purged: bool = False
    """Whether the runtime has let the newest run go, with the sandbox that it was in."""


NO_CONTAINER: Final = ContainerRecord()


class Sandbox(NamedTuple):
    """A pod's sandbox: its network namespace and address."""

    sandbox_id: str
    address: str
    attempt: int
    is_ready: bool = True


class MountTry(NamedTuple):
    """A volume that cannot be mounted: when it is tried again, and after how long the time after that."""

    volume: str
    at_ms: int
    delay_ms: int


_NO_CONTAINERS: Final[Mapping[str, ContainerRecord]] = MappingProxyType({})


class PodRecord(NamedTuple):
    """A pod on a node, as its worker and the runtime know it."""

    uid: str
    namespace: str
    name: str
    node: str
    seen_ms: int
    worker: str = SYNCING
    stage: str = IDLE
    until_ms: int = 0
    """When the current stage ends."""
    is_first: bool = True
    is_mounted: bool = False
    has_probes: bool = False
    mount_tries: tuple[MountTry, ...] = ()
    mount_deadline_ms: int = 0
    sandbox: Sandbox | None = None
    containers: Mapping[str, ContainerRecord] = _NO_CONTAINERS
    status: Object | None = None
    """The newest generated status, before it is merged with what the API has."""
    todo: tuple[str, ...] = ()
    """Containers that the running sync has still to start."""
    error: str = ""
    """How the running sync failed: "" (not), "backoff" (only crash back-offs), "network" or "error"."""
    has_changed: bool = False
    """Whether the running sync changed the runtime, so that the kubelet looks again."""
    is_pending: bool = False
    """Whether something asked for a sync while the worker was busy."""
    pulled_image: str = ""
    """What the worker pulls, as the spec names it."""
    pull_asked_ms: int = 0
    pull_took_ms: int = 0
    synced_ms: int = -1
    """When the last sync ended."""
    retry_ms: int | None = None
    is_stopping_all: bool = False
    """Whether the running sync stops the whole pod (to start it in a new sandbox, if `todo` says so)."""
    grace_seconds: int | None = None
    reason: str = ""
    """Why the kubelet itself ends the pod (DeadlineExceeded, Evicted)."""
    reason_message: str = ""
    use: tuple[int, int] = (0, 0)
    """Millicores and bytes of memory that the pod's requests take from the node."""
    allocated: Mapping[str, Object] | None = None
    """What the node grants each container; None until the first sync."""
    resize: Resize | None = None
    is_killed: bool = False
    """Whether the kubelet itself ends the pod for the node's sake (eviction, preemption)."""
    disruption: str = ""
    """The message of the condition DisruptionTarget that such a pod gets, "" for none."""
    is_gone: bool = False
    """Whether the API object was removed before its containers were."""
    pod: Object | None = None
    """The last state of a pod object that is gone."""

    def container(self, name: str) -> ContainerRecord:
        """Return the record of a container, an empty one before its first start."""
        return self.containers.get(name, NO_CONTAINER)

    def with_container(self, name: str, record: ContainerRecord) -> PodRecord:
        """Return a record in which one container's is replaced."""
        return self._replace(containers={**self.containers, name: record})

    def change_container(self, name: str, **changes: Any) -> PodRecord:
        """Return a record in which fields of one container's are replaced."""
        return self.with_container(name, self.container(name)._replace(**changes))


class Settings(NamedTuple):
    """How a node's kubelet and its host are set up, as far as nodes differ. Zeros are the kubelet's defaults."""

    soft_memory_bytes: int = 0
    """Soft eviction threshold of memory.available; 0 is none."""
    soft_grace_ms: int = 0
    soft_pod_grace_s: int = 0
    hard_pids: str = ""
    """Hard eviction threshold of pid.available, a number or a percentage; "" is none, as kubelets have it by default."""
    pressure_transition_ms: int = 300_000
    nameservers: tuple[str, ...] = ()
    """Of the host's resolv.conf."""
    searches: tuple[str, ...] = ()
    has_cluster_dns: bool = True
    has_apparmor: bool = True
    csi_drivers: tuple[str, ...] | None = None
    """Names of the CSI drivers whose node plugins are registered with the kubelet; None for all that are asked for."""


class Free(NamedTuple):
    """What is left of a machine; None where there is plenty."""

    memory_bytes: int | None = None
    disk_bytes: int | None = None
    inodes: int | None = None
    pids: int | None = None
    """Numbers for further processes."""


class NodeRecord(NamedTuple):
    """A node: its place among the nodes and what is used of it."""

    name: str
    number: int
    address: str
    pod_cidr: str
    cpu_millis: int
    memory_bytes: int
    storage_bytes: int
    pods_max: int
    joined_ms: int
    relist_ms: int
    """Phase of the runtime relist, within a second."""
    tick_ms: int
    """Phase of the sync loop's ticker, within a second."""
    next_address: int = 2
    pulls_until_ms: int = 0
    used: tuple[int, int, int] = (0, 0, 0)
    """Millicores, bytes of memory and number of the pods on it."""
    stopped_ms: int | None = None
    """Since when its kubelet is silent."""
    is_down: bool = False
    """Whether the whole machine is down, and not its kubelet alone."""
    settings: Settings = Settings()
    free: Free = Free()
    disk_bytes: int = 100 << 30
    """Capacity of its file system."""
    inodes: int = 6_553_600
    pids: int = 4_194_304
    """How many processes its kernel runs at most."""
    evict_ms: int = 0
    """Phase of the eviction manager's rounds, within ten seconds."""
    evicting_ms: int = 0
    """Until when the eviction manager waits for the pod that it ended last."""
    observed: tuple[tuple[str, int], ...] = ()
    """Thresholds that are met, with the time since when."""
    pressures: tuple[tuple[str, int], ...] = ()
    """Conditions of pressure, with the time at which each was last observed."""
    has_failed_gc: bool = False
    """Whether the last collection of images did not free enough."""
    network_problem: str = ""
    """Why the runtime's network is not ready, "" when it is."""
    runtime_problem: str = ""
    runtime_lost_ms: int = 0
    reported_ms: int = 0
    """When the kubelet last wrote of its node; kept of those whose clocks were set."""
    is_cordoned: bool = False
    """What the kubelet last saw of the node's `unschedulable`."""


class ProbeState(NamedTuple):
    """A probe worker of a container."""

    base_ms: int
    """When its ticker started; it ticks every period from there."""
    container_id: str = ""
    result: str = ""
    """What the probe's manager holds for the container: success, failure, unknown, "" (nothing)."""
    last: str = ""
    run: int = 0
    is_on_hold: bool = False
    is_parked: bool = False
    """Whether the answer cannot change before the container does."""
    is_manual: bool = False
    """Whether the pending look was asked for by a sync, so that the ticker starts anew."""
