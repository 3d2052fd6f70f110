"""What the describers of workloads share: pod templates, conditions, counts of pods."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_containers import write_containers
from env_core.kinds._describe_text import (
    LineWriter,
    annotations_lines,
    labels_lines,
    sorted_as_go,
    tolerations_lines,
)
from env_core.kinds._describe_volumes import write_volumes
from env_core.objects import selectors
from env_core.world import Object

_HASH_LABEL = "pod-template-hash"


def write_pod_template(writer: LineWriter, template: Object | None) -> None:
    """Append the part `Pod Template`.

    Source: k8s.io/kubectl pkg/describe DescribePodTemplate; tests/golden/l0/describe.jsonl.gz.
    """
    writer.line(0, "Pod Template:")
    if template is None:
        writer.write(1, "<unset>")
        return
    metadata = template.get("metadata") or {}
    spec = template.get("spec") or {}
    writer.lines(labels_lines("Labels", metadata.get("labels"), "  "))
    if metadata.get("annotations"):
        writer.lines(annotations_lines("Annotations", metadata["annotations"], "  "))
    if spec.get("serviceAccountName"):
        writer.line(1, f"Service Account:\t{spec['serviceAccountName']}")
    if spec.get("initContainers"):
        write_containers(writer, "Init Containers", spec["initContainers"], None, None, "  ")
    write_containers(writer, "Containers", spec.get("containers") or [], None, None, "  ")
    write_volumes(writer, spec.get("volumes"), "  ")
    write_spread_constraints(writer, spec.get("topologySpreadConstraints"), "  ")
    if spec.get("priorityClassName"):
        writer.line(1, f"Priority Class Name:\t{spec['priorityClassName']}")
    writer.lines(labels_lines("Node-Selectors", spec.get("nodeSelector"), "  "))
    writer.lines(tolerations_lines("Tolerations", spec.get("tolerations"), "  "))
    write_scheduling_group(writer, spec, "  ")


def write_spread_constraints(writer: LineWriter, constraints: list[Object] | None, indent: str = "") -> None:
    """Append `Topology Spread Constraints`, sorted by topology key; nothing without any."""
    prefix = f"{indent}Topology Spread Constraints:\t"
    for constraint in sorted_as_go(constraints or (), "topologyKey"):
        text = (
            f"{constraint.get('topologyKey', '')}:{constraint.get('whenUnsatisfiable', '')} "
            f"when max skew {constraint.get('maxSkew', 0)} is exceeded"
        )
        if constraint.get("labelSelector") is not None:
            text += f" for selector {selectors.format_label_selector(constraint['labelSelector'])}"
        writer.line(0, prefix + text)
        prefix = f"{indent}\t"


def write_scheduling_group(writer: LineWriter, spec: Object, indent: str = "") -> None:
    """Append the pod group that a pod is scheduled with; nothing without one."""
    group = spec.get("schedulingGroup")
    if group is not None:
        writer.line(0, f"{indent}SchedulingGroup:")
        writer.line(1, f"PodGroupName:\t{group.get('podGroupName', '')}")


def write_conditions(writer: LineWriter, conditions: list[Object] | None) -> None:
    """Append a workload's conditions: type, status, reason; nothing without any."""
    if not conditions:
        return
    writer.line(0, "Conditions:")
    writer.line(1, "Type\tStatus\tReason")
    writer.line(1, "----\t------\t------")
    for condition in conditions:
        writer.line(1, f"{condition['type']} \t{condition['status']}\t{condition.get('reason', '')}")


def pods_status(reader: Reader, obj: Object, selector: str) -> str:
    """Return the text behind `Pods Status`: how many pods that `obj` controls are in which phase."""
    metadata = obj["metadata"]
    counts = {"Running": 0, "Pending": 0, "Succeeded": 0, "Failed": 0}
    for pod in reader.list("pods", metadata.get("namespace", ""), label_selector=selector):
        phase = (pod.get("status") or {}).get("phase")
        if phase in counts and _controller_uid(pod) == metadata.get("uid", ""):
            counts[phase] += 1
    return (
        f"{counts['Running']} Running / {counts['Pending']} Waiting / "
        f"{counts['Succeeded']} Succeeded / {counts['Failed']} Failed"
    )


def _controller_uid(obj: Object) -> str | None:
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return str(owner["uid"])
    return None


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Say whether `owner` is the controller of `obj`."""
    uid: str = owner["metadata"].get("uid", "")
    return _controller_uid(obj) == uid


def same_template(first: Object, second: Object) -> bool:
    """Say whether two pod templates are equal but for the label `pod-template-hash`.

    An empty list, map or value counts as a missing one, as in Go's semantic comparison.
    """
    return _same(_without_hash(first), _without_hash(second))


def _without_hash(template: Object) -> Object:
    metadata = template.get("metadata") or {}
    labels = metadata.get("labels") or {}
    if _HASH_LABEL not in labels:
        return template
    kept = {key: value for key, value in labels.items() if key != _HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": kept}}


def _same(first: Any, second: Any) -> bool:
    if first == second:
        return True
    if isinstance(first, dict) or isinstance(second, dict):
        left, right = first or {}, second or {}
        return (
            isinstance(left, dict)
            and isinstance(right, dict)
            and all(_same(left.get(key), right.get(key)) for key in left.keys() | right.keys())
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            _same(left, right) for left, right in zip(first, second, strict=True)
        )
    return not first and not second
