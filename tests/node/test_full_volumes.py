"""A volume fills with what its program writes, and more space or a tighter bound ends that."""

import pytest

from env_core.apiserver.request import ExecOptions
from env_core.programs._disks import place_of
from env_core.scenarios.apps import base

MINUTE_MS = 60_000
GIB = 1 << 30


@pytest.fixture
def shop():
    world = base("shop", 0)
    return world.workloads["postgres"], world.cluster.fork(5)


def keep(cluster, place, bound):
    """Let the server keep so much of its journal; "" for the default."""
    owner = cluster.store.get(place.resource, place.namespace, place.name)
    args = [
        word
        for word in owner["spec"]["template"]["spec"]["containers"][0]["args"]
        if "wal_keep_size" not in word
    ]
    args = args[: len(args) - len(args) % 2] + (["-c", f"wal_keep_size={bound}"] if bound else [])
    patch = {"spec": {"template": {"spec": {"containers": [{"name": place.container, "args": args}]}}}}
    cluster.client().patch(
        place.resource, place.namespace, place.name, patch, "application/strategic-merge-patch+json"
    )
    cluster.advance(MINUTE_MS)


def expand(cluster, place, size):
    patch = {"spec": {"resources": {"requests": {"storage": size}}}}
    cluster.client().patch("persistentvolumeclaims", place.namespace, place.claims[0], patch)


def pod_of(cluster, place):
    return cluster.store.get("pods", place.namespace, f"{place.name}-0")


def used(cluster, place):
    run = cluster.runtime.run(pod_of(cluster, place)["metadata"]["uid"], place.container)
    volume = place_of(run.container, run.container.env["PGDATA"]).volume
    return cluster.runtime.used_bytes(volume, cluster.now_ms)


def is_ready(cluster, place):
    return pod_of(cluster, place)["status"]["containerStatuses"][0]["ready"]


def log_of(cluster, place, restarts):
    lines = cluster.runtime.log_lines(pod_of(cluster, place)["metadata"]["uid"], place.container, restarts)
    return "\n".join(line.text for line in lines)


def test_a_journal_stays_within_its_bound(shop):
    place, cluster = shop
    cluster.advance(120 * MINUTE_MS)
    assert GIB <= used(cluster, place) < 1.1 * GIB
    assert is_ready(cluster, place)


def test_a_server_ends_when_its_volume_is_full_and_cannot_start_again(shop):
    place, cluster = shop
    keep(cluster, place, "64GB")
    cluster.advance(25 * MINUTE_MS)
    assert is_ready(cluster, place)
    assert cluster.advance_until(lambda: not is_ready(cluster, place), 10 * MINUTE_MS)
    assert "PANIC:  could not write to file" in log_of(cluster, place, 0)
    cluster.advance(5 * MINUTE_MS)
    assert not is_ready(cluster, place)
    assert pytest.approx(20 * GIB, rel=0.001) == used(cluster, place)
    again = log_of(cluster, place, pod_of(cluster, place)["status"]["containerStatuses"][0]["restartCount"])
    assert 'FATAL:  could not write lock file "postmaster.pid": No space left on device' in again


def test_a_tighter_bound_frees_nothing_while_the_server_cannot_start(shop):
    place, cluster = shop
    keep(cluster, place, "64GB")
    cluster.advance(35 * MINUTE_MS)
    keep(cluster, place, "")
    cluster.client().delete("pods", place.namespace, f"{place.name}-0")
    cluster.advance(5 * MINUTE_MS)
    assert not is_ready(cluster, place)


def test_more_space_lets_it_start_and_a_bound_then_frees_the_rest(shop):
    place, cluster = shop
    keep(cluster, place, "64GB")
    cluster.advance(35 * MINUTE_MS)
    expand(cluster, place, "30Gi")
    cluster.advance(6 * MINUTE_MS)
    assert is_ready(cluster, place)
    assert 20 * GIB < used(cluster, place) < 26 * GIB
    keep(cluster, place, "4GB")
    cluster.advance(2 * MINUTE_MS)
    assert is_ready(cluster, place)
    assert used(cluster, place) < 4.1 * GIB


def test_df_shows_how_full_a_volume_is(shop):
    place, cluster = shop
    keep(cluster, place, "64GB")
    cluster.advance(14 * MINUTE_MS)
    run = cluster.runtime.run(pod_of(cluster, place)["metadata"]["uid"], place.container)
    options = ExecOptions(command=("df", "-h", "/var/lib/postgresql/data"), container=place.container)
    output = cluster.kubelets._host.exec_in(run, options)
    (row,) = output.stdout.splitlines()[1:]
    source, size, taken, free, share, path = row.split()
    assert (source, size, path) == ("/dev/sdb", "20.0G", "/var/lib/postgresql/data")
    assert float(taken[:-1]) == pytest.approx(used(cluster, place) / GIB, abs=0.1)
    assert float(taken[:-1]) + float(free[:-1]) == pytest.approx(20.0, abs=0.1)
    assert int(share[:-1]) == pytest.approx(used(cluster, place) / GIB * 5, abs=1)
