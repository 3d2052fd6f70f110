"""Tokens of service accounts: whom they name, how long they hold, and what revokes them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from env_core.apiserver.request import Identity
from env_core.apiserver.tokens import SECONDS_MAX, SECONDS_MIN, authenticate
from tests.apiserver.asking import Asking
from tests.golden import servers

ISSUED_MS = servers.CREATED_MS
ROBOT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "main", "image": "nginx:1.29"}]},
}
REVIEWS = "tokenreviews.authentication.k8s.io"


@pytest.fixture
def api() -> Asking:
    made = Asking(servers.server(is_booted=True))
    made.create("serviceaccounts", ROBOT, "default")
    return made


def token(api: Asking, **spec: Any) -> str:
    answer = api.create("serviceaccounts", {"spec": spec}, "default", name="robot", subresource="token")
    assert answer["kind"] == "TokenRequest"
    text: str = answer["status"]["token"]
    return text


def test_a_token_names_its_account(api: Asking) -> None:
    found = authenticate(api.server, token(api))
    assert found is not None
    assert found.identity.name == "system:serviceaccount:default:robot"
    assert found.identity.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    )
    assert found.identity.uid == api.get("serviceaccounts", "robot", "default")["metadata"]["uid"]


def test_no_two_tokens_are_the_same(api: Asking) -> None:
    assert token(api) != token(api)


def test_a_token_holds_until_it_expires(api: Asking) -> None:
    text = token(api, expirationSeconds=SECONDS_MIN)
    api.server.loop.run_until(ISSUED_MS + SECONDS_MIN * 1000 - 1)
    assert authenticate(api.server, text) is not None
    api.server.loop.run_until(ISSUED_MS + SECONDS_MIN * 1000)
    assert authenticate(api.server, text) is None


def test_a_token_ends_with_its_account_even_when_one_of_the_same_name_follows(api: Asking) -> None:
    text = token(api)
    api.done("delete", "serviceaccounts", "robot", "default")
    assert authenticate(api.server, text) is None
    api.create("serviceaccounts", ROBOT, "default")
    assert authenticate(api.server, text) is None


def test_a_bound_token_ends_with_its_pod(api: Asking) -> None:
    made = api.create("pods", POD, "default")
    text = token(api, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "web"})
    found = authenticate(api.server, text)
    assert found is not None
    assert dict(found.extra)["authentication.kubernetes.io/pod-uid"] == made["metadata"]["uid"]
    api.done("delete", "pods", "web", "default", grace_period_seconds=0)
    assert authenticate(api.server, text) is None


@pytest.mark.parametrize("change", ["other cluster", "payload", "signature", "empty", "no token"])
def test_forged_tokens_name_nobody(api: Asking, change: str) -> None:
    text = token(api)
    head, payload, signature = text.split(".")
    forged = {
        "other cluster": token(_elsewhere()),
        "payload": f"{head}.{payload[:-2]}AA.{signature}",
        "signature": f"{head}.{payload}.{signature[:-2]}__",
        "empty": "",
        "no token": "ünsinn",
    }[change]
    assert authenticate(api.server, forged) is None


def _elsewhere() -> Asking:
    made = Asking(servers.server(is_booted=True))
    # Same account, another cluster: its kube-system namespace is not ours.
    space = made.get("namespaces", "kube-system")
    made.server.store.put("namespaces", {**space, "metadata": {**space["metadata"], "uid": "another"}})
    made.create("serviceaccounts", ROBOT, "default")
    return made


@pytest.mark.parametrize("seconds", [SECONDS_MIN - 1, SECONDS_MAX + 1, 0, -5])
def test_lifetimes_have_bounds(api: Asking, seconds: int) -> None:
    body = {"spec": {"expirationSeconds": seconds}}
    code, message = api.refusal("create", "serviceaccounts", "robot", "default", body, subresource="token")
    assert code == 422
    assert f"spec.expirationSeconds: Invalid value: {seconds}" in message


def test_requests_may_come_as_text(api: Asking) -> None:
    body = orjson.dumps({"spec": {"audiences": ["vault"]}})
    made = api.create("serviceaccounts", body, "default", name="robot", subresource="token")
    found = authenticate(api.server, made["status"]["token"])
    assert found is not None
    assert found.audiences == ("vault",)


def test_reviews_tell_whose_a_token_is_and_for_whom(api: Asking) -> None:
    def reviewed(text: str, *audiences: str) -> Any:
        return api.create(REVIEWS, {"spec": {"token": text, "audiences": list(audiences)}})["status"]

    ours, foreign = token(api), token(api, audiences=["vault"])
    assert reviewed(ours)["user"]["username"] == "system:serviceaccount:default:robot"
    assert reviewed(foreign, "vault", "else")["audiences"] == ["vault"]
    for refused in (reviewed(foreign), reviewed(ours, "vault"), reviewed("nonsense")):
        assert refused == {"user": {}, "error": "invalid bearer token"}


def test_static_tokens_are_known(api: Asking) -> None:
    dev = Identity("dev", ("dev-team", "system:authenticated"))
    api.server.tokens = {"tok-dev": dev}
    found = authenticate(api.server, "tok-dev")
    assert found is not None
    assert found.identity == dev
