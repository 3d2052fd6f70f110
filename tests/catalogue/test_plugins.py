"""Every scheduling plugin declares its place, knows its resources, and judges pods of every shape without raising."""

import gzip
import json

import pytest

from env_core.cluster import registry
from env_core.discovery import discover
from env_core.scheduler import plugins as package
from env_core.scheduler._plugin import SCORE_MAX, SKIP, Cycle, Impossible, Plugin, Rejection
from env_core.scheduler._podinfo import pod_info
from tests.catalogue import worlds

PLUGINS = discover(package, "PLUGIN", Plugin)

every_plugin = pytest.mark.parametrize("plugin", PLUGINS.values(), ids=lambda plugin: plugin.name)


def pods():
    """Return one pod for every recorded pod specification that a server accepted."""
    with gzip.open(worlds.GOLDEN / "l0" / "defaulting.jsonl.gz", "rt", encoding="utf-8") as text:
        records = [json.loads(line) for line in text]
    found = []
    for number, record in enumerate(
        record for record in records if record["kind"] == "Pod" and "created" in record
    ):
        metadata = {
            **record["created"]["metadata"],
            "name": f"p{number}",
            "namespace": "tron",
            "uid": f"uid-{number}",
        }
        spec = {key: value for key, value in record["created"]["spec"].items() if key != "nodeName"}
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata,
                "spec": spec,
                "status": {"phase": "Pending"},
            }
        )
    return found


@every_plugin
def test_declarations_are_complete(plugin):
    assert plugin.source.strip()
    assert plugin.weight >= 1
    assert plugin.filter is not None or plugin.score is not None
    for resource in plugin.watches:
        assert registry().by_resource(resource) is not None, resource


def test_the_order_is_total_and_names_are_unique():
    orders = [plugin.order for plugin in PLUGINS.values()]
    assert sorted(set(orders)) == sorted(orders)
    names = [plugin.name for plugin in PLUGINS.values()]
    assert sorted(set(names)) == sorted(names)


@every_plugin
def test_it_judges_every_recorded_pod(plugin):
    cluster = worlds.healthy()
    nodes = cluster.scheduler._cache.nodes()
    assert len(nodes) == 3
    revision = cluster.store.revision
    judged = 0
    for pod in pods():
        cycle = Cycle(pod_info(pod), nodes, cluster.store)
        try:
            state = plugin.prepare(cycle)
        except Impossible:
            continue
        if plugin.filter is not None and state is not SKIP:
            for node in nodes:
                verdict = plugin.filter(cycle, state, node)
                assert verdict is None or (isinstance(verdict, Rejection) and all(verdict.reasons))
                assert plugin.filter(cycle, state, node) == verdict
        if plugin.score is not None:
            state = plugin.prepare_score(cycle, nodes)
            if state is not SKIP:
                scores = plugin.normalize(
                    cycle, state, nodes, [plugin.score(cycle, state, node) for node in nodes]
                )
                assert all(0 <= score <= SCORE_MAX for score in scores)
        judged += 1
    assert judged >= 50
    assert cluster.store.revision == revision
