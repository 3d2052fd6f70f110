"""Defaults, preparation and validation of pods.

Source: k8s.io/kubernetes pkg/registry/core/pod and pkg/apis/core/validation; recorded in tests/golden/l0.
"""

from __future__ import annotations

from env_core.kinds import _pod_updates as updates
from env_core.kinds._field_rules import distinct
from env_core.kinds._pod_warnings import pod_warnings
from env_core.kinds._podspec_containers import image_blanks
from env_core.kinds._podspec_defaults import default_pod
from env_core.kinds._podspec_validation import pod_annotation_problems, pod_spec_problems
from env_core.objects import names, pod_resources
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import Problem, forbidden, invalid
from env_core.world import Object

_GRACE = 30
_GATED_TEXT = "Scheduling is blocked due to non-empty scheduling gates"


def default(obj: Object) -> Object:
    """Fill in a pod's defaults."""
    return default_pod(obj)


def prepare_create(obj: Object) -> Object:
    """Start pending, with the class of service that follows from the spec."""
    pod = _with_pod_requests(_with_grace(obj))
    status: Object = {"phase": "Pending", "qosClass": qos_class(pod)}
    spec = pod.get("spec") or {}
    if spec.get("schedulingGates"):
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": _GATED_TEXT,
            "lastProbeTime": None,
            "lastTransitionTime": pod["metadata"].get("creationTimestamp"),
        }
        status["conditions"] = [condition]
    return {**pod, "status": status}


def _with_grace(pod: Object) -> Object:
    spec = pod.get("spec") or {}
    seconds = spec.get("terminationGracePeriodSeconds")
    if seconds is None or seconds >= 0:
        return pod
    return {**pod, "spec": {**spec, "terminationGracePeriodSeconds": 1}}


def _with_pod_requests(pod: Object) -> Object:
    """Complete pod-level requests from what the containers request, else from the pod-level limits."""
    spec = pod.get("spec") or {}
    resources = spec.get("resources")
    if not resources or not (resources.get("limits") or resources.get("requests")):
        return pod
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    added = {**limits, **pod_resources.container_requests(spec)}
    added = {
        name: text
        for name, text in added.items()
        if name not in requests and (name in ("cpu", "memory") or name.startswith("hugepages-"))
    }
    if not added:
        return pod
    return {**pod, "spec": {**spec, "resources": {**resources, "requests": {**requests, **added}}}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def prepare_resize(new: Object, old: Object) -> Object:
    """Keep the old pod but for its containers' resources and resize policies."""
    return updates.with_resized(new, old)


def prepare_ephemeral_containers(new: Object, old: Object) -> Object:
    """Keep the old pod but for its ephemeral containers."""
    spec = {
        **(old.get("spec") or {}),
        "ephemeralContainers": (new.get("spec") or {}).get("ephemeralContainers") or [],
    }
    return {**old, "metadata": new.get("metadata") or {}, "spec": spec}


def prepare_status(new: Object, old: Object) -> Object:
    """Keep the class of service, and give `podIPs` where only `podIP` was written."""
    status, before = new.get("status") or {}, old.get("status") or {}
    changes: Object = {}
    if before.get("qosClass") and not status.get("qosClass"):
        changes["qosClass"] = before["qosClass"]
    address = status.get("podIP")
    if address and not status.get("podIPs"):
        changes["podIPs"] = [{"ip": address}]
    return {**new, "status": {**status, **changes}} if changes else new


def validate(obj: Object) -> list[Problem]:
    """Check a new pod."""
    found = _pod_problems(obj)
    spec = obj.get("spec") or {}
    if spec.get("ephemeralContainers"):
        found.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        text = "cannot be set until all schedulingGates have been cleared"
        found.append(forbidden("spec.nodeName", text))
    return found


def _pod_problems(pod: Object) -> list[Problem]:
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    annotations = metadata.get("annotations")
    found = pod_annotation_problems(annotations, spec, "metadata.annotations") if annotations else []
    found += pod_spec_problems(spec, "spec")
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or ()):
            for place, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                if source.get("serviceAccountToken") is not None:
                    field = f"spec.volumes[{index}].projected.sources[{place}].serviceAccountToken"
                    text = "must not be specified when serviceAccountName is not set"
                    found.append(forbidden(field, text))
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            found += image_blanks(container, f"spec.{key}[{index}]")
    return found


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed pod: little but images and tolerations may change."""
    return distinct(_pod_problems(new) + updates.update_problems(new, old))


def validate_ephemeral_containers(new: Object, old: Object) -> list[Problem]:
    """Check a write to the `ephemeralcontainers` subresource."""
    return _pod_problems(new) + updates.ephemeral_update_problems(new, old)


def validate_resize(new: Object, old: Object) -> list[Problem]:
    """Check a write to the `resize` subresource."""
    return _pod_problems(new) + updates.resize_problems(new, old)


def validate_status(new: Object, old: Object) -> list[Problem]:
    """Check a status write."""
    status, before = new.get("status") or {}, old.get("status") or {}
    found: list[Problem] = []
    nominated = status.get("nominatedNodeName")
    if nominated:
        found += invalid_each("status.nominatedNodeName", nominated, names.is_dns1123_subdomain(nominated))
    found += updates.state_problems(new, old)
    for index, address in enumerate(status.get("podIPs") or ()):
        text = address.get("ip") or ""
        if not names.ip_family(text):
            found.append(invalid(f"status.podIPs[{index}]", text, names.IP_TEXT))
    if before.get("qosClass") and status.get("qosClass") != before["qosClass"]:
        found.append(invalid("status.qosClass", status.get("qosClass") or "", "field is immutable"))
    return found


def warnings(obj: Object) -> list[str]:
    """Return what the server warns of when it stores the pod."""
    return pod_warnings(obj)


def grace(obj: Object) -> int:
    """Return the seconds that a deletion without any leaves the pod: none if no process can be left.

    Source: k8s.io/kubernetes pkg/registry/core/pod CheckGracefulDelete.
    """
    spec = obj.get("spec") or {}
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    seconds = spec.get("terminationGracePeriodSeconds")
    return _GRACE if seconds is None else int(seconds) if seconds >= 0 else 1


def qos_class(pod: Object) -> str:
    """Return the pod's quality-of-service class."""
    return pod_resources.qos_class(pod.get("spec") or {})
