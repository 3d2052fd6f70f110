"""A metrics server that says what a script tells it to, and the flags with which autoscaler flows were recorded."""

from contextlib import ExitStack, contextmanager
from unittest import mock

from env_core.apiserver import errors
from env_core.controllers import _hpa_limits, _hpa_replicas, horizontalpodautoscaler
from env_core.sim.timefmt import rfc3339

_DEFAULT = ("3m", "10Mi")


@contextmanager
def autoscaler_flags():
    with ExitStack() as stack:
        for module, name, value in (
            (horizontalpodautoscaler, "SYNC_MS", 2_000),
            (horizontalpodautoscaler, "_LOOK_MS", 8),
            (_hpa_limits, "DOWNSCALE_STABILIZATION_MS", 6_000),
            (_hpa_replicas, "CPU_INITIALIZATION_MS", 1_000),
            (_hpa_replicas, "INITIAL_READINESS_MS", 1_000),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


class MetricsStub:
    """Stands in for `ApiServer.metrics`."""

    def __init__(self, world, *, is_served=True):
        self.world = world
        self.is_served = is_served
        self.is_up = True
        self.usages = {}

    def act(self, namespace, action):
        if action["action"] == "usage":
            self.usages[(namespace, action["prefix"])] = (action["cpu"], action["memory"])
        elif action["action"] == "metrics_up":
            self.is_up = action["up"]

    def __call__(self, plural, namespace, matches):
        if not self.is_served:
            text = f"the server could not find the requested resource (get {plural}.metrics.k8s.io)"
            raise errors.StatusError(errors.status(404, "NotFound", text))
        if not self.is_up:
            text = "metrics not available yet"
            raise errors.StatusError(errors.status(503, "ServiceUnavailable", text))
        if plural == "nodes":
            found = [self._node(node) for node in self.world.store.list("nodes")]
        else:
            found = [self._pod(pod) for pod in self.world.store.list("pods", namespace)]
        return [each for each in found if each is not None and (matches is None or matches(each))]

    def _node(self, node):
        metadata = node["metadata"]
        return {
            "metadata": {key: metadata[key] for key in ("name", "labels") if key in metadata},
            "timestamp": rfc3339(self.world.now_ms),
            "window": "20.024s",
            "usage": {"cpu": f"{250_000_000 + 1_000_000 * len(metadata['name'])}n", "memory": "1250000Ki"},
        }

    def _usage(self, metadata):
        told = (metadata.get("annotations") or {}).get("sim/usage")
        if told:
            return tuple(told.split(","))
        for (namespace, prefix), usage in self.usages.items():
            if namespace == metadata["namespace"] and metadata["name"].startswith(prefix):
                return usage
        return _DEFAULT

    def _pod(self, pod):
        metadata = pod["metadata"]
        cpu, memory = self._usage(metadata)
        if cpu == "none" or (pod.get("status") or {}).get("phase") != "Running":
            return None
        return {
            "metadata": {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata},
            "timestamp": rfc3339(self.world.now_ms),
            "window": "15s",
            "containers": [
                {"name": each["name"], "usage": {"cpu": cpu, "memory": memory}}
                for each in pod["spec"]["containers"]
            ],
        }
