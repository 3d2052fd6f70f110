"""Lists of storage classes say which one claims get that name none."""

import json

from tests.catalogue import worlds

RESOURCE = "storageclasses.storage.k8s.io"
MARK = "storageclass.kubernetes.io/is-default-class"


def create(cluster, name, *, is_default):
    body = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": {MARK: json.dumps(is_default)}},
        "provisioner": "example.com/disk",
    }
    cluster.client().create(RESOURCE, "", body)


def names(cluster, line):
    lines = worlds.run(worlds.terminal(cluster), line).stdout.splitlines()
    return [each.split("  ")[0] for each in lines[1:]]


def test_the_class_in_effect_is_marked_in_lists_only():
    cluster = worlds.booted()
    create(cluster, "plain", is_default=False)
    create(cluster, "older", is_default=True)
    cluster.advance(2_000)
    create(cluster, "twin-b", is_default=True)
    create(cluster, "twin-a", is_default=True)
    assert names(cluster, "kubectl get sc") == ["older", "plain", "twin-a (default)", "twin-b"]
    assert names(cluster, "kubectl get sc twin-a") == ["twin-a"]
    cluster.client().delete(RESOURCE, "", "twin-a")
    assert names(cluster, "kubectl get sc") == ["older", "plain", "twin-b (default)"]
