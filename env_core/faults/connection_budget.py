"""The pools of all replicas ask for more connections than the database has: the last to come are turned away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    container_of,
    deployments,
    pass_time,
    pods_unready,
    restarted,
    rolled_out,
    undone,
    waits,
)
from env_core.scenarios._app import UPSTREAM, Base, Need, Workload
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.trials import Trial
from env_core.verify.view import View

_POOL: Final = "DB_POOL_SIZE"
_HOST: Final = "DB_HOST"
_SCALERS: Final = "horizontalpodautoscalers.autoscaling"
_SURGE: Final = 1
"""Pods that a roll-out of the applications' services adds while it goes on."""
_STEPS: Final = (20, 25, 30, 35, 40, 45, 50, 60, 70, 80)
_WAITS_S: Final = (90, 240, 600)
_CALM_S: Final = (240, 600)


class _Client(NamedTuple):
    """A service that holds connections: as many pods as it may have, each with a pool."""

    place: Workload
    now: int
    most: int
    pool: int


def _need(place: Workload, variable: str) -> Need | None:
    return next((need for need in place.needs if need.variable == variable), None)


def _database(base: Base, place: Workload) -> Workload | None:
    host = _need(place, _HOST)
    if host is None or host.kind != UPSTREAM or _need(place, _POOL) is None:
        return None
    return base.workloads.get(host.target)


def _clients(base: Base, database: Workload) -> Iterator[_Client]:
    for role in deployments(base):
        place = base.workloads[role]
        found, need = _database(base, place), _need(place, _POOL)
        if found is database and need is not None:
            owner = base.cluster.store.get(place.resource, place.namespace, place.name)
            assert owner is not None
            scaler = base.cluster.store.get(_SCALERS, place.namespace, place.name)
            now: int = owner["spec"]["replicas"]
            most: int = scaler["spec"]["maxReplicas"] if scaler else now
            yield _Client(place, now, most, int(need.value))


def _connections_max(base: Base, database: Workload) -> int:
    owner = base.cluster.store.get(database.resource, database.namespace, database.name)
    assert owner is not None
    words = container_of(owner, database.container).get("args") or ()
    for option, value in pairwise(words):
        if option == "-c" and value.startswith("max_connections="):
            return int(value.partition("=")[2])
    return 100


def _room(base: Base, place: Workload) -> tuple[int, int]:
    """Return the connections that are left beside the other services' pools, and the pods of this one."""
    database = _database(base, place)
    assert database is not None
    clients = list(_clients(base, database))
    others = sum(each.now * each.pool for each in clients if each.place is not place)
    own = next(each.now for each in clients if each.place is place)
    return _connections_max(base, database) - others, own


def _too_many(base: Base, place: Workload) -> list[int]:
    """Return pool sizes with which not even all pods of a finished roll-out have room."""
    room, pods = _room(base, place)
    return [size for size in _STEPS if size * pods > room and size <= room]


def _too_many_in_a_roll(base: Base, place: Workload) -> list[int]:
    """Return pool sizes with which all pods have room, but no pod more: the first roll-out still goes through."""
    room, pods = _room(base, place)
    need = _need(place, _POOL)
    assert need is not None
    first = int(need.value)
    return [
        size
        for size in range(first + 2, room)
        if size * pods <= room < size * (pods + _SURGE) and (pods - 1) * size + first + size <= room
    ]


def _is_configured(place: Workload) -> bool:
    need = _need(place, _POOL)
    return need is not None and need.source == "configmaps"


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        if _is_configured(base.workloads[role])
        and _database(base, base.workloads[role]) is not None
        and _too_many(base, base.workloads[role])
    )


def _surge_places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in _places(base) if _too_many_in_a_roll(base, base.workloads[role]))


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "pool": str(stream.choice(_too_many(base, place))),
        **waits(stream, _WAITS_S),
    }


def _surge_params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "pool": str(stream.choice(_too_many_in_a_roll(base, place))),
        "calm_s": str(stream.choice(_CALM_S) + stream.below(60)),
        **waits(stream, _WAITS_S),
    }


def _configure(case: Case, cluster: Cluster) -> None:
    need = _need(case.place, _POOL)
    assert need is not None
    patch = {"data": {need.key: case.params["pool"]}}
    cluster.client(DELIVERY).patch("configmaps", case.namespace, need.name, patch)
    cluster.advance(3_000)


def _roll(case: Case, cluster: Cluster) -> None:
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
    patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    cluster.client(DELIVERY).patch(case.place.resource, case.namespace, case.name, patch)


def _inject(case: Case, cluster: Cluster) -> None:
    _configure(case, cluster)
    _roll(case, cluster)
    pass_time(cluster, case)


def _inject_before_a_roll(case: Case, cluster: Cluster) -> None:
    _configure(case, cluster)
    _roll(case, cluster)
    cluster.advance(int(case.params["calm_s"]) * 1_000)
    _roll(case, cluster)
    pass_time(cluster, case)


