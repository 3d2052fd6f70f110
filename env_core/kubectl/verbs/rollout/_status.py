"""How far a rollout is.

Source: k8s.io/kubectl pkg/polymorphichelpers rollout_status.go; tests/golden/l0/rollout_status.
"""

from __future__ import annotations

from dataclasses import dataclass

from env_core.kubectl.screen import Failure
from env_core.objects.problems import quoted
from env_core.world import Object

_REVISION = "deployment.kubernetes.io/revision"
_WAITING_SPEC = "Waiting for {} spec update to be observed...\n"


@dataclass(frozen=True, slots=True)
class RolloutStatus:
    """What is printed, and whether the rollout is over."""

    message: str
    is_done: bool


def rollout_status(obj: Object, revision: int) -> RolloutStatus:
    """Return how far the rollout of a Deployment, DaemonSet or StatefulSet is; `revision` 0 means any.

    Raises:
        Failure: when it cannot succeed, another revision runs, or the kind has no rollouts.
    """
    kind = obj["kind"]
    if kind == "Deployment":
        return _deployment(obj, revision)
    if kind == "DaemonSet":
        return _daemon_set(obj)
    if kind == "StatefulSet":
        return _stateful_set(obj)
    group, slash, _ = obj["apiVersion"].rpartition("/")
    raise Failure(f"no status viewer has been implemented for {kind}{f'.{group}' if slash else ''}")


def _generations(obj: Object) -> tuple[int, int]:
    observed = (obj.get("status") or {}).get("observedGeneration") or 0
    return obj["metadata"].get("generation") or 0, observed


def _deployment(obj: Object, revision: int) -> RolloutStatus:
    name, spec, status = quoted(obj["metadata"]["name"]), obj.get("spec") or {}, obj.get("status") or {}
    if revision > 0:
        text = (obj["metadata"].get("annotations") or {}).get(_REVISION, "0")
        running = int(text) if text.isdigit() else 0
        if revision != running:
            raise Failure(f"desired revision ({revision}) is different from the running revision ({running})")
    generation, observed = _generations(obj)
    if generation > observed:
        return RolloutStatus(_WAITING_SPEC.format("deployment"), is_done=False)
    for condition in status.get("conditions") or ():
        if condition.get("type") == "Progressing" and condition.get("reason") == "ProgressDeadlineExceeded":
            raise Failure(f"deployment {name} exceeded its progress deadline")
    head = f"Waiting for deployment {name} rollout to finish: "
    updated, replicas = status.get("updatedReplicas") or 0, status.get("replicas") or 0
    available = status.get("availableReplicas") or 0
    wanted = spec.get("replicas")
    if wanted is not None and updated < wanted:
        return RolloutStatus(
            f"{head}{updated} out of {wanted} new replicas have been updated...\n", is_done=False
        )
    if replicas > updated:
        return RolloutStatus(
            f"{head}{replicas - updated} old replicas are pending termination...\n", is_done=False
        )
    if available < updated:
        return RolloutStatus(
            f"{head}{available} of {updated} updated replicas are available...\n", is_done=False
        )
    return RolloutStatus(f"deployment {name} successfully rolled out\n", is_done=True)


def _daemon_set(obj: Object) -> RolloutStatus:
    name, spec, status = quoted(obj["metadata"]["name"]), obj.get("spec") or {}, obj.get("status") or {}
    if (spec.get("updateStrategy") or {}).get("type", "RollingUpdate") != "RollingUpdate":
        raise Failure("rollout status is only available for RollingUpdate strategy type")
    generation, observed = _generations(obj)
    if generation > observed:
        return RolloutStatus(_WAITING_SPEC.format("daemon set"), is_done=False)
    desired = status.get("desiredNumberScheduled") or 0
    updated, available = status.get("updatedNumberScheduled") or 0, status.get("numberAvailable") or 0
    head = f"Waiting for daemon set {name} rollout to finish: "
    if updated < desired:
        return RolloutStatus(
            f"{head}{updated} out of {desired} new pods have been updated...\n", is_done=False
        )
    if available < desired:
        return RolloutStatus(f"{head}{available} of {desired} updated pods are available...\n", is_done=False)
    return RolloutStatus(f"daemon set {name} successfully rolled out\n", is_done=True)


def _stateful_set(obj: Object) -> RolloutStatus:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        raise Failure("rollout status is only available for RollingUpdate strategy type")
    generation, observed = _generations(obj)
    if observed == 0 or generation > observed:
        return RolloutStatus("Waiting for statefulset spec update to be observed...\n", is_done=False)
    wanted = spec.get("replicas")
    ready, updated = status.get("readyReplicas") or 0, status.get("updatedReplicas") or 0
    if wanted is not None and ready < wanted:
        return RolloutStatus(f"Waiting for {wanted - ready} pods to be ready...\n", is_done=False)
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        partition = rolling.get("partition")
        if wanted is not None and partition is not None:
            if updated < wanted - partition:
                return RolloutStatus(
                    "Waiting for partitioned roll out to finish: "
                    f"{updated} out of {wanted - partition} new pods have been updated...\n",
                    is_done=False,
                )
        return RolloutStatus(
            f"partitioned roll out complete: {updated} new pods have been updated...\n", is_done=True
        )
    current, update = status.get("currentRevision") or "", status.get("updateRevision") or ""
    if update != current:
        return RolloutStatus(
            f"waiting for statefulset rolling update to complete {updated} pods at revision {update}...\n",
            is_done=False,
        )
    current_replicas = status.get("currentReplicas") or 0
    return RolloutStatus(
        f"statefulset rolling update complete {current_replicas} pods at revision {current}...\n",
        is_done=True,
    )
