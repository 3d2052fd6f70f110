"""What kube-state-metrics says of workloads and of what scales and guards them.

Source: https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics/workload, …/policy
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from env_core.objects.int_or_percent import scaled_value
from env_core.observability.series._pods import condition_rows, owner_labels, seconds
from env_core.observability.series._sampling import Row
from env_core.world import Object


def named(obj: Object, label: str) -> dict[str, str]:
    """Return the labels that every row of an object has."""
    metadata = obj["metadata"]
    own = {label: metadata["name"]}
    return {"namespace": metadata["namespace"], **own} if "namespace" in metadata else own


def _common(obj: Object, prefix: str, own: dict[str, str]) -> Iterator[Row]:
    metadata = obj["metadata"]
    created = seconds(metadata.get("creationTimestamp"))
    if created is not None:
        yield Row(f"{prefix}_created", own, created)
    if "generation" in metadata:
        yield Row(f"{prefix}_metadata_generation", own, metadata["generation"])


def _numbers(obj: Object, prefix: str, own: dict[str, str], fields: Mapping[str, str]) -> Iterator[Row]:
    status = obj.get("status") or {}
    for name, field in fields.items():
        yield Row(f"{prefix}_{name}", own, status.get(field) or 0)


def _conditions(obj: Object, prefix: str, own: dict[str, str]) -> Iterator[Row]:
    for each in (obj.get("status") or {}).get("conditions") or ():
        labels = {**own, "condition": each["type"]}
        yield from condition_rows(f"{prefix}_status_condition", labels, each["status"], "status")


_DEPLOYMENT: Final = {
    "status_replicas": "replicas",
    "status_replicas_ready": "readyReplicas",
    "status_replicas_available": "availableReplicas",
    "status_replicas_unavailable": "unavailableReplicas",
    "status_replicas_updated": "updatedReplicas",
    "status_observed_generation": "observedGeneration",
}


def deployment_rows(obj: Object) -> Iterator[Row]:
    """Yield a Deployment's rows."""
    own, prefix, spec = named(obj, "deployment"), "kube_deployment", obj["spec"]
    replicas = spec.get("replicas", 1)
    yield from _common(obj, prefix, own)
    yield from _numbers(obj, prefix, own, _DEPLOYMENT)
    yield from _conditions(obj, prefix, own)
    yield Row(f"{prefix}_spec_replicas", own, replicas)
    yield Row(f"{prefix}_spec_paused", own, float(bool(spec.get("paused"))))
    rolling = (spec.get("strategy") or {}).get("rollingUpdate")
    if rolling:
        for name, field, is_up in (
            ("max_surge", "maxSurge", True),
            ("max_unavailable", "maxUnavailable", False),
        ):
            value = scaled_value(rolling.get(field, "25%"), replicas, round_up=is_up)
            yield Row(f"{prefix}_spec_strategy_rollingupdate_{name}", own, value)


_REPLICASET: Final = {
    "status_replicas": "replicas",
    "status_fully_labeled_replicas": "fullyLabeledReplicas",
    "status_ready_replicas": "readyReplicas",
    "status_observed_generation": "observedGeneration",
}


def replicaset_rows(obj: Object) -> Iterator[Row]:
    """Yield a ReplicaSet's rows."""
    own, prefix = named(obj, "replicaset"), "kube_replicaset"
    yield from _common(obj, prefix, own)
    yield from _numbers(obj, prefix, own, _REPLICASET)
    yield Row(f"{prefix}_spec_replicas", own, obj["spec"].get("replicas", 1))
    for owner in owner_labels(obj["metadata"]):
        yield Row(f"{prefix}_owner", {**own, **owner}, 1)


_STATEFULSET: Final = {
    "status_replicas": "replicas",
    "status_replicas_ready": "readyReplicas",
    "status_replicas_available": "availableReplicas",
    "status_replicas_current": "currentReplicas",
    "status_replicas_updated": "updatedReplicas",
    "status_observed_generation": "observedGeneration",
}


def statefulset_rows(obj: Object) -> Iterator[Row]:
    """Yield a StatefulSet's rows."""
    own, prefix, status = named(obj, "statefulset"), "kube_statefulset", obj.get("status") or {}
    yield from _common(obj, prefix, own)
    yield from _numbers(obj, prefix, own, _STATEFULSET)
    yield Row(f"{prefix}_replicas", own, obj["spec"].get("replicas", 1))
    for name, field in (("current", "currentRevision"), ("update", "updateRevision")):
        if status.get(field):
            yield Row(f"{prefix}_status_{name}_revision", {**own, "revision": status[field]}, 1)


