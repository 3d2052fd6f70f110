"""Malformed requests are answered, at once, and never by a failure of ours."""

from __future__ import annotations

import time

import pytest

from env_core.apiserver.request import ADMIN
from env_core.rest.api import RestApi
from env_core.rest.following import LogFollow
from env_core.rest.message import HttpResponse
from env_core.rest.watching import Watch
from env_core.scenarios.platform import ON_CALL, with_platform
from tests.rest.malformed import requests

LIMIT_S = 1.0


@pytest.mark.parametrize("seed", range(4))
def test_answers_every_malformed_request(seed: int) -> None:
    base = with_platform(seed=3)
    world = base.fork()
    for number, request in enumerate(requests(seed, 500)):
        if number % 100 == 0:
            world = base.fork()
        started = time.process_time()
        answer = RestApi(world.server).handle(request, ADMIN if number % 3 else ON_CALL)
        if isinstance(answer, (Watch, LogFollow)):
            answer.poll()
        elif isinstance(answer, HttpResponse):
            # Kubernetes itself answers 500 to a version that is none; a failure of ours would name itself.
            assert answer.code != 500 or b'"reason":"InternalError"' not in answer.body, (request, answer)
            assert 100 <= answer.code < 600
        assert time.process_time() - started < LIMIT_S, request
        world.advance(20)
