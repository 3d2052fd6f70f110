"""`kubectl describe pod`."""

from __future__ import annotations

from functools import partial

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_containers import write_containers, write_resources
from env_core.kinds._describe_template import write_scheduling_group, write_spread_constraints
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    controller_text,
    labels_and_annotations,
    labels_lines,
    name_lines,
    rfc1123z,
    tolerations_lines,
    translate_age,
    write_events,
)
from env_core.kinds._describe_volumes import write_volumes
from env_core.kinds._pod_strategy import qos_class
from env_core.objects import problems
from env_core.world import Object

_MIRROR = "kubernetes.io/config.mirror"


def describe(pod: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe pod` prints.

    Source: k8s.io/kubectl pkg/describe PodDescriber; tests/golden/l0/describe.jsonl.gz.
    """
    writer = LineWriter()
    spec = pod.get("spec") or {}
    status = pod.get("status") or {}
    name_lines(writer, pod)
    _write_identity(writer, spec, status)
    labels_and_annotations(writer, pod)
    _write_phase(writer, pod, spec, status, reader.now_ms)
    _write_addresses(writer, status)
    controller = controller_text(pod)
    if controller:
        writer.line(0, f"Controlled By:\t{controller}")
    if status.get("nominatedNodeName"):
        writer.line(0, f"NominatedNodeName:\t{status['nominatedNodeName']}")
    if spec.get("resources") is not None:
        writer.line(0, "Resources:")
        write_resources(writer, spec["resources"], 1)
    _write_all_containers(writer, pod, spec, status)
    _write_conditions(writer, spec, status)
    write_volumes(writer, spec.get("volumes"))
    writer.line(0, f"QoS Class:\t{status.get('qosClass') or qos_class(pod)}")
    writer.lines(labels_lines("Node-Selectors", spec.get("nodeSelector")))
    writer.lines(tolerations_lines("Tolerations", spec.get("tolerations")))
    write_spread_constraints(writer, spec.get("topologySpreadConstraints"))
    write_scheduling_group(writer, spec)
    if show_events:
        write_events(writer, reader.events(_as_events_know_it(pod)), reader.now_ms)
    return writer.text()


def _as_events_know_it(pod: Object) -> Object:
    """Return the pod with the uid that its events carry: a mirror pod's are about the static pod."""
    metadata = pod["metadata"]
    uid = (metadata.get("annotations") or {}).get(_MIRROR)
    return pod if uid is None else {**pod, "metadata": {**metadata, "uid": uid}}


def _write_identity(writer: LineWriter, spec: Object, status: Object) -> None:
    if spec.get("priority") is not None:
        writer.line(0, f"Priority:\t{spec['priority']}")
    for label, key in (
        ("Priority Class Name", "priorityClassName"),
        ("Runtime Class Name", "runtimeClassName"),
        ("Service Account", "serviceAccountName"),
    ):
        if spec.get(key):
            writer.line(0, f"{label}:\t{spec[key]}")
    node = spec.get("nodeName")
    writer.line(0, f"Node:\t{node}/{status.get('hostIP', '')}" if node else f"Node:\t{NONE}")
    if status.get("startTime"):
        writer.line(0, f"Start Time:\t{rfc1123z(status['startTime'])}")


def _write_phase(writer: LineWriter, pod: Object, spec: Object, status: Object, now_ms: int) -> None:
    metadata = pod["metadata"]
    phase = status.get("phase", "")
    if metadata.get("deletionTimestamp") and phase not in ("Failed", "Succeeded"):
        writer.line(0, f"Status:\tTerminating (lasts {translate_age(metadata['deletionTimestamp'], now_ms)})")
        writer.line(0, f"Termination Grace Period:\t{metadata.get('deletionGracePeriodSeconds', 0)}s")
    else:
        writer.line(0, f"Status:\t{phase}")
    if status.get("reason"):
        writer.line(0, f"Reason:\t{status['reason']}")
    if status.get("message"):
        writer.line(0, f"Message:\t{status['message']}")
    seccomp = (spec.get("securityContext") or {}).get("seccompProfile")
    if seccomp:
        writer.line(0, f"SeccompProfile:\t{seccomp.get('type', '')}")
        if seccomp.get("type") == "Localhost":
            writer.line(0, f"LocalhostProfile:\t{seccomp.get('localhostProfile', '')}")


def _write_addresses(writer: LineWriter, status: Object) -> None:
    writer.line(0, f"IP:\t{status.get('podIP', '')}")
    addresses = status.get("podIPs")
    if not addresses:
        writer.line(0, f"IPs:\t{NONE}")
        return
    writer.line(0, "IPs:")
    for address in addresses:
        writer.line(1, f"IP:\t{address.get('ip', '')}")


def _write_all_containers(writer: LineWriter, pod: Object, spec: Object, status: Object) -> None:
    resolve = partial(field_value, pod)
    if spec.get("initContainers"):
        statuses = status.get("initContainerStatuses")
        write_containers(writer, "Init Containers", spec["initContainers"], statuses, resolve)
    write_containers(
        writer, "Containers", spec.get("containers") or [], status.get("containerStatuses"), resolve
    )
    if spec.get("ephemeralContainers"):
        statuses = status.get("ephemeralContainerStatuses")
        write_containers(writer, "Ephemeral Containers", spec["ephemeralContainers"], statuses, resolve)


def field_value(pod: Object, path: str) -> str:
    """Return a downward API field as kubectl resolves it on the client: metadata only, "" for the rest.

    Source: k8s.io/kubectl pkg/util/fieldpath ExtractFieldPathAsString.
    """
    metadata = pod["metadata"]
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        return str(metadata.get(path[9:], ""))
    if path in ("metadata.labels", "metadata.annotations"):
        values = metadata.get(path[9:]) or {}
        return "\n".join(f"{key}={problems.quoted(values[key])}" for key in sorted(values))
    base, _, subscript = path.partition("['")
    if base in ("metadata.labels", "metadata.annotations") and subscript.endswith("']"):
        return str((metadata.get(base[9:]) or {}).get(subscript[:-2], ""))
    return ""


def _write_conditions(writer: LineWriter, spec: Object, status: Object) -> None:
    conditions = status.get("conditions") or []
    gates = spec.get("readinessGates") or []
    if gates:
        found: dict[str, str] = {}
        for condition in conditions:
            found.setdefault(condition["type"], condition["status"])
        writer.line(0, "Readiness Gates:")
        writer.line(1, "Type\tStatus")
        for gate in gates:
            kind = gate["conditionType"]
            writer.line(1, f"{kind} \t{found.get(kind, NONE)} ")
    if conditions:
        writer.line(0, "Conditions:")
        writer.line(1, "Type\tStatus")
        for condition in conditions:
            writer.line(1, f"{condition['type']} \t{condition['status']} ")