def pools_fit(case: Case) -> Check:
    """All services' pools, at the most replicas of each and one pod more in a roll-out, fit into the database."""

    def fails(view: View) -> str:
        database = _database(case.base, case.place)
        assert database is not None
        total = surge = 0
        for client in _clients(case.base, database):
            pools = [
                int(view.env_of(pod, client.place.container).get(_POOL) or 5)
                for pod in view.pods_of(client.place.namespace, client.place.name)
            ]
            if not pools:
                return f"{client.place.name} has no pods"
            if client.place is case.place and min(pools) * 2 < client.pool:
                return f"a pool of {min(pools)} is too small for {client.place.name}"
            total += max(pools) * client.most
            surge = max(surge, max(pools) * _SURGE)
        most = _connections_max(case.base, database)
        return (
            f"pools of {total} and {surge} in a roll-out do not fit into {most}"
            if total + surge > most
            else ""
        )

    return Check("pools fit into the database", fails)


def _at_most_replicas(case: Case) -> tuple[Trial, ...]:
    """Return the trial that the load of a peak brings the workload to as many pods as it may have."""
    if case.base.cluster.store.get(_SCALERS, case.namespace, case.name) is None:
        return ()

    def act(cluster: Cluster) -> None:
        scaler = cluster.store.get(_SCALERS, case.namespace, case.name)
        if scaler is not None:
            patch = {"spec": {"minReplicas": scaler["spec"]["maxReplicas"]}}
            cluster.client().patch(_SCALERS, case.namespace, case.name, patch)
            cluster.advance(60_000)

    return (Trial("load", act),)


def _set_pool(case: Case, size: int | str) -> str:
    need = _need(case.place, _POOL)
    assert need is not None
    body = json.dumps({"data": {need.key: str(size)}})
    return f"kubectl -n {case.namespace} patch configmap {need.name} -p '{body}'"


def _good(case: Case) -> int:
    need = _need(case.place, _POOL)
    assert need is not None
    return int(need.value)


def _database_of(case: Case) -> Workload:
    found = _database(case.base, case.place)
    assert found is not None
    return found


def _more_connections(case: Case) -> str:
    database = _database_of(case)
    owner = case.base.cluster.store.get(database.resource, database.namespace, database.name)
    assert owner is not None
    args = [
        "max_connections=400" if word.startswith("max_connections=") else word
        for word in container_of(owner, database.container).get("args") or ()
    ]
    container = {"name": database.container, "args": args}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {database.namespace} patch statefulset {database.name} -p '{body}'"


def _allowed(case: Case) -> tuple[Allowed, ...]:
    need = _need(case.place, _POOL)
    assert need is not None
    return (
        case.allow(f"data.{need.key}", resource="configmaps", name=need.name),
        case.allow(case.container(f"env[{_POOL}]")),
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    need = _need(case.place, _POOL)
    assert need is not None
    database = _database_of(case)
    return (
        Evidence(
            command=f"kubectl -n {database.namespace} logs {database.name}-0 --tail=20",
            shows="sorry, too many clients already",
        ),
        Evidence(
            command=f"kubectl -n {case.namespace} get configmap {need.name} -o yaml",
            shows=f'{need.key}: "{case.params["pool"]}"',
        ),
    )


def _diagnosis(case: Case) -> Diagnosis:
    need = _need(case.place, _POOL)
    assert need is not None
    return Diagnosis(
        kind="ConfigMap", namespace=case.namespace, name=need.name, mechanism=Mechanism.WRONG_CONFIG
    )


_REPAIRS: Final = (
    lambda case: (_set_pool(case, _good(case)), restarted(case)),
    lambda case: (
        f"kubectl -n {case.namespace} set env deployment/{case.name} {_POOL}={max(_good(case) - 1, 2)}",
    ),
)
_DECOYS: Final = (
    Decoy(script=lambda case: (restarted(case),)),
    Decoy(script=lambda case: (undone(case),)),
    Decoy(script=lambda case: (_more_connections(case),)),
    Decoy(
        script=lambda case: (
            f"kubectl -n {_database_of(case).namespace} rollout restart statefulset/{_database_of(case).name}",
        )
    ),
    Decoy(script=lambda case: (_set_pool(case, 1), restarted(case))),
    Decoy(script=lambda case: (f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas=1",)),
)


_RAISED: Final = Fault(
    id="pool-raised",
    sign=Sign.RELEASE,
    places=_places,
    params=_params,
    inject=_inject,
    symptoms=lambda case: (pods_unready(case),),
    evidence=_evidence,
    repaired_when=lambda case: (pools_fit(case), rolled_out(case)),
    allowed=_allowed,
    repairs=_REPAIRS,
    decoys=_DECOYS,
    diagnosis=_diagnosis,
    trials=_at_most_replicas,
    level=3,
)

FAMILY = Family(
    id="AP-04",
    tier=1,
    summary="The pools of all replicas together hold more connections than the database allows.",
    partners=("WC-02", "CF-03", "RS-04"),
    source="tests/golden/programs/postgres (postgres.toomany.all); FAULTS AP-04",
    faults=(
        _RAISED,
        replace(
            _RAISED,
            id="no-room-to-roll",
            places=_surge_places,
            params=_surge_params,
            inject=_inject_before_a_roll,
            level=4,
        ),
    ),
)
