"""Servers for tests: in this process over the toy suite, and as a child of it."""

from __future__ import annotations

import contextlib

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.settings import Settings
from tests.server import toy


@pytest.fixture(autouse=True)
def _toy_suite(monkeypatch):
    from server import tasks

    monkeypatch.setattr("env_core.episode.all_suites", toy.toy_suites)
    tasks.split_tasks.cache_clear()
    yield
    tasks.split_tasks.cache_clear()


@pytest.fixture
def serve():
    """Return a function that starts a server with these settings and returns a client of it."""
    with contextlib.ExitStack() as stack:

        def started(**settings):
            return stack.enter_context(
                TestClient(create_app(Settings(**settings)), raise_server_exceptions=False)
            )

        yield started


@pytest.fixture
def http(serve):
    return serve()
