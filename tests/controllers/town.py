"""A world with live nodes, the scheduler, and a kubelet by script; and the usual workloads to put into it."""

from env_core.apiserver.component import Component
from env_core.apiserver.request import Identity
from env_core.scheduler.cycle import Scheduler
from tests.controllers.script_kubelet import ScriptKubelet
from tests.controllers.script_nodes import LEASES
from tests.controllers.world import World, controllers

NAMESPACE = "default"


class Town:
    def __init__(self, nodes=3):
        self.world = World()
        self.kubelet = ScriptKubelet(self.world)
        self.world.server.views = {LEASES: self.kubelet.renewed}
        identity = Identity("system:kube-scheduler")
        component = Component(self.world.server, self.world.state, "default-scheduler", identity)
        self.scheduler = Scheduler(component)
        self.world.loop.bind("scheduler", self.scheduler.handle)
        self.world.listeners.append(self.scheduler.on_write)
        self.nodes = [f"node-{index}" for index in range(nodes)]
        for name in self.nodes:
            self.kubelet.add_node(name)
        self.world.advance(100)

    # Making things

    def make(self, resource, api_version, kind, name, spec, **metadata):
        """Create an object and return it as it was stored."""
        body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        return self.world.api.create(resource, metadata.get("namespace", NAMESPACE), body)

    def deploy(self, name="web", replicas=3, namespace=NAMESPACE, **spec):
        self.workload("deployments.apps", name, namespace, replicas=replicas, **spec)

    def workload(self, resource, name, namespace=NAMESPACE, *, annotations=None, pod=None, **spec):
        """Create a workload of `apps` whose pods are labelled with its name."""
        labels = {"app": name}
        return self.make(
            resource,
            "apps/v1",
            KINDS[resource],
            name,
            {"selector": {"matchLabels": labels}, "template": template(labels, annotations, pod), **spec},
            namespace=namespace,
        )

    def job(self, name, *, annotations=None, pod=None, **spec):
        pod = {"restartPolicy": "Never", **(pod or {})}
        wanted = {"template": template({}, annotations, pod), **spec}
        return self.make("jobs.batch", "batch/v1", "Job", name, wanted)

    def cron(self, name, schedule, *, annotations=None, **spec):
        job = {"template": template({}, annotations, {"restartPolicy": "Never"})}
        wanted = {"schedule": schedule, "jobTemplate": {"spec": job}, **spec}
        return self.make("cronjobs.batch", "batch/v1", "CronJob", name, wanted)

    def serve(self, name="web", namespace=NAMESPACE):
        spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
        self.make("services", "v1", "Service", name, spec, namespace=namespace)

    # Looking

    def pods(self, namespace=NAMESPACE, app=""):
        found = self.world.store.list("pods", namespace)
        return [pod for pod in found if app in ("", pod["metadata"].get("labels", {}).get("app"))]

    def get(self, resource, name, namespace=NAMESPACE):
        return self.world.store.get(resource, namespace, name)

    def events(self, about):
        """Return type, reason and message of the events about an object, in order."""
        return [
            (event["type"], event["reason"], event["message"])
            for event in self.world.store.list("events", NAMESPACE)
            if event["involvedObject"].get("name") == about
        ]

    def keys_of(self, controller):
        """Return every key that the world's objects lead the controller to."""
        component = self.world.component(controller)
        return sorted(
            {
                key
                for resource, _delay_ms, mapper in controller.routes()
                for obj in self.world.store.list(resource)
                for key in mapper(obj, component)
            }
        )

    def reconcile_all(self):
        """Let every controller look at everything once more, at this moment."""
        for controller in controllers().values():
            for key in self.keys_of(controller):
                controller.reconcile(self.world.component(controller), key)


KINDS = {
    "deployments.apps": "Deployment",
    "replicasets.apps": "ReplicaSet",
    "statefulsets.apps": "StatefulSet",
    "daemonsets.apps": "DaemonSet",
}


def template(labels, annotations=None, pod=None):
    """Return a pod template of one container."""
    metadata = {"labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {
        "metadata": metadata,
        "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}], **(pod or {})},
    }


def is_ready(pod):
    """Say whether a pod is ready and stays."""
    conditions = (pod.get("status") or {}).get("conditions", ())
    return "deletionTimestamp" not in pod["metadata"] and any(
        each["type"] == "Ready" and each["status"] == "True" for each in conditions
    )
