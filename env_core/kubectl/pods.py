"""From an object to its pods, from a pod to its container: what `logs`, `exec` and `attach` share.

Source: k8s.io/kubectl pkg/polymorphichelpers, pkg/util/podutils, pkg/cmd/util/podcmd;
tests/golden/l0/pod_order.
"""

from __future__ import annotations

from collections.abc import Callable

from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Screen
from env_core.objects import selectors
from env_core.objects.gosort import go_sorted
from env_core.world import Object

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_SELECTED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
_PHASE_RANK = {"Running": 0, "Unknown": 1, "Pending": 2}
_WATCHED = "pkg/scheme/scheme.go:28"


def refuse_custom(info: Info) -> None:
    """Refuse objects that kubectl has no Go type for.

    Raises:
        Failure: in the words of the client's scheme.
    """
    group = info.kind.group
    if "." in group and not group.endswith(".k8s.io"):
        raise Failure(
            f'no kind "{info.kind.kind}" is registered for version "{info.kind.api_version}" in scheme "{_WATCHED}"'
        )


def go_type(info: Info) -> str:
    """Return the Go type of an object as `%T` prints it."""
    return f"*{info.kind.version}.{info.kind.kind}"


def pod_selector(info: Info, cannot: str) -> str:
    """Return the selector of the pods that belong to an object.

    Raises:
        Failure: `cannot get the logs from …`, for objects without pods.
    """
    spec = info.found().get("spec") or {}
    kind = info.kind.kind
    if kind in _SELECTED:
        return str(selectors.from_object(spec.get("selector")))
    if kind in ("Service", "ReplicationController"):
        selector = spec.get("selector") or {}
        if not selector and kind == "Service":
            raise Failure(
                f"{cannot} {go_type(info)}: invalid service '{info.name}': Service is defined without a selector"
            )
        return str(selectors.from_labels(selector))
    raise Failure(f"{cannot} {go_type(info)}: selector for {go_type(info)} not implemented")


def first_pod(
    ctx: Context,
    namespace: str,
    selector: str,
    timeout_ms: int,
    order: Callable[[list[Object]], list[Object]],
) -> tuple[Object, int]:
    """Return the first pod in the given order, and how many there are; wait for one if there is none.

    Raises:
        Failure: when none comes in time.
    """
    found: list[Object] = []

    def has_pods() -> bool:
        found[:] = ctx.api.list("pods", namespace, label_selector=selector)
        return bool(found)

    if not has_pods() and not ctx.clock.advance_until(has_pods, timeout_ms):
        raise Failure("timed out waiting for the condition")
    return order(list(found))[0], len(found)


def by_logging(pods: list[Object]) -> list[Object]:
    """Return pods in the order in which `logs` prefers them."""
    return go_sorted(pods, _logs_before)


def by_activity(pods: list[Object]) -> list[Object]:
    """Return pods in the order in which `exec` and `attach` prefer them."""
    # sort.Reverse(ActivePods): the most active first.
    return go_sorted(pods, lambda left, right: is_less_active(right, left))


def _logs_before(left: Object, right: Object) -> bool:
    node, other_node = _node(left), _node(right)
    if node != other_node and (not node or not other_node):
        return bool(node)
    phase, other_phase = _phase(left), _phase(right)
    if phase != other_phase:
        return phase < other_phase
    ready, other_ready = _ready_time(left), _ready_time(right)
    if (ready is None) != (other_ready is None):
        return ready is not None
    if ready is not None and other_ready is not None and ready != other_ready:
        return _after_or_zero(other_ready, ready)
    restarts, other_restarts = _restarts(left), _restarts(right)
    if restarts != other_restarts:
        return restarts > other_restarts
    created, other_created = _created(left), _created(right)
    return created != other_created and _after_or_zero(other_created, created)


