"""What counts as a difference between two moments of an object."""

import pytest

from env_core.verify.changes import object_changes as changes_of

DEPLOYMENTS = "deployments.apps"


def object_changes(old, new, resource=DEPLOYMENTS):
    return changes_of(old, new, resource)


def owner(*containers):
    return {
        "metadata": {"uid": "u", "name": "cart"},
        "spec": {"template": {"spec": {"containers": [*containers]}}},
    }


def container(*env, name="cart"):
    return {"name": name, "env": [{"name": key, "value": value} for key, value in env]}


def test_the_order_of_variables_counts_only_where_one_is_built_from_others():
    one, two = ("HOST", "redis"), ("PORT", "6379")
    assert object_changes(owner(container(one, two)), owner(container(two, one))) == []
    url = ("URL", "redis://$(HOST)")
    assert object_changes(owner(container(one, url)), owner(container(url, one))) == [
        "spec.template.spec.containers[cart].env"
    ]


def test_the_order_of_containers_counts():
    first, second = container(name="cart"), container(name="proxy")
    assert object_changes(owner(first, second), owner(second, first)) == ["spec.template.spec.containers"]


def test_a_changed_variable_is_named():
    before, after = owner(container(("HOST", "redis"))), owner(container(("HOST", "cache")))
    assert object_changes(before, after) == ["spec.template.spec.containers[cart].env[HOST].value"]


def noted(resource, place, name):
    """Return an object with and without an annotation, on itself or on its pod template."""
    notes = {"annotations": {name: "said"}}
    if place == "object":
        return {"metadata": {"uid": "u"}}, {"metadata": {"uid": "u", **notes}}
    return tuple({"metadata": {"uid": "u"}, "spec": {"template": {"metadata": each}}} for each in ({}, notes))


@pytest.mark.parametrize(
    ("resource", "place", "name"),
    [
        ("configmaps", "object", "kubectl.kubernetes.io/last-applied-configuration"),
        (DEPLOYMENTS, "object", "kubernetes.io/change-cause"),
        (DEPLOYMENTS, "object", "deployment.kubernetes.io/revision"),
        (DEPLOYMENTS, "template", "kubectl.kubernetes.io/restartedAt"),
        ("persistentvolumeclaims", "object", "volume.kubernetes.io/selected-node"),
        ("nodes", "object", "node.alpha.kubernetes.io/ttl"),
    ],
)
def test_what_kubectl_and_controllers_note_is_no_change(resource, place, name):
    assert object_changes(*noted(resource, place, name), resource) == []


@pytest.mark.parametrize(
    ("resource", "place", "name"),
    [
        (DEPLOYMENTS, "object", "kubectl.kubernetes.io/junk"),
        (DEPLOYMENTS, "object", "kubectl.kubernetes.io/restartedAt"),
        (DEPLOYMENTS, "object", "pv.kubernetes.io/bind-completed"),
        (DEPLOYMENTS, "template", "kubectl.kubernetes.io/default-container"),
        (DEPLOYMENTS, "template", "kubernetes.io/change-cause"),
        ("services", "object", "deployment.kubernetes.io/revision"),
        ("configmaps", "object", "control-plane.alpha.kubernetes.io/leader"),
        ("persistentvolumeclaims", "object", "volume.beta.kubernetes.io/storage-class"),
        ("nodes", "object", "node.alpha.kubernetes.io/junk"),
    ],
)
def test_anything_else_under_a_reserved_prefix_is_a_change(resource, place, name):
    assert len(object_changes(*noted(resource, place, name), resource)) == 1
