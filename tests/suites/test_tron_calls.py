"""Requests and passing time as parts of an episode: what they cost, and that nothing depends on how time is cut."""

from __future__ import annotations

import json

import pytest

from env_core.episode import Episode
from env_core.rest.message import HttpRequest, HttpResponse

PODS = "/api/v1/namespaces/tron/pods"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def base():
    episode, _ = Episode.reset(task="medium", seed=5)
    return episode


@pytest.fixture
def episode(base):
    return base.fork()


def call(episode, method, target, body=None):
    data = b"" if body is None else json.dumps(body).encode()
    called, step = episode.call(HttpRequest(method=method, target=target, body=data))
    assert isinstance(called.answer, HttpResponse)
    return called.answer, step


def test_time_is_the_same_however_it_is_cut(base):
    whole, cut = base.fork(), base.fork()
    whole.elapse(45_000)
    for part in (1, 999, 4_000, 0, 20_000, 7, 19_993):
        cut.elapse(part)
    assert whole.now_ms == cut.now_ms == base.now_ms + 45_000
    assert whole.digest() == cut.digest()
    assert whole.state() == cut.state()


def test_a_write_is_a_step_and_discovery_is_none(episode):
    assert call(episode, "GET", "/apis")[1] is None
    started = episode.now_ms
    assert call(episode, "GET", "/openapi/v3")[1] is None
    assert episode.now_ms == started
    answer, step = call(episode, "POST", MAPS, {"metadata": {"name": "mine"}})
    assert answer.code == 201
    assert step is not None
    assert episode.step_count == 1
    assert episode.now_ms > started


def test_ten_reads_are_a_step(episode):
    steps = [call(episode, "GET", PODS)[1] is not None for _ in range(20)]
    assert [number for number, is_step in enumerate(steps, 1) if is_step] == [10, 20]
    assert episode.step_count == 2


def test_forks_answer_alike_and_go_their_own_ways(base):
    one, other = base.fork(), base.fork()
    body = {"metadata": {"name": "mine"}}
    assert call(one, "POST", MAPS, body)[0] == call(other, "POST", MAPS, body)[0]
    assert one.digest() == other.digest()
    call(one, "DELETE", f"{MAPS}/mine")
    assert call(other, "GET", f"{MAPS}/mine")[0].code == 200
    assert one.digest() != other.digest()


@pytest.mark.parametrize("body", [{}, {"kind": "DeleteOptions", "apiVersion": "v1"}, {"dryRun": []}])
def test_a_deletion_whose_body_hides_its_dry_run_is_priced(episode, body):
    call(episode, "POST", MAPS, {"metadata": {"name": "mine"}})
    answer, step = call(episode, "DELETE", f"{MAPS}/mine?dryRun=All", body)
    is_gone = call(episode, "GET", f"{MAPS}/mine")[0].code == 404
    assert (answer.code, is_gone) == (200, True)
    assert step is not None
    assert step.reward_terms["cost"] == -0.30


def test_a_deletion_whose_body_says_that_it_is_a_dry_run_is_free(episode):
    call(episode, "POST", MAPS, {"metadata": {"name": "mine"}})
    answer, step = call(episode, "DELETE", f"{MAPS}/mine", {"dryRun": ["All"]})
    assert (answer.code, step) == (200, None)
    assert call(episode, "GET", f"{MAPS}/mine")[0].code == 200


def test_replica_sets_are_refused_behind_a_hidden_dry_run_too(episode):
    sets = "/apis/apps/v1/namespaces/tron/replicasets"
    assert call(episode, "DELETE", f"{sets}?dryRun=All", {})[0].code == 403
