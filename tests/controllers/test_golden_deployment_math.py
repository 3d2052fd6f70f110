from env_core.controllers import _rolling
from env_core.controllers._victims import victims_first
from env_core.sim.timefmt import parse_ms
from tests.controllers.golden import records


def _int_or_text(text):
    return int(text) if text.lstrip("-").isdigit() else text


def _deployment(record, **status):
    surge, unavailable = record.get("maxSurge"), record.get("maxUnavailable")
    strategy = {"type": record.get("type", "RollingUpdate")}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {
            key: _int_or_text(value)
            for key, value in (("maxSurge", surge), ("maxUnavailable", unavailable))
            if value is not None
        }
    return {
        "metadata": {"name": "web", "generation": record.get("generation", 1)},
        "spec": {"replicas": record.get("replicas", 1), "strategy": strategy},
        "status": status,
    }


def _fenceposts(record):
    deployment = _deployment(record)
    surge, unavailable = _rolling.fenceposts(
        _int_or_text(record["maxSurge"]), _int_or_text(record["maxUnavailable"]), record["replicas"]
    )
    most = _rolling.max_unavailable(deployment)
    return {
        "surge": surge,
        "unavailable": unavailable,
        "MaxSurge": _rolling.max_surge(deployment),
        "MaxUnavailable": most,
        "MinAvailable": max(record["replicas"] - most, 0),
    }


def _new_replicas(record):
    total = record["newSpecReplicas"] + record["oldSpecReplicas"]
    return {"result": _rolling.new_replicas(_deployment(record), total, record["newSpecReplicas"])}


def _proportion(record):
    replicaset = {
        "metadata": {"annotations": record["rsAnnotations"] or {}},
        "spec": {"replicas": record["rsReplicas"]},
    }
    deployment = _deployment(record, replicas=record.get("statusReplicas", 0))
    to_add, added = record["deploymentReplicasToAdd"], record["deploymentReplicasAdded"]
    return {"result": _rolling.proportion(replicaset, deployment, to_add, added)}


def _complete(record):
    return {
        "complete": _rolling.is_complete(_deployment(record), record["newStatus"]),
        "progressing": _rolling.is_progressing(record["oldStatus"], record["newStatus"]),
    }


def _timed_out(record):
    known = [record["condition"]] if record.get("condition") else []
    now_ms = parse_ms(record["now"])
    deadline = record.get("progressDeadlineSeconds")
    return {"result": _rolling.has_timed_out(deadline if deadline != 2**31 - 1 else None, known, now_ms)}


_KINDS = {
    "fenceposts": _fenceposts,
    "newRSNewReplicas": _new_replicas,
    "proportion": _proportion,
    "completeProgressing": _complete,
    "timedOut": _timed_out,
}


def test_deployment_arithmetic_agrees_with_upstream():
    wrong = []
    for record in records("deployment_math"):
        got = _KINDS[record["kind"]](record)
        expected = {key: record.get(key) for key in got}
        if got != expected:
            wrong.append((record["id"], got, expected))
    assert not wrong, (len(wrong), wrong[:5])


def test_replica_sets_give_up_pods_in_upstreams_order():
    wrong = []
    for record in records("pod_order"):
        order = [
            pod["metadata"]["name"]
            for pod in victims_first(record["pods"], record["ranks"], parse_ms(record["now"]))
        ]
        if order != record["victimOrder"]:
            wrong.append((record["id"], order, record["victimOrder"]))
    assert not wrong, (len(wrong), wrong[:3])
