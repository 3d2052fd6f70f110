"""Whatever happens during rollouts, controllers keep within maxUnavailable and maxSurge with what they write.

Bounds hold for what a controller sees when it writes: a pod may always fail by itself, before its owner knows.
"""

import math
from datetime import timedelta

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from env_core.controllers._daemonset_nodes import target_node
from tests.controllers.script_status import FINISHED
from tests.controllers.town import NAMESPACE, Town, is_ready

DEPLOYMENTS, SETS, DAEMONS = "deployments.apps", "replicasets.apps", "daemonsets.apps"
GOOD, BAD = ("nginx:1.27", "nginx:1.28"), "nginx:bad"
SETTLED_MS = 1_200_000

amount = st.one_of(st.integers(0, 4), st.sampled_from(["0%", "10%", "25%", "50%", "100%"]))
bounds = st.tuples(amount, amount).filter(lambda pair: any(str(each) not in ("0", "0%") for each in pair))
image = st.tuples(st.just("image"), st.sampled_from([*GOOD, BAD]))
accidents = (
    st.tuples(st.just("ready"), st.integers(0, 20), st.booleans()),
    st.tuples(st.just("fail pod"), st.integers(0, 20)),
    st.tuples(st.just("delete pod"), st.integers(0, 20)),
)
waits_ms = st.sampled_from([1, 20, 150, 700, 4_000, 30_000])
scale = st.tuples(st.just("scale"), st.integers(0, 8))
pause = st.tuples(st.just("pause"), st.booleans())
rollouts = st.lists(st.tuples(st.one_of(image, scale, pause, *accidents), waits_ms), min_size=1, max_size=14)
turns = st.lists(st.tuples(st.one_of(image, *accidents), waits_ms), min_size=1, max_size=12)
checked = settings(
    max_examples=50, deadline=timedelta(seconds=20), suppress_health_check=[HealthCheck.too_slow]
)


def pods_of(value, replicas, round_up):
    """Return an amount of pods that may be given in per cent, rounded."""
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%")) * replicas / 100
    return math.ceil(share) if round_up else math.floor(share)


def age_of(pod):
    """Return by what pods are sorted, the oldest first."""
    return pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]


class Guard:
    """Watches what controllers write to one workload; what users do to pods is theirs."""

    def __init__(self, town, resource):
        self.town = town
        self.resource = resource
        self.is_user = False
        self.broken = []
        self.made = {}
        town.world.listeners.append(self.on_write)

    @property
    def owner(self):
        return self.town.get(self.resource, "web")

    def on_write(self, event):
        if self.is_user or self.owner is None or event.object["metadata"].get("namespace") != NAMESPACE:
            return
        if self.resource == DEPLOYMENTS and event.ref.resource == SETS:
            self.on_replicaset(event)
        elif self.resource == DAEMONS and event.ref.resource == "pods":
            self.on_daemon(event)

    def on_replicaset(self, event):
        spec = self.owner["spec"]
        desired = spec["replicas"]
        rolling = spec["strategy"]["rollingUpdate"]
        surge = pods_of(rolling["maxSurge"], desired, round_up=True)
        unavailable = pods_of(rolling["maxUnavailable"], desired, round_up=False)
        if not surge and not unavailable:
            unavailable = 1
        sets = self.town.world.store.list(SETS, NAMESPACE)
        before = event.old["spec"]["replicas"] if event.old is not None else 0
        after = event.object["spec"]["replicas"] if event.type != "DELETED" else 0
        total = sum(each["spec"]["replicas"] for each in sets)
        if after > before and total > max(desired + surge, total - after + before):
            self.broken.append(f"{total} replicas of {desired} + {surge}")
        if after < before:
            known = sum(each["status"].get("availableReplicas", 0) for each in sets)
            lost = max(0, event.object["status"].get("availableReplicas", 0) - after)
            if lost and known - lost < desired - unavailable and not self.is_scaling(event.old, desired):
                self.broken.append(f"{known} - {lost} available of {desired} - {unavailable}")

    def is_scaling(self, old, desired):
        """Whether a set still has its size from before the deployment was scaled.

        Then each set gives its share, well pods and broken ones alike. Source: pkg/controller/deployment/sync.go (scale),
        util/deployment_util.go (GetReplicaSetProportion).
        """
        annotations = old["metadata"].get("annotations") or {}
        return annotations.get("deployment.kubernetes.io/desired-replicas") != str(desired)

    def on_daemon(self, event):
        spec = self.owner["spec"]["updateStrategy"]["rollingUpdate"]
        nodes = len(self.town.nodes)
        surge = pods_of(spec["maxSurge"], nodes, round_up=True)
        unavailable = pods_of(spec["maxUnavailable"], nodes, round_up=True)
        pods = [pod for pod in self.town.pods() if "deletionTimestamp" not in pod["metadata"]]
        if event.type == "ADDED":
            self.on_surge(event.object, pods, surge)
            self.made.setdefault(target_node(event.object), []).append(age_of(event.object))
        is_going = event.type == "MODIFIED" and "deletionTimestamp" in event.object["metadata"]
        if is_going and "deletionTimestamp" not in event.old["metadata"] and is_ready(event.old):
            served = {pod["spec"].get("nodeName") for pod in pods if is_ready(pod)}
            is_oldest = age_of(event.old) == self.oldest(event.old)
            if (
                is_oldest
                and event.old["spec"]["nodeName"] not in served
                and len(served) < nodes - unavailable
            ):
                self.broken.append(f"{len(served)} nodes served of {nodes} - {unavailable}")

    def oldest(self, pod):
        """Return the age that counts as the oldest among pods of a node that were made in the same second as one.

        Times have seconds, and names decide between equal ones: of two old pods the well one may be taken for the younger, and
        goes. Source: pkg/controller/daemon/daemon_controller.go (podsShouldBeOnNode, podByCreationTimestampAndPhase).
        """
        own = age_of(pod)
        return min(age for age in self.made[pod["spec"]["nodeName"]] if age[0] == own[0])

    def on_surge(self, added, pods, surge):
        """Check that no more nodes than may have a second pod before it is ready; broken pods are replaced at once."""
        by_node = {}
        for pod in pods:
            if (pod.get("status") or {}).get("phase") not in FINISHED:
                by_node.setdefault(target_node(pod), []).append(pod)
        others = [pod for pod in by_node[target_node(added)] if pod is not added]
        doubled = sum(any(map(is_ready, own)) and not all(map(is_ready, own)) for own in by_node.values())
        if any(map(is_ready, others)) and doubled > surge:
            self.broken.append(f"{doubled} nodes with two pods, of {surge}")


