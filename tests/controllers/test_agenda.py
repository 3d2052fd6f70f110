"""Nothing stays on the agenda of what is gone, and a fork at any moment goes on as its origin does."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from env_core.apiserver.request import Options
from tests.catalogue import worlds
from tests.controllers.test_forking import FAILING, create, outcome
from tests.controllers.town import template

GONE_MS = 1_200_000
WORKLOADS = {
    "Deployment": ("deployments.apps", {"replicas": 2}),
    "StatefulSet": ("statefulsets.apps", {"replicas": 2, "minReadySeconds": 3}),
    "DaemonSet": ("daemonsets.apps", {"minReadySeconds": 3}),
}

kinds = st.sets(st.sampled_from([*WORKLOADS, "Job", "CronJob"]), min_size=1)
moments_ms = st.lists(st.integers(1, 30_000), min_size=1, max_size=4)
checked = settings(
    max_examples=20, deadline=timedelta(seconds=30), suppress_health_check=[HealthCheck.too_slow]
)


def put_to_work(cluster, wanted):
    for kind in sorted(wanted):
        name = kind.lower()
        job = {"template": template({}, pod=FAILING), "backoffLimit": 3}
        if kind in WORKLOADS:
            resource, spec = WORKLOADS[kind]
            labels = {"app": name}
            spec = {"selector": {"matchLabels": labels}, "template": template(labels), **spec}
            create(cluster, resource, "apps/v1", kind, name, spec)
        elif kind == "Job":
            create(cluster, "jobs.batch", "batch/v1", kind, name, job)
        else:
            spec = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
            create(cluster, "cronjobs.batch", "batch/v1", kind, name, spec)


def remove(cluster, wanted):
    for kind in sorted(wanted):
        plural = f"{kind.lower()}s"
        group = "batch" if kind in ("Job", "CronJob") else "apps"
        options = Options(propagation_policy="Background")
        cluster.client().delete(f"{plural}.{group}", worlds.NAMESPACE, kind.lower(), options)


def agenda(cluster):
    """Return what is due, whenever it is: handlers and keys."""
    return {(entry.handler, entry.key) for entry in cluster.loop._live.values()} | {
        (entry.handler, entry.key) for entry in cluster.loop._agenda if not entry.is_wake
    }


@checked
@given(kinds, st.integers(1, 90_000))
def test_nothing_is_due_for_what_is_gone(wanted, age_ms):
    cluster = worlds.booted()
    cluster.advance(GONE_MS)
    before = agenda(cluster)
    put_to_work(cluster, wanted)
    cluster.advance(age_ms)
    remove(cluster, wanted)
    cluster.advance(GONE_MS)
    assert cluster.store.list("pods", worlds.NAMESPACE) == []
    assert agenda(cluster) - before == set()


@checked
@given(kinds, moments_ms)
def test_a_fork_at_any_moment_goes_on_as_without_it(wanted, moments):
    whole, cut = worlds.booted(), worlds.booted()
    put_to_work(whole, wanted)
    put_to_work(cut, wanted)
    for moment_ms in moments:
        whole.advance(moment_ms)
        cut.advance(moment_ms)
        left, cut = cut, cut.fork()
        left.advance(5_000)
    whole.advance(60_000)
    cut.advance(60_000)
    assert outcome(cut) == outcome(whole)
    assert cut.digest() == whole.digest()
    assert agenda(cut) == agenda(whole)
