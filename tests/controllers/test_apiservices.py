"""API services that other servers should answer: whether their condition says why they do not."""

from __future__ import annotations

from typing import Any

from tests.controllers.world import World

RESOURCE = "apiservices.apiregistration.k8s.io"


def made(world: World, **service: Any) -> None:
    spec = {
        "group": "errs.io",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": {"name": "agg", "namespace": "default", "port": 443, **service},
    }
    body = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.errs.io"},
        "spec": spec,
    }
    world.api.create(RESOURCE, "", body)


def condition(world: World) -> Any:
    found = world.store.get(RESOURCE, "", "v1.errs.io")
    assert found is not None
    conditions = found.get("status", {}).get("conditions") or [{}]
    return conditions[0]


def test_without_its_service() -> None:
    world = World()
    made(world)
    world.advance(10_000)
    found = condition(world)
    assert (found["type"], found["status"], found["reason"]) == ("Available", "False", "ServiceNotFound")
    assert found["message"] == 'service/agg in "default" is not present'


def test_the_reason_follows_the_service() -> None:
    world = World()
    made(world)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "agg"},
        "spec": {"ports": [{"port": 8443}]},
    }
    world.advance(10_000)
    first = condition(world)["lastTransitionTime"]
    world.api.create("services", "default", service)
    world.advance(10_000)
    found = condition(world)
    assert found["reason"] == "ServicePortError"
    assert found["lastTransitionTime"] == first


def test_those_that_the_server_answers_itself_are_left_alone() -> None:
    world = World()
    world.api.create(
        RESOURCE,
        "",
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1.errs.io"},
            "spec": {
                "group": "errs.io",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
            },
        },
    )
    before = world.store.get(RESOURCE, "", "v1.errs.io")
    world.advance(30_000)
    assert world.store.get(RESOURCE, "", "v1.errs.io") is before