_DAEMONSET: Final = {
    "status_current_number_scheduled": "currentNumberScheduled",
    "status_desired_number_scheduled": "desiredNumberScheduled",
    "status_number_available": "numberAvailable",
    "status_number_misscheduled": "numberMisscheduled",
    "status_number_ready": "numberReady",
    "status_number_unavailable": "numberUnavailable",
    "status_observed_generation": "observedGeneration",
    "status_updated_number_scheduled": "updatedNumberScheduled",
}


def daemonset_rows(obj: Object) -> Iterator[Row]:
    """Yield a DaemonSet's rows."""
    own, prefix = named(obj, "daemonset"), "kube_daemonset"
    yield from _common(obj, prefix, own)
    yield from _numbers(obj, prefix, own, _DAEMONSET)


def job_rows(obj: Object) -> Iterator[Row]:
    """Yield a Job's rows."""
    metadata, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
    own, prefix = {"namespace": metadata["namespace"], "job_name": metadata["name"]}, "kube_job"
    yield Row(f"{prefix}_info", own, 1)
    created = seconds(metadata.get("creationTimestamp"))
    if created is not None:
        yield Row(f"{prefix}_created", own, created)
    for owner in owner_labels(metadata):
        yield Row(f"{prefix}_owner", {**own, **owner}, 1)
    for name, value in (
        ("spec_parallelism", spec.get("parallelism")),
        ("spec_completions", spec.get("completions")),
        ("spec_active_deadline_seconds", spec.get("activeDeadlineSeconds")),
        ("status_active", status.get("active", 0)),
        ("status_succeeded", status.get("succeeded", 0)),
        ("status_start_time", seconds(status.get("startTime"))),
        ("status_completion_time", seconds(status.get("completionTime"))),
    ):
        if value is not None:
            yield Row(f"{prefix}_{name}", own, value)
    failed = ""
    for each in status.get("conditions") or ():
        is_failure = each["type"] == "Failed"
        if each["type"] in ("Complete", "Failed") and each["status"] == "True":
            failed = each.get("reason", "") if is_failure else failed
            name = f"{prefix}_failed" if is_failure else f"{prefix}_complete"
            yield from condition_rows(name, own, each["status"], "condition")
    yield Row(f"{prefix}_status_failed", {**own, "reason": failed}, status.get("failed", 0))


def cronjob_rows(obj: Object) -> Iterator[Row]:
    """Yield a CronJob's rows."""
    own, prefix, spec, status = named(obj, "cronjob"), "kube_cronjob", obj["spec"], obj.get("status") or {}
    info = {"schedule": spec["schedule"], "concurrency_policy": spec.get("concurrencyPolicy", "Allow")}
    yield Row(f"{prefix}_info", {**own, **info, "timezone": spec.get("timeZone", "local")}, 1)
    yield from _common(obj, prefix, own)
    yield Row(f"{prefix}_spec_suspend", own, float(bool(spec.get("suspend"))))
    yield Row(f"{prefix}_status_active", own, len(status.get("active") or ()))
    for name, field in (("schedule", "lastScheduleTime"), ("successful", "lastSuccessfulTime")):
        at = seconds(status.get(field))
        if at is not None:
            yield Row(f"{prefix}_status_last_{name}_time", own, at)


def autoscaler_rows(obj: Object) -> Iterator[Row]:
    """Yield a HorizontalPodAutoscaler's rows."""
    own, prefix = named(obj, "horizontalpodautoscaler"), "kube_horizontalpodautoscaler"
    spec, status, target = obj["spec"], obj.get("status") or {}, obj["spec"]["scaleTargetRef"]
    info = {
        "scaletargetref_api_version": target.get("apiVersion", ""),
        "scaletargetref_kind": target["kind"],
        "scaletargetref_name": target["name"],
    }
    yield Row(f"{prefix}_info", {**own, **info}, 1)
    yield from _common(obj, prefix, own)
    yield Row(f"{prefix}_spec_max_replicas", own, spec["maxReplicas"])
    yield Row(f"{prefix}_spec_min_replicas", own, spec.get("minReplicas", 1))
    yield Row(f"{prefix}_status_current_replicas", own, status.get("currentReplicas") or 0)
    yield Row(f"{prefix}_status_desired_replicas", own, status.get("desiredReplicas") or 0)
    yield from _conditions(obj, prefix, own)


_BUDGET: Final = {
    "status_current_healthy": "currentHealthy",
    "status_desired_healthy": "desiredHealthy",
    "status_pod_disruptions_allowed": "disruptionsAllowed",
    "status_expected_pods": "expectedPods",
    "status_observed_generation": "observedGeneration",
}


def budget_rows(obj: Object) -> Iterator[Row]:
    """Yield a PodDisruptionBudget's rows."""
    own, prefix = named(obj, "poddisruptionbudget"), "kube_poddisruptionbudget"
    created = seconds(obj["metadata"].get("creationTimestamp"))
    if created is not None:
        yield Row(f"{prefix}_created", own, created)
    yield from _numbers(obj, prefix, own, _BUDGET)
