"""`kubectl describe` of deployments, replica sets, stateful sets, daemon sets, replication controllers."""

from __future__ import annotations

from env_core.apiserver.kind import Reader
from env_core.kinds._columns_workload import equality_text
from env_core.kinds._describe_template import (
    is_controlled_by,
    pods_status,
    same_template,
    write_conditions,
    write_pod_template,
)
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    controller_text,
    labels_and_annotations,
    name_lines,
    rfc1123z,
    write_events,
)
from env_core.kinds._describe_volumes import write_claim_templates
from env_core.objects import selectors
from env_core.world import Object


def describe_deployment(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe deployment` prints.

    Source: k8s.io/kubectl pkg/describe DeploymentDescriber; tests/golden/l0/describe.jsonl.gz.
    """
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    # The server is asked for the events before it is asked for the replica sets.
    events = reader.events(obj) if show_events else None
    selector = str(selectors.from_object(spec.get("selector")))
    name_lines(writer, obj)
    writer.line(0, f"CreationTimestamp:\t{rfc1123z(obj['metadata'].get('creationTimestamp'))}")
    labels_and_annotations(writer, obj)
    writer.line(0, f"Selector:\t{selector}")
    writer.line(
        0,
        f"Replicas:\t{spec.get('replicas', 1)} desired | {status.get('updatedReplicas', 0)} updated | "
        f"{status.get('replicas', 0)} total | {status.get('availableReplicas', 0)} available | "
        f"{status.get('unavailableReplicas', 0)} unavailable",
    )
    strategy = spec.get("strategy") or {}
    writer.line(0, f"StrategyType:\t{strategy.get('type', '')}")
    writer.line(0, f"MinReadySeconds:\t{spec.get('minReadySeconds', 0)}")
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        unavailable, surge = rolling.get("maxUnavailable", NONE), rolling.get("maxSurge", NONE)
        writer.line(0, f"RollingUpdateStrategy:\t{unavailable} max unavailable, {surge} max surge")
    write_pod_template(writer, spec["template"])
    write_conditions(writer, status.get("conditions"))
    old, new = _replica_sets(obj, reader, selector)
    if old or new:
        writer.line(0, f"OldReplicaSets:\t{_created(old)}")
        writer.line(0, f"NewReplicaSet:\t{_created(new)}")
    write_events(writer, events, reader.now_ms)
    return writer.text()


def _replica_sets(deployment: Object, reader: Reader, selector: str) -> tuple[list[Object], list[Object]]:
    """Return the old replica sets, oldest first, and the one with the deployment's template (or none)."""
    namespace = deployment["metadata"].get("namespace", "")
    found = reader.list("replicasets.apps", namespace, label_selector=selector)
    owned = [item for item in found if is_controlled_by(item, deployment)]
    owned.sort(key=lambda item: (item["metadata"].get("creationTimestamp") or "", item["metadata"]["name"]))
    template = deployment["spec"]["template"]
    new = next((item for item in owned if same_template(item["spec"]["template"], template)), None)
    return [item for item in owned if item is not new], [] if new is None else [new]


def _created(replica_sets: list[Object]) -> str:
    texts = [
        f"{item['metadata']['name']} ({(item.get('status') or {}).get('replicas', 0)}"
        f"/{item['spec'].get('replicas', 1)} replicas created)"
        for item in replica_sets
    ]
    return ", ".join(texts) or NONE


def describe_replicaset(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe replicaset` prints."""
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    selector = str(selectors.from_object(spec.get("selector")))
    name_lines(writer, obj)
    writer.line(0, f"Selector:\t{selectors.format_label_selector(spec.get('selector'))}")
    labels_and_annotations(writer, obj)
    controller = controller_text(obj)
    if controller:
        writer.line(0, f"Controlled By:\t{controller}")
    writer.line(0, f"Replicas:\t{status.get('replicas', 0)} current / {spec.get('replicas', 1)} desired")
    writer.line(0, f"Pods Status:\t{pods_status(reader, obj, selector)}")
    write_pod_template(writer, spec.get("template") or {})
    write_conditions(writer, status.get("conditions"))
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def describe_replicationcontroller(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe replicationcontroller` prints."""
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    name_lines(writer, obj)
    writer.line(0, f"Selector:\t{equality_text(spec.get('selector'))}")
    labels_and_annotations(writer, obj)
    writer.line(0, f"Replicas:\t{status.get('replicas', 0)} current / {spec.get('replicas', 1)} desired")
    writer.line(0, f"Pods Status:\t{pods_status(reader, obj, equality_text(spec['selector']))}")
    write_pod_template(writer, spec.get("template"))
    write_conditions(writer, status.get("conditions"))
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def describe_statefulset(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe statefulset` prints."""
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    selector = str(selectors.from_object(spec.get("selector")))
    name_lines(writer, obj)
    writer.line(0, f"CreationTimestamp:\t{rfc1123z(obj['metadata'].get('creationTimestamp'))}")
    writer.line(0, f"Selector:\t{selector}")
    labels_and_annotations(writer, obj)
    if spec.get("serviceName"):
        writer.line(0, f"Service Name:\t{spec['serviceName']}")
    if spec.get("podManagementPolicy"):
        writer.line(0, f"Pod Management Policy:\t{spec['podManagementPolicy']}")
    writer.line(0, f"Replicas:\t{spec.get('replicas', 1)} desired | {status.get('replicas', 0)} total")
    strategy = spec.get("updateStrategy") or {}
    writer.line(0, f"Update Strategy:\t{strategy.get('type', '')}")
    rolling = strategy.get("rollingUpdate") or {}
    if rolling.get("partition") is not None:
        writer.line(1, f"Partition:\t{rolling['partition']}")
        if rolling.get("maxUnavailable") is not None:
            writer.line(1, f"MaxUnavailable:\t{rolling['maxUnavailable']}")
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    if retention is not None:
        writer.line(0, "Persistent Volume Claim Retention Policy:")
        writer.line(1, f"WhenDeleted:\t{retention.get('whenDeleted', '')}")
        writer.line(1, f"WhenScaled:\t{retention.get('whenScaled', '')}")
    writer.line(0, f"Pods Status:\t{pods_status(reader, obj, selector)}")
    write_pod_template(writer, spec["template"])
    write_claim_templates(writer, spec.get("volumeClaimTemplates") or [])
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def describe_daemonset(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe daemonset` prints."""
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    selector = str(selectors.from_object(spec.get("selector")))
    node_selector = (spec["template"].get("spec") or {}).get("nodeSelector")
    name_lines(writer, obj)
    writer.line(0, f"Selector:\t{selector}")
    writer.line(0, f"Node-Selector:\t{equality_text(node_selector)}")
    labels_and_annotations(writer, obj)
    for label, key in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        writer.line(0, f"{label}: {status.get(key, 0)}")
    writer.line(0, f"Pods Status:\t{pods_status(reader, obj, selector)}")
    write_pod_template(writer, spec["template"])
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()
