"""Proxies take over a change of endpoints at once, and what follows it within a second later: pods that stop at once are missed."""

from __future__ import annotations

import pytest

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.dataplane.services import SYNC_MS
from env_core.scenarios.apps import base
from env_core.verify.load import under_traffic
from env_core.verify.trials import Owner, roll

WORLD = base("pipeline", 0)
PLACE = WORLD.workloads["ingest"]


def changed(container):
    cluster = WORLD.cluster.fork(1)
    patch = {"spec": {"template": {"spec": {"containers": [{"name": PLACE.container, **container}]}}}}
    cluster.client().patch(PLACE.resource, PLACE.namespace, PLACE.name, patch, STRATEGIC_PATCH)
    cluster.advance(120_000)
    return cluster


@pytest.mark.parametrize(
    ("container", "is_served"),
    [
        ({"lifecycle": {"preStop": {"sleep": {"seconds": 3}}}}, True),
        ({"lifecycle": None, "env": [{"name": "SHUTDOWN_DELAY_MS", "value": "3000"}]}, True),
        ({"lifecycle": None}, False),
        ({"lifecycle": {"preStop": {"sleep": None, "exec": {"command": ["sleep", "5"]}}}}, False),
    ],
    ids=["a hook that waits", "a program that waits", "at once", "a hook that the image cannot run"],
)
def test_a_roll_out_is_noticed_where_pods_stop_before_the_proxies_know(container, is_served):
    owner = Owner(PLACE.resource, PLACE.namespace, PLACE.name)
    trial = under_traffic(roll((owner,)), WORLD.entries_through("ingest")[:1], 36_000)
    assert bool(trial.act(changed(container))) is not is_served


def test_the_second_change_within_a_second_is_taken_over_a_second_after_the_first():
    cluster = WORLD.cluster.fork(1)
    cluster.advance(5_000)
    network, key = cluster.network, (PLACE.namespace, PLACE.service)

    def backends():
        network._refresh()
        return network._services.backends(*key, "http", "TCP", cluster.now_ms)

    def annotated(ready):
        entry = cluster.store.indexed("service", "/".join(key))[0]
        endpoints = [
            {**each, "conditions": {**each["conditions"], "ready": ready}} for each in entry["endpoints"]
        ]
        client = cluster.client()
        client.patch("endpointslices", key[0], entry["metadata"]["name"], {"endpoints": endpoints})

    before = backends()
    annotated(False)
    assert backends() == ()
    annotated(True)
    assert backends() == ()
    cluster.loop.run_until(cluster.now_ms + SYNC_MS - 1)
    assert backends() == ()
    cluster.loop.run_until(cluster.now_ms + 1)
    assert backends() == before
