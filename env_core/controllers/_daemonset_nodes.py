"""Which nodes a DaemonSet wants a pod on, and the pods it makes for them.

Source: k8s.io/kubernetes pkg/controller/daemon daemon_controller.go (NodeShouldRunDaemonPod), util/daemonset_util.go;
tests/golden/l2/flows (ids ds-).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from env_core.controllers._history import REVISION_LABEL
from env_core.controllers._nodetaints import NOT_READY, UNREACHABLE, UNSCHEDULABLE
from env_core.controllers._pods import pod_of
from env_core.objects import meta
from env_core.objects.node_matching import untolerated, wants_node
from env_core.objects.template_hash import fnv32a
from env_core.world import Object

GENERATION_LABEL = "pod-template-generation"
GENERATION_NOTE = "deprecated.daemonset.template.generation"
_NO_EXECUTE, _NO_SCHEDULE = "NoExecute", "NoSchedule"
_TOLERATED = (
    (NOT_READY, _NO_EXECUTE),
    (UNREACHABLE, _NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", _NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", _NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", _NO_SCHEDULE),
    (UNSCHEDULABLE, _NO_SCHEDULE),
)
_NETWORK = ("node.kubernetes.io/network-unavailable", _NO_SCHEDULE)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE_NAME = "metadata.name"


def tolerations_of(daemon_set: Object) -> list[Object]:
    """Return the tolerations of the set's pods: those of the template, and that of trouble with the node."""
    spec = daemon_set["spec"]["template"].get("spec") or {}
    found: list[Object] = list(spec.get("tolerations") or ())
    wanted_keys = (*_TOLERATED, _NETWORK) if spec.get("hostNetwork") else _TOLERATED
    for key, effect in wanted_keys:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        same = [
            index
            for index, each in enumerate(found)
            if all(
                (each.get(field) or default) == wanted.get(field, "")
                for field, default in (("key", ""), ("operator", "Equal"), ("effect", ""), ("value", ""))
            )
        ]
        if same:
            found[same[0]] = wanted
        else:
            found.append(wanted)
    return found


def runs_on(daemon_set: Object, node: Object, tolerations: Sequence[Object]) -> tuple[bool, bool]:
    """Say whether a node is to get a pod, and whether one that it has may stay."""
    spec = daemon_set["spec"]["template"].get("spec") or {}
    name = meta.name(node)
    if spec.get("nodeName") not in (None, "", name) or not wants_node(spec, name, meta.labels(node)):
        return False, False
    taints = [taint for taint in node["spec"].get("taints") or () if taint["effect"] != "PreferNoSchedule"]
    if untolerated(taints, tolerations) is None:
        return True, True
    driving = [taint for taint in taints if taint["effect"] == _NO_EXECUTE]
    return False, untolerated(driving, tolerations) is None


def new_pod(daemon_set: Object, node: str, revision: str, tolerations: Sequence[Object]) -> Object:
    """Return the pod to create for a node: it is bound there by the scheduler, by its affinity."""
    pod = pod_of(daemon_set["spec"]["template"], daemon_set, generateName=f"{meta.name(daemon_set)}-")
    labels: dict[str, str | None] = {REVISION_LABEL: revision}
    generation = meta.annotation(daemon_set, GENERATION_NOTE)
    if is_number(generation):
        labels[GENERATION_LABEL] = generation
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    node_affinity = affinity.get("nodeAffinity") or {}
    term = {"matchFields": [{"key": _NODE_NAME, "operator": "In", "values": [node]}]}
    bound = {**node_affinity, _REQUIRED: {"nodeSelectorTerms": [term]}}
    changed = {**spec, "affinity": {**affinity, "nodeAffinity": bound}, "tolerations": list(tolerations)}
    return meta.with_labels({**pod, "spec": changed}, labels)


def is_number(text: str) -> bool:
    """Say whether an annotation holds a template generation."""
    return text.isascii() and text.isdigit()


def in_turn(daemon_set: Object, names: Iterable[str]) -> list[str]:
    """Return nodes in the order in which they get their pods, and new ones.

    Upstream's order is that of a Go map; ours is as arbitrary, but the same each time.
    """
    uid = meta.uid(daemon_set)
    return sorted(names, key=lambda name: fnv32a(f"{uid}/{name}".encode()))


def target_node(pod: Object) -> str:
    """Return the node that a pod is on or made for, "" if it is for none."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == _NODE_NAME and field["operator"] == "In":
                values: list[str] = field.get("values") or []
                return values[0] if len(values) == 1 else ""
    return ""


def is_updated(daemon_set: Object, pod: Object, revision: str) -> bool:
    """Say whether a pod has the set's template."""
    if meta.label(pod, REVISION_LABEL) == revision:
        return True
    generation = meta.annotation(daemon_set, GENERATION_NOTE)
    return is_number(generation) and meta.label(pod, GENERATION_LABEL) == generation


def oldest_first(pods: Sequence[Object]) -> list[Object]:
    """Return the pods of a node: those that are bound first, then by age."""
    return sorted(
        pods, key=lambda pod: (not pod["spec"].get("nodeName"), meta.creation_ms(pod), meta.name(pod))
    )
