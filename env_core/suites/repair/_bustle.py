"""What colleagues do in a cluster on an ordinary day: harmless edits, before anything breaks and while it is broken.

Without them the newest edit of all would be the culprit. All of them go through the API, the healthy world has them too, and none
touches what the fault breaks. A morning belongs to a world and is built once; the edits of the incident itself are the case's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.apiserver.people import Act
from env_core.apiserver.request import Identity
from env_core.apiserver.store import ObjectRef
from env_core.cluster import Cluster
from env_core.faults import Case, Fault
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.apps import base
from env_core.scenarios.platform import wait_healthy
from env_core.sim.rng import Stream, Streams
from env_core.sim.timefmt import rfc3339
from env_core.verify.changes import Snapshot, declared, snapshot
from env_core.world import Object

MORNINGS: Final = 3
"""How many mornings each world has."""
_PEOPLE: Final = tuple(
    Identity(name, ("on-call", "system:authenticated")) for name in ("a.lindqvist", "s.moreau", "release-bot")
)
"""Nobody whom a fault, a goal or the judge asks about."""
_MORNING_MS: Final = 200_000
_DEPLOYMENTS: Final = "deployments.apps"
_MAPS: Final = "configmaps"
_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "example.com/owner": ("team-blue", "team-green", "platform", "payments-crew"),
    "example.com/runbook": ("wiki/3041", "wiki/1177", "wiki/2290", "wiki/0815"),
    "example.com/reviewed-by": ("a.lindqvist", "s.moreau", "k.tanaka"),
    "example.com/ticket": ("OPS-4410", "OPS-4417", "OPS-4423", "OPS-4431"),
    "example.com/cost-centre": ("1200", "1340", "1755"),
}
_KEYS: Final = ("OWNER_CHANNEL", "LAST_REVIEW", "DASHBOARD_ID", "ESCALATION")
"""Keys of maps that no program reads."""
_NOTABLE: Final = (
    _DEPLOYMENTS,
    _DEPLOYMENTS,
    "services",
    "services",
    _MAPS,
    _MAPS,
    "secrets",
    "statefulsets.apps",
    "cronjobs.batch",
    "ingresses.networking.k8s.io",
    "networkpolicies.networking.k8s.io",
    "horizontalpodautoscalers.autoscaling",
    "poddisruptionbudgets.policy",
    "serviceaccounts",
    "persistentvolumeclaims",
    "nodes",
)
_PARKED: Final = 5
_WIRING: Final = ("env", "envFrom", "volumeMounts")
"""What a variant has not got yet while it is being prepared."""
_EDITS_MAX: Final = 9
_ROLLS_MAX: Final = 5
_FIRST_MS: Final = 1_500
_BURST_MAX: Final = 3
_SPAN_MS: Final = (90_000, 1_500_000)

Place = tuple[str, str]
"""A namespace and a name in it."""


class Planned(NamedTuple):
    """An edit, and how long after the beginning somebody makes it."""

    after_ms: int
    act: Act


def plan(cluster: Cluster, edits: Sequence[Planned]) -> None:
    """Let people make edits in the time that comes."""
    for edit in edits:
        cluster.people.plan(cluster.now_ms + edit.after_ms, edit.act)


def made(cluster: Cluster, begin_ms: int, edits: Sequence[Planned]) -> tuple[Act, ...]:
    """Drop the edits that nobody has come to, and return those that were made and not refused, oldest first."""
    written = {
        (record.at_ms, record.user, record.resource, record.namespace, record.name)
        for record in cluster.server.audit.records()
        if record.code < 400
    }
    found = []
    for edit in sorted(edits):
        act, at_ms = edit.act, begin_ms + edit.after_ms
        cluster.people.drop(act)
        # A creation names nothing: it is sent to the collection.
        name = "" if act.verb == "create" else act.name
        if (at_ms, act.who.name, act.resource, act.namespace, name) in written:
            found.append(act)
    return tuple(found)


def healthy(before: Cluster, acts: Sequence[Act]) -> Cluster:
    """Return the healthy world with edits made in it: what the broken world would be if nothing had broken."""
    twin = before.fork()
    for act in acts:
        twin.people.do(act)
    return twin


def baseline(before: Snapshot, twin: Cluster, broken: Cluster, acts: Sequence[Act]) -> Snapshot:
    """Return a snapshot with edits made in it. What was made anew is the broken world's own: its uid is another's in the twin."""
    found = dict(before)
    for act in acts:
        ref = ObjectRef(act.resource, act.namespace, act.name)
        obj = (broken if act.verb == "create" else twin).store.get(*ref)
        if obj is not None:
            found[ref] = declared(ref, obj)
    return found


# The morning


@lru_cache(maxsize=128)
def morning(app: str, number: int, which: int) -> Base:
    """Return a world of an application after one of its mornings; callers fork its cluster and never change it."""
    world = base(app, number)
    cluster = world.cluster.fork(world.cluster.streams.seed + 1_000 * (which + 1))
    stream = Streams(which).stream("morning", app, number)
    plan(cluster, _morning_of(stream, world, cluster))
    cluster.advance(_MORNING_MS)
    for namespace in world.namespaces:
        wait_healthy(cluster, namespace)
    return replace(world, cluster=cluster)


@lru_cache(maxsize=128)
def morning_snapshot(app: str, number: int, which: int) -> Snapshot:
    """Return what counts of a world after a morning."""
    return snapshot(morning(app, number, which).cluster)


def _morning_of(stream: Stream, world: Base, cluster: Cluster) -> list[Planned]:
    places = [
        each
        for each in world.workloads.values()
        if each.resource == _DEPLOYMENTS and not each.is_shared and not each.claims
    ]
    found = [
        Planned(at_ms, _parked(stream, other, cluster))
        for at_ms, other in zip(_moments(stream, _PARKED, 1_000, _MORNING_MS // 2), stream.shuffled(places))
    ]
    for at_ms in _moments(stream, stream.between(6, 9), 4_000, _MORNING_MS - 4_000):
        other = stream.choice(places)
        kind = stream.below(6)
        if kind == 0 and at_ms < _MORNING_MS // 2:
            found.append(Planned(at_ms, _restart(stream, other, cluster.now_ms + at_ms)))
        elif kind == 1 and other.service:
            found.append(Planned(at_ms, _note(stream, "services", other.namespace, other.service)))
        elif kind == 2:
            found.append(Planned(at_ms, _new_map(stream, other.namespace)))
        elif kind == 3:
            name = f"{other.name}-config"
            if cluster.store.get(_MAPS, other.namespace, name) is not None:
                found.append(Planned(at_ms, _key(stream, other.namespace, name)))
        elif kind == 4:
            found.append(Planned(at_ms, _limit(stream, other)))
        else:
            found.append(Planned(at_ms, _note(stream, _DEPLOYMENTS, other.namespace, other.name)))
    return _unlike(found)


# While it is broken


def drawn(case: Case, fault: Fault, before: Cluster) -> tuple[Planned, ...]:
    """Return what people do from the moment on in which the incident begins; what is not done when somebody pages is dropped."""
    stream = Streams(case.seed).stream("bustle", case.base.app, case.place.role, fault.id)
    span_ms = 1_000 * sum(int(value) for name, value in case.params.items() if name.endswith("_s"))
    span_ms = min(max(span_ms, _SPAN_MS[0]), _SPAN_MS[1])
    objects = _untouched(case, fault, before)
    resources = [each for each in _NOTABLE if objects[each]]
    parked = _without_pods(objects[_DEPLOYMENTS], case, before)
    places = [
        each
        for each in case.base.workloads.values()
        if (each.namespace, each.name) in objects[_DEPLOYMENTS] and not each.claims
    ]
    rolled = stream.shuffled(parked)[: stream.below(_ROLLS_MAX + 1)]
    found = [
        Planned(at_ms, _rolled(stream, *each, before.now_ms + at_ms))
        for at_ms, each in zip(_moments(stream, len(rolled), _FIRST_MS, span_ms), rolled)
    ]
    for at_ms in _moments(stream, stream.below(_EDITS_MAX + 1), _FIRST_MS, span_ms):
        kind = stream.below(6)
        if kind == 0 and places:
            act = _parked(stream, stream.choice(places), before)
        elif kind in (1, 2) or not resources:
            act = _new_map(stream, case.namespace)
        else:
            resource = stream.choice(resources)
            act = _edit(stream, resource, *stream.choice(objects[resource]))
        found.append(Planned(at_ms, act))
    return tuple(_unlike(found))


def _moments(stream: Stream, count: int, first_ms: int, last_ms: int) -> list[int]:
    """Return so many moments in bursts, as people work: a few edits one after the other, and then a pause."""
    found: list[int] = []
    while len(found) < count:
        at_ms = stream.between(first_ms, last_ms)
        for _ in range(min(stream.between(1, _BURST_MAX), count - len(found))):
            found.append(min(at_ms, last_ms))
            at_ms += stream.between(3_000, 20_000)
    return found


def _unlike(edits: Sequence[Planned]) -> list[Planned]:
    """Return the edits without those that say the same again: an agenda holds each act once."""
    return list({edit.act: edit for edit in edits}.values())


def _untouched(case: Case, fault: Fault, before: Cluster) -> dict[str, list[Place]]:
    """Return by resource the objects of the application that neither the fault nor its repairs have to do with."""
    own = {case.place.name, case.place.service, *case.place.claims, *(need.name for need in case.place.needs)}
    own |= {entry.name for entry in fault.allowed(case)} | {
        name for truth in fault.causes(case) for name in (truth.name, *truth.alike)
    }
    own |= {each.name for role, each in case.base.workloads.items() if role in case.params.values()}
    own |= {each.name for each in case.base.managed.values()} | set(case.params.values())
    parts = tuple(f"{name}-" for name in own if name)
    found: dict[str, list[Place]] = {}
    for resource in dict.fromkeys(_NOTABLE):
        for namespace in ("",) if resource == "nodes" else case.base.namespaces:
            found.setdefault(resource, []).extend(
                (namespace, obj["metadata"]["name"])
                for obj in before.store.list(resource, namespace)
                if obj["metadata"]["name"] not in own
                and not obj["metadata"]["name"].startswith(parts)
                and not obj["metadata"].get("ownerReferences")
                and not _is_the_clusters(obj)
            )
    return found


def _is_the_clusters(obj: Object) -> bool:
    return obj["metadata"]["name"] in ("kube-root-ca.crt", "default")


def _without_pods(own: Sequence[Place], case: Case, before: Cluster) -> list[Place]:
    """Return the Deployments without pods, other teams' among them: a new revision costs nobody anything, whatever is broken."""
    others = [
        (space["metadata"]["name"], obj["metadata"]["name"])
        for space in before.store.list("namespaces", "")
        if space["metadata"]["name"] not in case.base.namespaces
        for obj in before.store.list(_DEPLOYMENTS, space["metadata"]["name"])
    ]
    return [
        place
        for place in (*own, *others)
        if (before.store.get(_DEPLOYMENTS, *place) or {"spec": {}})["spec"].get("replicas", 1) == 0
    ]


