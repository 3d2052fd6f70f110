"""Custom resources in several versions, converted by a webhook that runs in the cluster."""

from __future__ import annotations

import base64

import pytest
import yaml

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ADMIN
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest
from tests import webhooks
from tests.apiextensions.worlds import DEFINITION

OLD = "/apis/example.com/v1beta1/namespaces/shop/widgets"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def _definition(service="guard"):
    definition = yaml.safe_load(DEFINITION)
    bundle = base64.b64encode(webhooks.pem("ca").encode()).decode()
    target = {"namespace": webhooks.NAMESPACE, "name": service, "path": "/convert"}
    definition["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": target, "caBundle": bundle},
        },
    }
    return definition


def town(*args, service="guard", **server):
    cluster = webhooks.with_server(webhooks.booted(), *args, **server)
    api = cluster.client()
    api.create(DEFINITIONS, "", _definition(service))
    cluster.advance(2_000)
    for name in ("a", "b"):
        body = {
            "apiVersion": "example.com/v1",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"size": 2},
        }
        api.create("widgets.example.com", "shop", body)
    return cluster


def ask(cluster, target, method="GET", body=b""):
    headers = (("content-type", "application/json"),) if body else ()
    request = HttpRequest(method=method, target=target, headers=headers, body=body)
    return RestApi(cluster.server).handle(request, ADMIN)


def test_objects_of_another_version_come_from_the_webhook_in_one_call():
    cluster = town()
    answer = yaml.safe_load(ask(cluster, OLD).body)
    assert [(each["apiVersion"], each["metadata"]["name"]) for each in answer["items"]] == [
        ("example.com/v1beta1", "a"),
        ("example.com/v1beta1", "b"),
    ]
    assert answer["items"][0]["spec"]["old"] == "x"
    cluster.advance(1_000)
    log = ask(cluster, "/api/v1/namespaces/hooks/pods/guard/log").body.decode()
    assert log.count("/convert 2 objects to example.com/v1beta1: done") == 1


def test_the_stored_version_needs_no_webhook():
    cluster = town(service="nobody")
    assert ask(cluster, OLD.replace("v1beta1", "v1")).code == 200


@pytest.mark.parametrize(
    ("town_of", "why"),
    [
        ({"service": "nobody"}, 'Post "https://nobody.hooks.svc:443/convert?timeout=30s": service "nobody" not found'),
        ({"args": ["--conversion-error=no way"]}, "no way"),
        (
            {"certificate": "expired"},
            'Post "https://guard.hooks.svc:443/convert?timeout=30s": tls: failed to verify certificate: ',
        ),
    ],
)  # fmt: skip
def test_what_the_webhook_cannot_do_fails_every_read_of_the_other_version(town_of, why):
    given = dict(town_of)
    cluster = town(*given.pop("args", ()), **given)
    for target in (OLD, f"{OLD}/a"):
        answer = ask(cluster, target)
        status = yaml.safe_load(answer.body)
        assert answer.code == 500
        assert status["message"].startswith(
            f"conversion webhook for example.com/v1, Kind=Widget failed: {why}"
        )


def test_writing_through_another_version_is_stored_in_the_one_that_is_stored():
    cluster = town()
    body = b'{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"c"},"spec":{"size":3}}'
    answer = ask(cluster, OLD, "POST", body)
    assert answer.code == 201
    assert yaml.safe_load(answer.body)["apiVersion"] == "example.com/v1beta1"
    stored = cluster.store.get("widgets.example.com", "shop", "c")
    assert (stored["apiVersion"], stored["spec"]["size"]) == ("example.com/v1", 3)


def test_a_write_that_cannot_be_converted_is_refused():
    cluster = town(service="nobody")
    body = b'{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"c"},"spec":{"size":3}}'
    answer = ask(cluster, OLD, "POST", body)
    assert answer.code == 500
    with pytest.raises(StatusError, match='"c" not found'):
        cluster.client().get("widgets.example.com", "shop", "c")
