"""What things cost does not grow with the cluster: counted in function calls, events and bytes, never in time."""

import sys
import tracemalloc

import pytest

from tests.bench import crowds, idle

SMALL = 48
LARGE = 1_000
FORKS = 20
PODS: list[str] = []
LIMIT_BYTES = 1 << 29
"""For 1,000 forks of a busy world."""


def calls_of(function):
    """Count the calls of Python functions that `function` makes."""
    count = 0

    def on_event(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(on_event)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def cost_of(cluster, write):
    """Return the calls of one write and all that follows, when the same has been done once before."""
    for number in (0, 1):
        admin = cluster.client()

        def once(admin=admin, number=number):
            write(admin, number)
            cluster.advance(1_000)

        calls = calls_of(once)
    return calls


def note(admin, number):
    admin.patch("pods", crowds.NAMESPACE, PODS[0], {"metadata": {"annotations": {"n": str(number)}}})


def relabel(admin, number):
    patch = {"metadata": {"labels": {"n": str(number)}}}
    admin.patch("deployments.apps", crowds.NAMESPACE, "app-000", patch)


def scale(admin, number):
    patch = {"spec": {"replicas": 5 - number % 2}}
    admin.patch("deployments.apps", crowds.NAMESPACE, "app-001", patch)


def delete(admin, _number):
    admin.delete("pods", crowds.NAMESPACE, PODS.pop())


@pytest.mark.parametrize("write", [note, relabel, scale, delete])
def test_a_write_costs_the_same_among_many_pods(write):
    calls = []
    for cluster in (crowds.crowd(SMALL).fork(), crowds.crowd(SMALL, LARGE - SMALL).fork()):
        PODS[:] = sorted(pod["metadata"]["name"] for pod in cluster.store.list("pods", crowds.NAMESPACE))[:3]
        calls.append(cost_of(cluster, write))
    small, large = calls
    assert large <= 1.5 * small, calls


def test_nothing_is_stepped_through_while_nothing_changes():
    cluster = idle.settled(LARGE)
    handled, revision = cluster.loop.handled, cluster.store.revision
    cluster.advance(idle.HOURS * 3_600_000)
    assert (cluster.loop.handled - handled, cluster.store.revision - revision) == (0, 0)


def test_a_thousand_forks_of_a_busy_world_fit_into_half_a_gibibyte():
    busy = crowds.crowd(SMALL).fork()
    for number in range(12):
        patch = {"spec": {"template": {"metadata": {"annotations": {"n": "1"}}}}}
        busy.client().patch("deployments.apps", crowds.NAMESPACE, f"app-{number:03}", patch)
    busy.advance(200)
    assert busy.loop.next_ms() is not None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        forks = [busy.fork() for _ in range(FORKS)]
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(forks) == FORKS
    assert grown / FORKS * 1_000 < LIMIT_BYTES, f"{grown / FORKS / 1_024:.0f} KiB a fork"
