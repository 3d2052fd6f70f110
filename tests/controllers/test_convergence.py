"""Whatever users write, and in whatever state things are left, the controllers settle and then write nothing more."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from env_core.apiserver.request import Options
from tests.controllers.town import NAMESPACE, Town, is_ready, template

WORKLOADS = ("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps")
SETTLED_MS = 900_000
NAMES = ("a", "b")
IMAGES = ("nginx:1.27", "nginx:1.28")

replicas = st.integers(0, 4)
wait_s = st.sampled_from([0, 0, 3])
image = st.sampled_from(IMAGES)
name = st.sampled_from(NAMES)
policy = st.sampled_from(["Background", "Foreground", "Orphan"])
strategies = {
    "deployments.apps": st.sampled_from([{"type": "Recreate"}, {"type": "RollingUpdate"}]),
    "statefulsets.apps": st.one_of(
        st.just({"type": "OnDelete"}),
        st.builds(
            lambda at: {"type": "RollingUpdate", "rollingUpdate": {"partition": at}}, st.integers(0, 3)
        ),
    ),
    "daemonsets.apps": st.sampled_from(
        [
            {"type": "OnDelete"},
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        ]
    ),
}


@st.composite
def made(draw):
    """A workload to create."""
    resource = draw(st.sampled_from(WORKLOADS))
    spec = {"minReadySeconds": draw(wait_s)}
    if resource != "daemonsets.apps":
        spec["replicas"] = draw(replicas)
    if resource in strategies:
        spec["strategy" if resource == "deployments.apps" else "updateStrategy"] = draw(strategies[resource])
    if resource == "statefulsets.apps":
        spec["podManagementPolicy"] = draw(st.sampled_from(["OrderedReady", "Parallel"]))
    return ("make", resource, draw(name), spec)


jobs = st.fixed_dictionaries(
    {},
    optional={
        "completions": st.integers(0, 4),
        "parallelism": st.integers(0, 4),
        "backoffLimit": st.integers(0, 2),
        "suspend": st.booleans(),
        "activeDeadlineSeconds": st.integers(1, 60),
        "ttlSecondsAfterFinished": st.integers(0, 60),
        "annotations": st.sampled_from([{}, {"sim/exit": "1"}, {"sim/run": "forever"}]),
    },
)
actions = st.one_of(
    made(),
    st.tuples(st.just("job"), name, jobs),
    st.tuples(st.just("orphan"), name, st.sampled_from(WORKLOADS), st.integers(0, 5)),
    st.tuples(st.just("scale"), st.sampled_from(WORKLOADS[:3]), name, replicas),
    st.tuples(st.just("image"), st.sampled_from((WORKLOADS[0], *WORKLOADS[2:])), name, image),
    st.tuples(st.just("delete"), st.sampled_from((*WORKLOADS, "jobs.batch")), name, policy),
    st.tuples(st.just("delete pod"), st.integers(0, 20), st.booleans()),
    st.tuples(st.just("fail pod"), st.integers(0, 20)),
    st.tuples(st.just("cordon"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("wait"), st.integers(1, 20_000)),
)


def act(town, action):
    api = town.world.api
    match action:
        case ("make", resource, called, spec):
            if town.get(resource, called) is None:
                # Two kinds of one name would fight for pods: selectors must not overlap.
                labels = {"app": called, "of": resource}
                spec = {"selector": {"matchLabels": labels}, "template": template(labels), **spec}
                town.workload(resource, called, **spec)
        case ("job", called, spec):
            if town.get("jobs.batch", called) is None:
                town.job(called, **spec)
        case ("orphan", called, resource, number):
            labels = {"app": called, "of": resource}
            # A StatefulSet takes pods of its own names only, and cannot go on where another's pod has one of them.
            pod = f"{called}-{number}" if resource == "statefulsets.apps" else f"{called}-stray-{number}"
            if town.get("pods", pod) is None:
                town.make("pods", "v1", "Pod", pod, template(labels)["spec"], labels=labels)
        case ("scale", resource, called, count):
            if town.get(resource, called) is not None:
                api.patch(resource, NAMESPACE, called, {"spec": {"replicas": count}})
        case ("image", resource, called, wanted):
            if town.get(resource, called) is not None:
                container = {"name": "c", "image": wanted}
                patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
                api.patch(resource, NAMESPACE, called, patch)
        case ("delete", resource, called, how):
            if town.get(resource, called) is not None:
                api.delete(resource, NAMESPACE, called, Options(propagation_policy=how))
        case ("delete pod", number, is_forced):
            pods = town.pods()
            if pods:
                options = Options(grace_period_seconds=0) if is_forced else Options()
                api.delete("pods", NAMESPACE, pods[number % len(pods)]["metadata"]["name"], options)
        case ("fail pod", number):
            pods = [pod for pod in town.pods() if is_ready(pod)]
            if pods:
                pod = pods[number % len(pods)]
                town.kubelet.act(
                    NAMESPACE, {"action": "evict", "pod": pod["metadata"]["name"], "reason": "Evicted"}
                )
        case ("cordon", number, is_cordoned):
            api.patch("nodes", "", f"node-{number}", {"spec": {"unschedulable": is_cordoned}})
        case ("wait", wait_ms):
            town.world.advance(wait_ms)


def settled_spec(town, resource):
    """Yield the workloads of a kind with their pods that stay."""
    for each in town.world.store.list(resource, NAMESPACE):
        uid = each["metadata"]["uid"]
        yield (
            each,
            [
                pod
                for pod in town.pods()
                if is_ready(pod)
                and any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences", ()))
            ],
        )


@settings(max_examples=60, deadline=timedelta(seconds=20), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(actions, min_size=1, max_size=14))
def test_controllers_settle_and_then_write_nothing(script):
    town = Town()
    for action in script:
        act(town, action)
    for number in range(3):
        act(town, ("cordon", number, False))
    town.world.advance(SETTLED_MS)
    assert town.world.failures() == {}
    revision = town.world.store.revision
    town.reconcile_all()
    assert town.world.store.revision == revision, town.world.store.events_since(revision)
    for resource in ("replicasets.apps", "statefulsets.apps"):
        for each, pods in settled_spec(town, resource):
            assert len(pods) == each["spec"]["replicas"], (resource, each["status"])
            assert each["status"].get("readyReplicas", 0) == each["spec"]["replicas"]
    for each in town.world.store.list("deployments.apps", NAMESPACE):
        assert each["status"].get("availableReplicas", 0) == each["spec"]["replicas"]
    for each, pods in settled_spec(town, "daemonsets.apps"):
        assert sorted(pod["spec"]["nodeName"] for pod in pods) == town.nodes, each["status"]
        assert each["status"]["numberAvailable"] == 3
    for pod in town.pods():
        assert "deletionTimestamp" not in pod["metadata"]
    town.world.advance(SETTLED_MS)
    assert town.world.store.revision == revision, town.world.store.events_since(revision)
