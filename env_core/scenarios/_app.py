"""The declaration of an application: a healthy world of its own, its ways in, and what its workloads need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from env_core.cluster import Cluster
from env_core.verify.data import Database, Records
from env_core.verify.entry import Entry

__all__ = ["CREDENTIAL", "SETTING", "UPSTREAM", "App", "Base", "Entry", "Need", "Workload"]

UPSTREAM = "upstream"
SETTING = "setting"
CREDENTIAL = "credential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An environment variable that a workload's program reads at its start, and where its value comes from."""

    variable: str
    kind: str
    """UPSTREAM (host, host:port or URL of another workload's Service), SETTING or CREDENTIAL."""
    source: str
    """"configmaps", "secrets", or "" for a literal in the pod template."""
    name: str = ""
    """The name of the ConfigMap or Secret."""
    key: str = ""
    value: str = ""
    """The right value."""
    target: str = ""
    """For an UPSTREAM, the role of the workload that it leads to."""
    is_required: bool = True
    """Whether the program ends without it; else it runs with a default and fails later, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One workload of an application, as its owners know it: what a fault may break and a repair must restore."""

    role: str
    """Its name inside the application's declaration; the same in every variant."""
    namespace: str
    name: str
    resource: str = "deployments.apps"
    """Or statefulsets.apps, cronjobs.batch, daemonsets.apps, jobs.batch."""
    container: str
    image: str
    """Repository and tag, as in the manifest."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of its selector."""
    replicas: int = 1
    service: str = ""
    """The Service in front of it; "" for workers."""
    service_port: int = 0
    container_port: int = 0
    port_name: str = ""
    health_path: str = ""
    """What its liveness probe asks; answers as long as the process works."""
    ready_path: str = ""
    """What its readiness probe asks."""
    needs: tuple[Need, ...] = ()
    working_set_bytes: int = 0
    """What its program uses in the long run under the usual traffic."""
    peak_millis: int = 0
    """The CPU that it needs at its peak, in thousandths of a core."""
    start_ms: int = 0
    """From the start of a container to its readiness."""
    earlier_tags: tuple[str, ...] = ()
    """Good releases before the present one, newest first."""
    later_tags: tuple[str, ...] = ()
    """Good releases after it."""
    leaking_tags: tuple[str, ...] = ()
    """Releases in the registry whose memory grows without bound."""
    failing_tags: tuple[str, ...] = ()
    """Releases that start well and then answer a share of their requests with 500."""
    slow_tags: tuple[str, ...] = ()
    """Releases that need much longer to start (a migration at boot)."""
    claims: tuple[str, ...] = ()
    """Names of its PersistentVolumeClaims."""
    protocol: str = ""
    """What it speaks if it is a database: "postgres" or "redis"."""
    records: Records = field(default_factory=dict)
    """What a database held before anything broke: the judge asks for it again."""
    is_shared: bool = False
    """Whether other teams use it, too."""
    source: str = ""
    """namespace/name of the ConfigMap from which config-sync applies it; "" where nothing does."""

    @property
    def tag(self) -> str:
        """The tag of its image."""
        return self.image.rpartition(":")[2]

    @property
    def database(self) -> Database:
        """How the judge finds it, if it is a database."""
        return Database(self.protocol, self.namespace, self.labels, self.container, self.container_port)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A healthy world of one application, built once; callers fork its cluster and never change it."""

    app: str
    variant: int
    cluster: Cluster
    namespaces: tuple[str, ...]
    """The application's own namespaces, its main one first."""
    workloads: Mapping[str, Workload]
    """By role."""
    entries: tuple[Entry, ...]
    managed: Mapping[str, Workload] = field(default_factory=dict)
    """Workloads that are brought back to what their `source` declares, by role: not among `workloads`."""

    def entries_through(self, role: str) -> tuple[Entry, ...]:
        """Return the ways in that fail when a workload does."""
        return tuple(entry for entry in self.entries if role in entry.through)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An application. `build` makes variant 0 … `variants` − 1, which differ in names, sizes, labels and parts.

    A module of `env_core/scenarios/apps` declares one as `APP`; its manifests are a folder beside the module.
    """

    id: str
    summary: str
    variants: int
    build: Callable[[int], Base]