def is_less_active(left: Object, right: Object) -> bool:
    """Whether a pod does less than another: no node, not running, not ready, ready for less long, more restarts."""
    node, other_node = _node(left), _node(right)
    if node != other_node and (not node or not other_node):
        return not node
    phase, other_phase = _phase(left), _phase(right)
    if phase != other_phase:
        return phase > other_phase
    ready, other_ready = _ready_time(left), _ready_time(right)
    if (ready is None) != (other_ready is None):
        return ready is None
    deleted, other_deleted = _deleted(left), _deleted(right)
    if bool(deleted) != bool(other_deleted):
        return bool(deleted)
    if deleted != other_deleted:
        return deleted < other_deleted
    if ready is not None and other_ready is not None and ready != other_ready:
        return _after_or_zero(ready, other_ready)
    restarts, other_restarts = _restarts(left), _restarts(right)
    if restarts != other_restarts:
        return restarts > other_restarts
    created, other_created = _created(left), _created(right)
    return created != other_created and _after_or_zero(created, other_created)


def _after_or_zero(left: str, right: str) -> bool:
    if not left or not right:
        return not left
    return left > right


def _node(pod: Object) -> str:
    name: str = (pod.get("spec") or {}).get("nodeName") or ""
    return name


def _phase(pod: Object) -> int:
    return _PHASE_RANK.get((pod.get("status") or {}).get("phase", ""), 0)


def _ready_time(pod: Object) -> str | None:
    """Return since when the pod is ready, None when it is not."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready" and condition.get("status") == "True":
            return condition.get("lastTransitionTime") or ""
    return None


def _restarts(pod: Object) -> tuple[int, int]:
    """Return how often the containers have restarted at most, and the sidecars."""
    status = pod.get("status") or {}
    sidecars = {
        one["name"]
        for one in (pod.get("spec") or {}).get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    }
    own = [one.get("restartCount", 0) for one in status.get("containerStatuses") or ()]
    beside = [
        one.get("restartCount", 0)
        for one in status.get("initContainerStatuses") or ()
        if one.get("name") in sidecars
    ]
    return max(own, default=0), max(beside, default=0)


def _deleted(pod: Object) -> str:
    deleted: str = pod["metadata"].get("deletionTimestamp") or ""
    return deleted


def _created(pod: Object) -> str:
    created: str = pod["metadata"].get("creationTimestamp") or ""
    return created


def containers(pod: Object, part: str) -> list[Object]:
    """Return one of the pod's lists of containers; empty when there is none."""
    found: list[Object] = pod["spec"].get(part) or []
    return found


def all_names(pod: Object) -> str:
    """Return "app, log, setup (init), dbg (ephem)": every container of the pod."""
    names = [container["name"] for container in containers(pod, "containers")]
    names += [f"{container['name']} (init)" for container in containers(pod, "initContainers")]
    names += [f"{container['name']} (ephem)" for container in containers(pod, "ephemeralContainers")]
    return ", ".join(names)


def _names(pod: Object) -> list[str]:
    return [
        container["name"]
        for part in ("containers", "initContainers", "ephemeralContainers")
        for container in containers(pod, part)
    ]


def chosen_container(pod: Object, name: str, screen: Screen | None) -> str:
    """Return the container that `-c` means; without it the annotated or the first one, telling which.

    Raises:
        Failure: when the pod has no such container.
    """
    if name:
        if name not in _names(pod):
            raise Failure(
                f"container {name} is not valid for pod {pod['metadata']['name']} out of: {all_names(pod)}"
            )
        return name
    annotated = (pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER, "")
    if annotated:
        if annotated in _names(pod):
            return str(annotated)
        if screen is not None:
            screen.err(
                f"Default container name {annotated!r} not found in pod {pod['metadata']['name']}\n".replace(
                    "'", '"'
                )
            )
    first: str = containers(pod, "containers")[0]["name"]
    if screen is not None and len(_names(pod)) > 1:
        screen.err(f'Defaulted container "{first}" out of: {all_names(pod)}\n')
    return first
