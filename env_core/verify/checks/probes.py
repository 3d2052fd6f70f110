"""Checks about readiness: a container that does not serve must be noticed. They try it out on a fork of the fork."""

from __future__ import annotations

from dataclasses import replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.objects.conditions import is_pod_ready
from env_core.verify.checks._model import Check
from env_core.verify.view import View

_LOOK_MS = 5_000
_START_MS = 25_000
"""How long a pod that never serves is watched: less than liveness needs to restart it into a back-off."""


def silent_starts_stay_out(namespace: str, deployment: str, config_map: str, config: dict[str, str]) -> Check:
    """With a configuration under which its program runs but does not serve, new pods never become ready.

    The fork's pods are deleted after the ConfigMap's data is replaced by `config`, so that new ones read it.
    """

    def fails(view: View) -> str:
        if not view.ready_pods_of(namespace, deployment):
            return f"deployment {deployment} has no ready pod"
        trial = _fork(view)
        admin = trial.client()
        try:
            admin.patch("configmaps", namespace, config_map, {"data": config})
            for pod in view.pods_of(namespace, deployment):
                admin.delete("pods", namespace, pod["metadata"]["name"], Options(grace_period_seconds=1))
        except StatusError as error:
            return f"configmap {config_map} cannot be tried out: {error.message}"
        seen = View(trial)
        for _ in range(_START_MS // _LOOK_MS):
            trial.advance(_LOOK_MS)
            if seen.ready_pods_of(namespace, deployment):
                return f"pods of {deployment} that do not serve become ready"
        return "" if seen.pods_of(namespace, deployment) else f"deployment {deployment} makes no pods"

    return Check(f"silent pods of {deployment} stay out", fails)


def silent_pods_leave(namespace: str, deployment: str, container: str, within_ms: int) -> Check:
    """When a container's program stops serving but lives on, its pod is unready after at most `within_ms`."""

    def fails(view: View) -> str:
        pods = view.ready_pods_of(namespace, deployment)
        if not pods:
            return f"deployment {deployment} has no ready pod"
        trial = _fork(view)
        uid, name = pods[0]["metadata"]["uid"], pods[0]["metadata"]["name"]
        if not _hang(trial, uid, container):
            return f"container {container} does not run"
        for _ in range(within_ms // _LOOK_MS):
            trial.advance(_LOOK_MS)
            pod = trial.store.get("pods", namespace, name)
            if pod is None or not is_pod_ready(pod):
                return ""
        return f"a pod of {deployment} that no longer serves stays ready"

    return Check(f"silent pods of {deployment} leave", fails)


def _fork(view: View) -> Cluster:
    return view.fork()


def _hang(cluster: Cluster, uid: str, container: str) -> bool:
    """Let a container's program stop listening without ending; liveness is not looked at, readiness is."""
    run = cluster.runtime.run(uid, container)
    if run is None or not run.is_running(cluster.now_ms):
        return False
    cluster.runtime.put(replace(run, launch=replace(run.launch, listeners=())))
    # The kubelet does not repeat looks whose answer cannot change; now it can.
    key = (uid, container, "readiness")
    workers = cluster.state.table("kubelet/probes")
    worker = workers.get(key)
    if worker is not None and worker.is_parked:
        workers[key] = worker._replace(is_parked=False)
        cluster.loop.wake(cluster.now_ms + 1_000, "kubelet", ("probe", *key))
    return True
