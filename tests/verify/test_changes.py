"""What counts as a difference between two moments of an object."""

from env_core.verify.changes import object_changes


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
