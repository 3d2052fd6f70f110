"""Every admission plugin declares where it acts, never changes what it is given, and has nothing to add the second time."""

import copy

import pytest

from env_core.apiserver import admission as package
from env_core.apiserver.errors import StatusError
from env_core.apiserver.plugin import Admission, Attributes
from env_core.apiserver.request import ADMIN, NO_OPTIONS
from env_core.cluster import registry
from env_core.discovery import discover
from tests.catalogue import worlds

PLUGINS = discover(package, "ADMISSION", Admission)
OPERATIONS = {"CREATE", "UPDATE", "DELETE", "CONNECT"}

every_plugin = pytest.mark.parametrize("plugin", PLUGINS.values(), ids=lambda plugin: plugin.name)


def attributes(cluster, kind, obj):
    """Return what admission sees of the creation of an object."""
    return Attributes(
        operation="CREATE", kind=kind, namespace=obj["metadata"].get("namespace", ""), name=obj["metadata"]["name"], subresource="", object=obj,
        old=None, identity=ADMIN, options=NO_OPTIONS, store=cluster.store, streams=cluster.streams, now_ms=cluster.now_ms,
    )  # fmt: skip


def creations(plugin):
    """Return (kind, defaulted object) for every recorded kind whose creation the plugin looks at."""
    found = []
    for kind in worlds.own_kinds():
        if plugin.handles("CREATE", kind.resource, ""):
            obj = worlds.named(worlds.smallest(kind.api_version, kind.kind), kind)
            found.append((kind, kind.default(obj)))
    return found


@every_plugin
def test_declarations_are_complete(plugin):
    assert plugin.source.strip()
    assert plugin.mutate is not None or plugin.validate is not None
    assert plugin.operations
    assert set(plugin.operations) <= OPERATIONS
    for resource in plugin.resources:
        kind = registry().by_resource(resource)
        assert kind is not None, resource
        assert kind.resource == resource
        for subresource in plugin.subresources:
            assert subresource == "" or any(
                subresource in registry().by_resource(name).subresources for name in plugin.resources
            )


def test_the_order_is_total_and_names_are_unique():
    orders = [plugin.order for plugin in PLUGINS.values()]
    assert sorted(set(orders)) == sorted(orders)
    names = [plugin.name for plugin in PLUGINS.values()]
    assert sorted(set(names)) == sorted(names)


@every_plugin
def test_it_changes_copies_and_nothing_the_second_time(plugin):
    cluster = worlds.booted()
    revision = cluster.store.revision
    for kind, obj in creations(plugin):
        before = copy.deepcopy(obj)
        once = obj if plugin.mutate is None else plugin.mutate(attributes(cluster, kind, obj))
        assert obj == before, f"{plugin.name} mutates the {kind.kind} that it is given"
        if plugin.mutate is not None:
            assert plugin.mutate(attributes(cluster, kind, once)) == once
        if plugin.validate is not None:
            try:
                plugin.validate(attributes(cluster, kind, once))
            except StatusError as error:
                assert error.code in (403, 404, 409, 422), error.message  # noqa: PT017
            assert obj == before
    assert cluster.store.revision == revision


def test_somebody_looks_at_creations_of_pods():
    names = {plugin.name for plugin in PLUGINS.values() if plugin.handles("CREATE", "pods", "")}
    assert {
        "NamespaceLifecycle",
        "ServiceAccount",
        "Priority",
        "DefaultTolerationSeconds",
        "LimitRanger",
        "ResourceQuota",
        "PodSecurity",
    } <= names
