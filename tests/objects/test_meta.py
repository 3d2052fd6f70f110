from env_core.objects import conditions, meta, owners

NOON_MS = 1_768_478_400_000
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-1", "uid": "u1"}}
POD = {
    "kind": "Pod",
    "metadata": {
        "name": "web-1-a",
        "namespace": "shop",
        "labels": {"app": "web"},
        "creationTimestamp": "2026-01-15T12:00:00Z",
        "ownerReferences": [owners.controller_reference(OWNER)],
    },
}


def test_accessors_read_and_default():
    assert meta.key(POD) == ("shop", "web-1-a")
    assert meta.creation_ms(POD) == NOON_MS
    assert meta.label(POD, "app") == "web"
    assert (meta.name({}), meta.uid({}), meta.labels({}), meta.generation({})) == ("", "", {}, 0)
    assert meta.deletion_ms(POD) is None
    assert not meta.is_terminating(POD)


def test_deletion_marks_an_object_as_terminating():
    dying = meta.with_deletion(POD, NOON_MS, 30)
    assert meta.is_terminating(dying)
    assert meta.deletion_ms(dying) == NOON_MS
    assert not meta.is_terminating(POD)


def test_label_changes_copy_and_none_takes_out():
    changed = meta.with_labels(POD, {"app": None, "tier": "front"})
    assert meta.labels(changed) == {"tier": "front"}
    assert meta.labels(POD) == {"app": "web"}
    assert "labels" not in meta.with_labels(POD, {"app": None})["metadata"]


def test_the_controller_is_the_managing_owner():
    assert meta.controller_uid(POD) == "u1"
    assert owners.controlled_by(POD, "u1")
    plain = owners.without_owner(POD, "u1")
    assert meta.controller_of(plain) is None
    assert not owners.owned_by(plain, "u1")
    assert owners.without_owner(plain, "u1") is plain


def test_an_owner_is_referred_to_once():
    twice = owners.with_owner(POD, owners.owner_reference(OWNER))
    assert len(meta.owner_references(twice)) == 1
    assert meta.controller_of(twice) is None
    assert owners.owned_by(twice, "u1")


def test_transition_time_moves_only_with_the_status():
    first = conditions.set_condition(POD, "Ready", "False", "Starting", now_ms=NOON_MS)
    same = conditions.set_condition(first, "Ready", "False", "StillStarting", now_ms=NOON_MS + 5000)
    then = conditions.set_condition(same, "Ready", "True", now_ms=NOON_MS + 9000)
    assert conditions.get(same, "Ready")["lastTransitionTime"] == "2026-01-15T12:00:00Z"
    assert conditions.get(same, "Ready")["reason"] == "StillStarting"
    assert conditions.get(then, "Ready")["lastTransitionTime"] == "2026-01-15T12:00:09Z"
    assert conditions.set_condition(then, "Ready", "True", now_ms=NOON_MS + 20_000) is then
    assert "status" not in POD


def test_a_pod_is_available_once_it_has_been_ready_long_enough():
    ready = conditions.set_condition(POD, "Ready", "True", now_ms=NOON_MS)
    assert conditions.is_pod_ready(ready)
    assert conditions.is_pod_available(ready, 0, NOON_MS)
    assert not conditions.is_pod_available(ready, 10, NOON_MS + 9000)
    assert conditions.is_pod_available(ready, 10, NOON_MS + 10_000)
    assert not conditions.is_pod_available(POD, 0, NOON_MS)


def test_finished_and_terminating_pods_are_not_active():
    assert conditions.is_pod_active(POD)
    assert not conditions.is_pod_active({**POD, "status": {"phase": "Failed"}})
    assert not conditions.is_pod_active(meta.with_deletion(POD, NOON_MS, 30))


def test_conditions_can_be_removed():
    ready = conditions.set_condition(POD, "Ready", "True", now_ms=NOON_MS)
    assert conditions.get(conditions.remove_condition(ready, "Ready"), "Ready") is None
    assert conditions.remove_condition(ready, "Other") is ready
