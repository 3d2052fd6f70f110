from env_core.apiserver.store import LOG_MAX, Store, dump


def pod(name: str, *, node: str = "", owner: str = "", namespace: str = "shop") -> dict:
    metadata: dict = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "kind": "ReplicaSet", "name": "rs", "controller": True}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": node} if node else {},
    }


def names(objects: list) -> list[str]:
    return [obj["metadata"]["name"] for obj in objects]


def test_lists_are_sorted_by_namespace_and_name():
    store = Store()
    for name, namespace in (("b", "shop"), ("a", "web"), ("a", "shop")):
        store.put("pods", pod(name, namespace=namespace))
    assert [(o["metadata"]["namespace"], o["metadata"]["name"]) for o in store.list("pods")] == [
        ("shop", "a"),
        ("shop", "b"),
        ("web", "a"),
    ]
    assert names(store.list("pods", "shop")) == ["a", "b"]
    assert store.count("pods") == 3


def test_every_write_raises_the_revision_and_stamps_the_object():
    store = Store()
    first = store.put("pods", pod("a"))
    second = store.put("pods", pod("a"))
    assert (
        int(second["metadata"]["resourceVersion"])
        == int(first["metadata"]["resourceVersion"]) + 1
        == store.revision
    )


def test_indexes_follow_objects_that_move_and_go():
    store = Store()
    store.put("pods", pod("a", owner="rs-1"))
    store.put("pods", pod("b", owner="rs-1", node="n1"))
    store.put("pods", pod("a", owner="rs-1", node="n1"))
    assert names(store.indexed("node", "n1")) == ["b", "a"]
    assert names(store.owned("rs-1", "pods")) == ["a", "b"]
    store.put("pods", pod("a", owner="rs-2", node="n1"))
    store.remove("pods", "shop", "b")
    assert names(store.indexed("node", "n1")) == ["a"]
    assert store.owned("rs-1") == []
    assert names(store.owned("rs-2")) == ["a"]


def test_a_fork_and_its_parent_do_not_see_each_others_writes():
    store = Store()
    store.put("pods", pod("a", node="n1"))
    fork = store.fork()
    store.put("pods", pod("b", node="n1"))
    fork.remove("pods", "shop", "a")
    assert names(store.list("pods")) == ["a", "b"]
    assert fork.list("pods") == []
    assert names(store.indexed("node", "n1")) == ["a", "b"]
    assert fork.indexed("node", "n1") == []
    second = fork.fork()
    second.put("pods", pod("c"))
    assert fork.list("pods") == []


def test_watch_events_tell_what_happened_since_a_revision():
    store = Store()
    store.put("pods", pod("a"))
    since = store.revision
    store.put("pods", pod("a", node="n1"))
    store.put("pods", pod("b"))
    store.remove("pods", "shop", "a")
    events = store.events_since(since)
    assert events is not None
    assert [(event.type, event.ref.name) for event in events] == [
        ("MODIFIED", "a"),
        ("ADDED", "b"),
        ("DELETED", "a"),
    ]
    assert events[0].old == store.events_since(since - 1)[0].object
    assert events[2].object["metadata"]["resourceVersion"] == str(store.revision)


def test_a_watch_from_too_long_ago_is_told_so():
    store = Store()
    store.put("pods", pod("a"))
    since = store.revision
    for _ in range(LOG_MAX + 1):
        store.put("pods", pod("b"))
    assert store.events_since(since) is None
    assert store.events_since(store.revision - 1) is not None


def test_removing_what_is_not_there_changes_nothing():
    store = Store()
    before = store.revision
    assert store.remove("pods", "shop", "a") is None
    assert store.revision == before
    assert dump(store) == {}
