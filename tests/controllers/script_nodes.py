"""The nodes of the script kubelet: joining, leaving, going down, their conditions and leases."""

from env_core.sim.timefmt import rfc3339_micro
from tests.controllers.script_status import digest

LEASES = "leases.coordination.k8s.io"
LEASE_NAMESPACE = "kube-node-lease"
ANNOTATED_MS = 20
"""From a node's registration to its annotation."""
LEASE_MS = 2_000
"""Between two renewals of a node's lease."""


class ScriptNodes:
    """The part of the script kubelet that speaks for nodes."""

    lease_phase_ms = 0
    """When leases are renewed, within each `LEASE_MS`."""

    def _renewed_ms(self, now_ms):
        return now_ms - (now_ms - self.lease_phase_ms) % LEASE_MS

    def _node(self, kind, action):
        name = action["node"]
        if kind == "node_down":
            self._renew(name)
            self.down.add(name)
        elif kind == "node_up":
            self.down.discard(name)
            self._renew(name)
            self.node_status(name)
            for pod in self.world.store.indexed("node", name):
                self._look(pod)
        elif kind == "add_node":
            self.add_node(name, **action.get("args", {}))
        elif kind == "del_node":
            self.nodes.discard(name)
            self.api.delete("nodes", "", name)
            self.api.delete(LEASES, LEASE_NAMESPACE, name)
        else:
            self.node_status(name, **action.get("args", {}))

    def add_node(
        self,
        name,
        *,
        cpu="4",
        mem="8145396Ki",
        pods="110",
        labels=None,
        taints=None,
        eph="61202244Ki",
        unready=False,
        extra=None,
    ):
        capacity = {
            "cpu": cpu,
            "memory": mem,
            "pods": pods,
            "ephemeral-storage": eph,
            "hugepages-2Mi": "0",
            **(extra or {}),
        }
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "beta.kubernetes.io/os": "linux",
                    "beta.kubernetes.io/arch": "amd64",
                    **(labels or {}),
                },
            },
            "spec": {"taints": taints} if taints else {},
        }
        created = self.api.create("nodes", "", body)
        self.nodes.add(name)
        self._renew(name)
        # The recorder's kubelet annotates the node afterwards, when controllers have seen it.
        self.world.later(ANNOTATED_MS, lambda: self._annotate_node(name))
        machine = digest(name)
        status = {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": self._conditions(unready=unready),
            "addresses": [
                {"type": "InternalIP", "address": "127.0.0.1"},
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "declaredFeatures": ["ExtendWebSocketsToKubelet"],
            "nodeInfo": {
                "machineID": machine[:32],
                "systemUUID": f"{machine[:8]}-0000-4000-8000-000000000000",
                "bootID": f"{machine[:8]}-0000-4000-9000-000000000000",
                "kernelVersion": "6.8.0-60-generic",
                "osImage": "Ubuntu 24.04.2 LTS",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kubeletVersion": "v1.37.2",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        }
        self.api.update_status("nodes", "", {**created, "status": status})
        self.events.tell_of_node(name, "Starting", "Starting kubelet.")
        for reason in (
            "NodeHasSufficientMemory",
            "NodeHasNoDiskPressure",
            "NodeHasSufficientPID",
            "NodeReady",
        ):
            self.events.tell_of_node(name, reason, f"Node {name} status is now: {reason}")

    def _annotate_node(self, name):
        annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
        if self.world.store.get("nodes", "", name) is not None:
            self.api.patch("nodes", "", name, {"metadata": {"annotations": annotations}})

    def node_status(self, name, **arguments):
        node = self.world.store.get("nodes", "", name)
        if node is None:
            return
        status = {**node["status"], "conditions": self._conditions(**arguments)}
        self.api.update_status("nodes", "", {**node, "status": status})

    def _renew(self, name):
        """Write the lease as it was renewed last: all live nodes' are renewed in one go."""
        now_ms = self.world.now_ms
        lease = self.world.store.get(LEASES, LEASE_NAMESPACE, name)
        renewed_ms = self._renewed_ms(now_ms) if lease is not None else now_ms
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": rfc3339_micro(renewed_ms),
        }
        if lease is not None:
            self.api.update(LEASES, LEASE_NAMESPACE, {**lease, "spec": {**lease["spec"], **spec}})
            return
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": spec,
        }
        self.api.create(LEASES, LEASE_NAMESPACE, body)

    def renewed(self, lease, now_ms):
        """Show the lease of a live node as it was renewed last, as the API does for real kubelets."""
        name = lease["metadata"]["name"]
        if lease["metadata"]["namespace"] != LEASE_NAMESPACE or name in self.down or name not in self.nodes:
            return lease
        stamp = rfc3339_micro(self._renewed_ms(now_ms))
        if stamp <= lease["spec"]["renewTime"]:
            return lease
        return {**lease, "spec": {**lease["spec"], "renewTime": stamp}}

    def _conditions(self, *, unready=False, pressure=None):
        rows = [
            (
                "MemoryPressure",
                "False",
                "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available",
            ),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]
        if pressure == "memory":
            rows[0] = (
                "MemoryPressure",
                "True",
                "KubeletHasInsufficientMemory",
                "kubelet has insufficient memory available",
            )
        if pressure == "disk":
            rows[1] = ("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        if unready:
            text = (
                "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
                "message:Network plugin returns error: cni plugin not initialized"
            )
            rows[3] = ("Ready", "False", "KubeletNotReady", text)
        return [
            {
                "type": type_,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": self.now,
                "lastTransitionTime": self.now,
            }
            for type_, status, reason, message in rows
        ]