# The edits


def _act(stream: Stream, verb: str, resource: str, namespace: str, name: str, body: Object) -> Act:
    return Act(stream.choice(_PEOPLE), verb, resource, namespace, name, json.dumps(body, sort_keys=True))


def _edit(stream: Stream, resource: str, namespace: str, name: str) -> Act:
    if resource == _MAPS and name.endswith("-config") and stream.below(2):
        return _key(stream, namespace, name)
    if resource == "cronjobs.batch":
        limits = {
            "successfulJobsHistoryLimit": stream.between(4, 6),
            "failedJobsHistoryLimit": stream.between(2, 4),
        }
        return _act(stream, "patch", resource, namespace, name, {"spec": limits})
    if resource == _DEPLOYMENTS and stream.below(2):
        return _act(
            stream,
            "patch",
            resource,
            namespace,
            name,
            {"spec": {"revisionHistoryLimit": stream.between(11, 20)}},
        )
    return _note(stream, resource, namespace, name)


def _note(stream: Stream, resource: str, namespace: str, name: str) -> Act:
    key = stream.choice(sorted(_NOTES))
    place = "labels" if resource == "nodes" else "annotations"
    value = stream.choice(_NOTES[key]).replace("/", "-")
    return _act(stream, "patch", resource, namespace, name, {"metadata": {place: {key: value}}})


