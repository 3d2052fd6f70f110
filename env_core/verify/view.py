"""What checks see of a cluster: objects, ownership, endpoints, and requests sent from places in the network."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.objects import selectors
from env_core.objects.conditions import is_pod_ready
from env_core.programs import UNREACHABLE, Container, Reply, Request
from env_core.world import Object, Objects

MANAGED_BY_CONTROLLER = "endpointslice-controller.k8s.io"
_DIAL_MS = 3_000


class View:
    """Read-only eyes on one cluster; the cluster is a fork, so requests may leave traces in it."""

    __slots__ = ("_cluster",)

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def cluster(self) -> Cluster:
        """The cluster itself, for checks of all of it; not to be changed."""
        return self._cluster

    def fork(self) -> Cluster:
        """Return a cluster of one's own, to try things on."""
        return self._cluster.fork()

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self._cluster.now_ms

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return the object, or None."""
        return self._cluster.store.get(resource, namespace, name)

    def list(self, resource: str, namespace: str) -> Objects:
        """Return the objects of a namespace, sorted by name."""
        return self._cluster.store.list(resource, namespace)

    def pods_of(self, namespace: str, deployment: str) -> Objects:
        """Return the living pods of a Deployment: owned by it through its ReplicaSets, not terminating."""
        owner = self.get("deployments.apps", namespace, deployment)
        if owner is None:
            return []
        store = self._cluster.store
        sets = store.owned(owner["metadata"]["uid"], "replicasets.apps")
        pods = [pod for replicaset in sets for pod in store.owned(replicaset["metadata"]["uid"], "pods")]
        return [
            pod
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"]
            and pod.get("status", {}).get("phase") not in ("Failed", "Succeeded")
        ]

    def ready_pods_of(self, namespace: str, deployment: str) -> Objects:
        """Return the ready ones of `pods_of`."""
        return [pod for pod in self.pods_of(namespace, deployment) if is_pod_ready(pod)]

    def endpoints_of(self, namespace: str, service: str) -> tuple[str, ...]:
        """Return the uids of the ready pods behind a Service, as the endpoint slice controller sees them."""
        slices = self._cluster.store.indexed("service", f"{namespace}/{service}")
        uids: list[str] = []
        for entry in slices:
            if (
                entry["metadata"].get("labels", {}).get("endpointslice.kubernetes.io/managed-by")
                != MANAGED_BY_CONTROLLER
            ):
                uids += ["" for _ in entry.get("endpoints") or ()]
                continue
            for endpoint in entry.get("endpoints") or ():
                if endpoint.get("conditions", {}).get("ready", True):
                    uids.append((endpoint.get("targetRef") or {}).get("uid", ""))
        return tuple(uids)

    def selects(self, selector: Object, labels: dict[str, str]) -> bool:
        """Whether a Service selector (a label map; empty selects nothing) matches labels."""
        return bool(selector) and all(labels.get(key) == value for key, value in selector.items())

    def label_selector_matches(self, selector: Object, labels: dict[str, str]) -> bool:
        """Whether a LabelSelector matches labels."""
        return selectors.from_object(selector).matches(labels)

    def request_from_outside(self, host: str, path: str, timeout_ms: int) -> Reply:
        """Send an HTTP request to the ingress, as a client outside the cluster."""
        network = self._cluster.network
        return network.request_ingress(Request(path=path, host=host, timeout_ms=timeout_ms))

    def can_connect(self, source: Object, target: Object, port: int, protocol: str = "TCP") -> bool:
        """Whether network policies let one pod (an object, possibly hypothetical) connect to another."""
        return self._cluster.network.allows(source, target, port, protocol)

    def dial(self, pod: Object, host: str, port: int) -> str:
        """Return "" when a running pod finds a host and gets a connection to it, else the failure."""
        network = self._cluster.network
        source = network.source_of_pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
        if source is None:
            return UNREACHABLE
        return network.request(
            source, host, port, Request(host=host, protocol="tcp", timeout_ms=_DIAL_MS)
        ).failure

    def resolves_to(self, pod: Object, host: str) -> tuple[str, ...]:
        """Return the addresses that a name resolves to from within a pod; empty when it does not."""
        metadata = pod["metadata"]
        source = self._cluster.network.source_of_pod(metadata["namespace"], metadata["name"])
        return () if source is None else self._cluster.network.resolve(source, host).addresses

    def process_of(self, pod: Object, container: str) -> Container | None:
        """Return a running container as its program sees it, files and all; None when it does not run."""
        run = self._cluster.runtime.run(pod["metadata"]["uid"], container)
        return None if run is None or not run.is_running(self.now_ms) else run.container

    def env_of(self, pod: Object, container: str) -> dict[str, str]:
        """Return the environment of a running container; empty when it does not run."""
        found = self.process_of(pod, container)
        return {} if found is None else dict(found.env)

    def listens_on(self, pod: Object, container: str, port: int) -> bool:
        """Whether a running container has opened a port."""
        run = self._cluster.runtime.run(pod["metadata"]["uid"], container)
        return run is not None and run.is_running(self.now_ms) and run.listens_on(port, self.now_ms)
