"""Trials of probes: a process that hangs is restarted in time, or the trial says so; and the judge waits for slow starts."""

from __future__ import annotations

import pytest

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.faults import _releases
from env_core.scenarios.apps import base
from env_core.verify.checks import Check
from env_core.verify.judging import Examination, Outcome, judged
from env_core.verify.trials import Owner, hang, roll


def _patched(cluster, place, fields):
    container = {"name": place.container, **fields}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    cluster.client().patch(place.resource, place.namespace, place.name, patch, STRATEGIC_PATCH)
    cluster.advance(90_000)


@pytest.mark.parametrize(
    ("fields", "is_caught"),
    [
        ({}, True),
        ({"livenessProbe": None}, False),
        ({"livenessProbe": {"httpGet": None, "tcpSocket": {"port": 8080}}}, False),
        ({"livenessProbe": {"initialDelaySeconds": 900}}, False),
        ({"livenessProbe": {"failureThreshold": 5}}, True),
    ],
    ids=["as declared", "without liveness", "a port that stays open", "much later", "a little later"],
)
def test_a_hung_process_must_be_restarted_in_time(fields, is_caught):
    world = base("tron", 1)
    place, cluster = world.workloads["web"], world.cluster.fork(3)
    _patched(cluster, place, fields)
    why = hang(Owner(place.resource, place.namespace, place.name), place.container, 150_000).act(cluster)
    assert bool(why) is not is_caught


def test_the_judge_waits_for_processes_that_start_slowly():
    world = base("pipeline", 0)
    place, cluster = world.workloads["archiver"], world.cluster.fork(3)
    probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 5, "failureThreshold": 24}
    _releases.roll_out(cluster, place, place.slow_tags[0], more={"startupProbe": probe})
    owner = Owner(place.resource, place.namespace, place.name)

    def is_ready(view):
        found = view.get(*owner)
        return "" if found.get("status", {}).get("readyReplicas") else "not ready"

    asked = Examination(health=(Check("ready", is_ready),), bounds=(), goals=(), trials=(roll((owner,)),))
    assert judged(cluster, asked).outcome is Outcome.REPAIRED
