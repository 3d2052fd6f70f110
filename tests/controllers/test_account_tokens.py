"""Secrets that hold tokens of service accounts (recorded: l2/flows sa-tokens)."""

import base64

import pytest

from env_core.apiserver.errors import StatusError
from env_core.apiserver.tokens import authenticate
from tests.controllers.town import NAMESPACE, Town

NAME = "kubernetes.io/service-account.name"
UID = "kubernetes.io/service-account.uid"


def secret_of(town, account, **annotations):
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "robot-token", "annotations": {NAME: account, **annotations}},
        "type": "kubernetes.io/service-account-token",
    }
    town.world.api.create("secrets", NAMESPACE, body)
    town.world.advance(1_000)
    return town.get("secrets", "robot-token")


@pytest.fixture
def town():
    town = Town(nodes=0)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    town.account = town.world.api.create("serviceaccounts", NAMESPACE, account)
    return town


def test_a_secret_is_filled_with_what_lets_its_account_in(town):
    secret = secret_of(town, "robot")
    assert sorted(secret["data"]) == ["ca.crt", "namespace", "token"]
    assert base64.b64decode(secret["data"]["namespace"]).decode() == NAMESPACE
    assert secret["metadata"]["annotations"] == {NAME: "robot", UID: town.account["metadata"]["uid"]}
    found = authenticate(town.world.server, base64.b64decode(secret["data"]["token"]).decode())
    assert found is not None
    assert found.identity.name == f"system:serviceaccount:{NAMESPACE}:robot"
    revision = town.world.store.revision
    town.reconcile_all()
    assert town.world.store.revision == revision


def test_the_secret_goes_with_its_account(town):
    token = base64.b64decode(secret_of(town, "robot")["data"]["token"]).decode()
    town.world.api.delete("serviceaccounts", NAMESPACE, "robot")
    town.world.advance(1_000)
    assert town.get("secrets", "robot-token") is None
    assert authenticate(town.world.server, token) is None


@pytest.mark.parametrize(
    ("account", "annotations"), [("nobody", {}), ("robot", {UID: "00000000-0000-4000-8000-000000000001"})]
)
def test_a_secret_of_no_account_is_deleted(town, account, annotations):
    assert secret_of(town, account, **annotations) is None


def test_a_token_that_was_taken_out_is_given_again(town):
    secret = secret_of(town, "robot")
    town.world.api.update("secrets", NAMESPACE, {**secret, "data": {}})
    town.world.advance(1_000)
    assert town.get("secrets", "robot-token")["data"] == secret["data"]


def test_without_an_account_there_is_no_such_secret(town):
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x"},
        "type": "kubernetes.io/service-account-token",
    }
    with pytest.raises(StatusError) as refused:
        town.world.api.create("secrets", NAMESPACE, body)
    assert refused.value.code == 422