def _key(stream: Stream, namespace: str, name: str) -> Act:
    data = {stream.choice(_KEYS): f"{stream.choice(('sre', 'shift', 'web'))}-{stream.below(900) + 100}"}
    return _act(stream, "patch", _MAPS, namespace, name, {"data": data})


def _new_map(stream: Stream, namespace: str) -> Act:
    name = f"{stream.choice(('notes', 'dashboard', 'handover', 'banner'))}-{stream.suffix()}"
    body: Object = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace},
        "data": {"text": stream.choice(("see the wiki", "nothing to report", "maintenance on Sunday", "version 2"))},
    }  # fmt: skip
    return _act(stream, "create", _MAPS, namespace, name, body)


def _parked(stream: Stream, other: Workload, cluster: Cluster) -> Act:
    """Return that somebody prepares a variant of a workload, without pods for now; no Service selects what it would make."""
    name = f"{other.name}-{stream.choice(('next', 'spike', 'poc', 'v2'))}-{stream.suffix(3)}"
    own = dict.fromkeys(other.labels, name)
    live = cluster.store.get(other.resource, other.namespace, other.name) or {
        "metadata": {},
        "spec": {"template": {}},
    }
    template = live["spec"]["template"]
    labels = {**(template.get("metadata") or {}).get("labels", {}), **own}
    spec = {key: value for key, value in template.get("spec", {}).items() if key != "volumes"}
    spec["containers"] = [
        {key: value for key, value in each.items() if key not in _WIRING}
        for each in spec.get("containers", ())
    ]
    body: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name, "namespace": other.namespace, "labels": {**live["metadata"].get("labels", {}), **own},
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": own},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }  # fmt: skip
    return _act(stream, "create", _DEPLOYMENTS, other.namespace, name, body)


def _limit(stream: Stream, other: Workload) -> Act:
    spec = {"revisionHistoryLimit": stream.between(11, 20)}
    return _act(stream, "patch", _DEPLOYMENTS, other.namespace, other.name, {"spec": spec})


def _restart(stream: Stream, other: Workload, at_ms: int) -> Act:
    return _rolled(stream, other.namespace, other.name, at_ms)


def _rolled(stream: Stream, namespace: str, name: str, at_ms: int) -> Act:
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(at_ms)}
    body = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    return _act(stream, "patch", _DEPLOYMENTS, namespace, name, body)