def act(town, guard, action):
    api = town.world.api
    pods = [pod for pod in town.pods() if (pod.get("status") or {}).get("containerStatuses")]
    match action:
        case ("image", wanted):
            container = {"name": "c", "image": wanted}
            patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
            api.patch(guard.resource, NAMESPACE, "web", patch)
        case ("scale", count):
            api.patch(guard.resource, NAMESPACE, "web", {"spec": {"replicas": count}})
        case ("pause", is_paused):
            api.patch(guard.resource, NAMESPACE, "web", {"spec": {"paused": is_paused}})
        case ("ready", number, is_up) if pods:
            name = pods[number % len(pods)]["metadata"]["name"]
            town.kubelet.act(NAMESPACE, {"action": "ready", "pod": name, "ready": is_up})
        case ("fail pod", number) if pods:
            name = pods[number % len(pods)]["metadata"]["name"]
            town.kubelet.act(NAMESPACE, {"action": "evict", "pod": name})
        case ("delete pod", number) if pods:
            guard.is_user = True
            api.delete("pods", NAMESPACE, pods[number % len(pods)]["metadata"]["name"])
            guard.is_user = False


def recover(town, guard):
    act(town, guard, ("image", GOOD[0]))
    if guard.resource == DEPLOYMENTS:
        act(town, guard, ("pause", False))
    for number in range(len(town.pods())):
        act(town, guard, ("ready", number, True))
    town.world.advance(SETTLED_MS)


@checked
@example((0, "50%"), 4, 0, [(("image", BAD), 150), (("scale", 3), 1)])
@given(bounds, st.integers(1, 6), st.sampled_from([0, 3]), rollouts)
def test_deployments_keep_within_their_bounds(pair, replicas, ready_s, script):
    town = Town()
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": pair[0], "maxUnavailable": pair[1]}}
    guard = Guard(town, DEPLOYMENTS)
    town.deploy("web", replicas, strategy=strategy, minReadySeconds=ready_s, progressDeadlineSeconds=600)
    town.world.advance(8_000)
    for action, wait_ms in script:
        act(town, guard, action)
        town.world.advance(wait_ms)
    recover(town, guard)
    assert guard.broken == []
    assert guard.owner["status"].get("availableReplicas", 0) == guard.owner["spec"]["replicas"]


@checked
@example((2, 0), [(("fail pod", 8), 150), (("image", BAD), 150), (("image", GOOD[1]), 150)])
@given(bounds, turns)
def test_daemon_sets_keep_within_their_bounds(pair, script):
    surge, unavailable = (pair[0], 0) if str(pair[0]) not in ("0", "0%") else (0, pair[1])
    town = Town()
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    guard = Guard(town, DAEMONS)
    town.workload(DAEMONS, "web", updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    town.world.advance(8_000)
    for action, wait_ms in script:
        act(town, guard, action)
        town.world.advance(wait_ms)
    recover(town, guard)
    assert guard.broken == []
    assert guard.owner["status"].get("numberAvailable", 0) == len(town.nodes)
