"""Probes that are answered from memory leave the world as if each had gone the whole way."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.apiserver.errors import StatusError
from env_core.dataplane.repeating import Repeats
from env_core.programs import Request
from env_core.scenarios.apps import base
from tests.programs.test_postgres_passwords import FIRST, USER, asked

SHOP = base("shop", 0)
SPACE = SHOP.namespaces[0]
STORES = ("postgres", "redis")
WAITS_MS = (1_000, 7_300, 33_000, 120_000)


def close(client, role):
    labels = client.get("deployments", SPACE, SHOP.workloads[role].name)["spec"]["selector"]["matchLabels"]
    spec = {"podSelector": {"matchLabels": labels}, "policyTypes": ["Egress"], "egress": []}
    client.create("networkpolicies", SPACE, {"metadata": {"generateName": "shut-"}, "spec": spec})


def open_all(client, _role):
    for policy in client.list("networkpolicies", SPACE):
        if policy["metadata"]["name"].startswith("shut-"):
            client.delete("networkpolicies", SPACE, policy["metadata"]["name"])


def kill(client, role):
    for pod in client.list("pods", SPACE):
        if pod["metadata"]["name"].startswith(SHOP.workloads[role].name):
            client.delete("pods", SPACE, pod["metadata"]["name"])


def lose(client, role):
    client.patch("services", SPACE, SHOP.workloads[role].name, {"spec": {"selector": {"lost": "yes"}}})


def find(client, role):
    client.patch("services", SPACE, SHOP.workloads[role].name, {"spec": {"selector": {"lost": None}}})


def no_names(client, _role):
    client.patch("deployments", "kube-system", "coredns", {"spec": {"replicas": 0}})


def leave_one(client, role):
    workload = SHOP.workloads[role]
    client.patch(workload.resource, SPACE, workload.name, {"spec": {"replicas": 1}})


def two_caches(client, _role):
    """Let a second cache, on no claim, stand behind the same service."""
    first = deepcopy(client.get("deployments", SPACE, SHOP.workloads["redis"].name)["spec"])
    labels = {**first["selector"]["matchLabels"], "twin": "yes"}
    first["selector"]["matchLabels"] = first["template"]["metadata"]["labels"] = labels
    for volume in first["template"]["spec"].get("volumes") or ():
        if volume.pop("persistentVolumeClaim", None):
            volume["emptyDir"] = {}
    with suppress(StatusError):
        client.create("deployments", SPACE, {"metadata": {"name": "twin"}, "spec": first})


def ask(cluster):
    """Take a turn at the name servers and the caches, without a change to anything."""
    source = cluster.network.source_of_pod(
        SPACE, next(pod["metadata"]["name"] for pod in cluster.client().list("pods", SPACE))
    )
    cluster.network.request(
        source, SHOP.workloads["redis"].name, 6379, Request(protocol="redis", body="PING")
    )


def change_password(cluster, password):
    asked(cluster, FIRST, f"ALTER ROLE {USER} WITH PASSWORD '{password}'")


EDITS = (close, open_all, kill, lose, find, no_names, two_caches, leave_one)
MOVES = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from(WAITS_MS)),
    st.tuples(st.just("edit"), st.tuples(st.sampled_from(EDITS), st.sampled_from((*STORES, "catalogue", "cart")))),
    st.tuples(st.just("ask"), st.none()),
    st.tuples(st.just("password"), st.sampled_from((FIRST, "another"))),
)  # fmt: skip


def play(cluster, moves):
    """Return what can be seen of a world after each of the moves."""
    seen = []
    for move, what in moves:
        if move == "wait":
            cluster.advance(what)
        elif move == "ask":
            ask(cluster)
        elif move == "password":
            change_password(cluster, what)
        else:
            edit, role = what
            if role in STORES and edit is close:
                role = "catalogue"
            edit(cluster.client(), role)
        state = cluster.state
        tables = ("network/usage", "network/turns", "kubelet/probes", "runtime/runs", "runtime/memory")
        seen.append(
            (cluster.digest(), cluster.loop.work.done, *(dict(state.table(name).rows) for name in tables))
        )
    return seen


def assert_same(moves):
    """Play with memory as without."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Repeats, "again", lambda *_arguments: None)
        wanted = play(SHOP.cluster.fork(), moves)
    assert play(SHOP.cluster.fork(), moves) == wanted


@given(moves=st.lists(MOVES, min_size=2, max_size=7))
@settings(max_examples=12)
def test_whatever_happens_memory_makes_no_difference(moves):
    assert_same([*moves, ("wait", 40_000)])


def test_endpoints_take_turns_as_before():
    """The counts of each tell whose turn it was."""
    edits = [("edit", (two_caches, "")), ("edit", (leave_one, "cart"))]
    assert_same([*edits, ("wait", 60_000), ("ask", None), ("wait", 60_000)])


def test_a_quiet_world_is_asked_the_whole_way_but_once(monkeypatch):
    cluster = SHOP.cluster.fork()
    cluster.advance(60_000)
    gone = []
    whole = type(cluster.network).request_pod
    monkeypatch.setattr(
        type(cluster.network), "request_pod", lambda *arguments: gone.append(arguments) or whole(*arguments)
    )
    cluster.advance(600_000)
    assert not gone


def test_what_is_written_ends_it_at_once():
    cluster = SHOP.cluster.fork()
    cluster.advance(60_000)
    lose(cluster.client(), "postgres")
    cluster.advance(30_000)
    pods = [pod for pod in cluster.client().list("pods", SPACE) if pod["metadata"]["name"].startswith(SHOP.workloads["catalogue"].name)]  # fmt: skip
    ready = [
        each["status"] for pod in pods for each in pod["status"]["conditions"] if each["type"] == "Ready"
    ]
    assert ready
    assert set(ready) == {"False"}
