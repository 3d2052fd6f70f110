"""A namespace's quota is used up: the pods of a release are not even made, and the rollout stands still."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._admission import (
    QUOTAS,
    comes_to_roll_out,
    in_the_end,
    pods_not_made,
    release,
    rolls_by_surge,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._resources import resources_of, set_resources
from env_core.faults._words import (
    container_of,
    deployments,
    owner_of,
    pass_time,
    patch_container,
    restarted,
    runs_image,
    waits,
)
from env_core.faults.oversized_request import requests_what_it_uses
from env_core.objects.quantity import to_bytes, to_milli
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

_MIB: Final = 1 << 20
_WAITS_S: Final = (60, 110, 170)
_NAMES: Final = ("load-test", "replay", "bench", "soak")
_NOTES: Final = (
    "load test of last week, results are in; may be removed",
    "replay of March for the capacity review, done; can go",
    "soak run, finished; m.okafor does not need it any more",
)
_IMAGE: Final = "busybox:1.36"
_RESOURCES: Final = ("cpu", "memory")


class _Room:
    """What a namespace's quota leaves of a resource, and what one pod of a workload takes of it."""

    def __init__(self, cluster: Cluster, place: Workload, resource: str) -> None:
        self.measure: Callable[[str], int] = (
            to_milli if resource == "cpu" else lambda text: to_bytes(text) // _MIB
        )
        key = f"requests.{resource}"
        store = cluster.store
        quotas = [each for each in store.list(QUOTAS, place.namespace) if key in each["spec"].get("hard", {})]
        self.quota = quotas[0]["metadata"]["name"] if quotas else ""
        self.left = 0
        if quotas:
            status = quotas[0]["status"]
            self.left = self.measure(status["hard"][key]) - self.measure(status["used"][key])
        owner = store.get(place.resource, place.namespace, place.name)
        assert owner is not None
        requests = container_of(owner, place.container).get("resources", {}).get("requests") or {}
        self.pod = self.measure(str(requests.get(resource, "0")))
        limits = [
            entry["max"][resource]
            for each in store.list("limitranges", place.namespace)
            for entry in each["spec"]["limits"]
            if resource in entry.get("max", {})
        ]
        self.largest = self.measure(str(limits[0])) if limits else self.left


# Leftovers of the same team


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        if (place := base.workloads[role]).later_tags
        and rolls_by_surge(base, place)
        and _Room(base.cluster, place, "cpu").quota
        and _Room(base.cluster, place, "cpu").pod
    )


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    resource = stream.choice(_RESOURCES)
    room = _Room(base.cluster, place, resource)
    count = -(-room.left // min(room.largest, 700 if resource == "cpu" else 1400))
    return {
        "resource": resource,
        "quota": room.quota,
        "count": str(count),
        "amount": f"{room.left // count}{'m' if resource == 'cpu' else 'Mi'}",
        "leftover": stream.choice(_NAMES),
        "note": stream.choice(_NOTES),
        "tag": place.later_tags[0],
        "before_s": str(stream.choice(_WAITS_S) + stream.below(60)),
        "wait_s": str(stream.choice(_WAITS_S) + stream.below(30)),
    }


def _leftover(case: Case) -> Object:
    name, amount = case.params["leftover"], {case.params["resource"]: case.params["amount"]}
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    part_of = (owner["metadata"].get("labels") or {}).get("app.kubernetes.io/part-of")
    labels = {"run": name, **({"app.kubernetes.io/part-of": part_of} if part_of else {})}
    container = {
        "name": "run", "image": _IMAGE, "command": ["sleep", "604800"], "resources": {"requests": amount, "limits": amount},
    }  # fmt: skip
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name, "namespace": case.namespace, "labels": labels, "annotations": {"description": case.params["note"]},
        },
        "spec": {
            "replicas": int(case.params["count"]),
            "selector": {"matchLabels": {"run": name}},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }  # fmt: skip


def _inject(case: Case, cluster: Cluster) -> None:
    cluster.client(COLLEAGUE).create("deployments.apps", case.namespace, _leftover(case))
    cluster.advance(int(case.params["before_s"]) * 1_000)
    release(case, cluster, case.params["tag"])
    pass_time(cluster, case)


def _without_surge(case: Case) -> str:
    strategy = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    body = json.dumps({"spec": {"strategy": strategy}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _another(case: Case) -> Workload:
    return next(
        place
        for place in case.base.workloads.values()
        if place.namespace == case.namespace
        and place.name != case.name
        and place.resource == "deployments.apps"
    )


def _restart(case: Case) -> tuple[str, ...]:
    return (restarted(case),)


def _can_roll(case: Case) -> Check:
    """The next release can begin: its first pod fits into the quota, or an old pod goes before it comes."""

    def fails(view: View) -> str:
        rolling = owner_of(view, case)["spec"]["strategy"].get("rollingUpdate") or {}
        if rolling.get("maxSurge") in (0, "0", "0%"):
            return ""
        room = _Room(view.cluster, case.place, case.params["resource"])
        return "" if room.left >= room.pod else f"quota {room.quota} has no room for a pod of {case.name}"

    return in_the_end(Check(f"{case.name} can be released", fails))


def _good(case: Case) -> tuple[str, ...]:
    return (case.place.tag, *case.place.later_tags)


def _bad_release(case: Case) -> str:
    image = f"{case.place.image.rpartition(':')[0]}:{(case.place.failing_tags or ('latest',))[0]}"
    return f"kubectl -n {case.namespace} set image deployment/{case.name} {case.place.container}={image}"


# A release that wants more than the quota has


def _tight(base: Base) -> tuple[str, ...]:
    """Return the roles whose pods, each as large as a container may be, do not all fit the quota."""
    found = []
    for role in _places(base):
        place = base.workloads[role]
        room = _Room(base.cluster, place, "cpu")
        if room.left - (place.replicas - 1) * (room.largest - room.pod) < room.largest:
            found.append(role)
    return tuple(found)


def _large_params(stream: Stream, base: Base, place: Workload) -> Params:
    room = _Room(base.cluster, place, "cpu")
    return {
        "quota": room.quota,
        "amount": str(room.largest // 1000),
        **waits(stream, _WAITS_S),
    }


def _enlarge(case: Case, cluster: Cluster) -> None:
    amount = {"cpu": case.params["amount"]}
    patch_container(cluster, case.place, {"resources": {"requests": amount, "limits": amount}})
    pass_time(cluster, case)


def _zero(case: Case) -> str:
    return f"kubectl -n {case.namespace} set resources deployment/{case.name} -c {case.place.container} --requests=cpu=10m,memory=8Mi"


FAMILY = Family(
    id="AD-03",
    tier=1,
    summary="The quota of a namespace is used up, so that pods are not made.",
    partners=("RS-05", "AD-05", "AD-10"),
    source="kubernetes.io/docs/concepts/policy/resource-quotas; tests/golden/l2 (FailedCreate); FAULTS AD-03",
    faults=(
        Fault(
            id="leftovers",
            sign=Sign.RELEASE,
            level=2,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_not_made(case, "exceeded quota"),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows=f"exceeded quota: {case.params['quota']}"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.params['leftover']} -o yaml",
                    shows=case.params["note"],
                ),
            ),
            repaired_when=lambda case: (
                _can_roll(case),
                comes_to_roll_out(case),
                runs_image(case, *_good(case)),
            ),
            allowed=lambda case: (
                case.allow(case.container("image")),
                case.allow("spec.strategy"),
                case.allow(ADDED, name=case.params["leftover"]),
            ),
            repairs=(
                lambda case: (
                    f"kubectl -n {case.namespace} delete deployment {case.params['leftover']}",
                    f"kubectl rollout status {case.target} --timeout=5m",
                ),
                lambda case: (
                    f"kubectl -n {case.namespace} scale deployment {case.params['leftover']} --replicas=0",
                ),
                lambda case: (_without_surge(case), f"kubectl rollout status {case.target} --timeout=5m"),
            ),
            decoys=(
                Decoy(script=lambda case: (f"kubectl rollout undo {case.target}",)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete deployment {_another(case).name}",
                    ),
                    is_harmful=True,
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete deployment {case.params['leftover']}",
                        _bad_release(case),
                    )
                ),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment",
                namespace=case.namespace,
                name=case.params["leftover"],
                mechanism=Mechanism.QUOTA,
            ),
        ),
        Fault(
            id="larger-than-quota",
            sign=Sign.RELEASE,
            level=1,
            places=_tight,
            params=_large_params,
            inject=_enlarge,
            symptoms=lambda case: (pods_not_made(case, "exceeded quota"),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows=f"exceeded quota: {case.params['quota']}"),
            ),
            repaired_when=lambda case: (requests_what_it_uses(case), comes_to_roll_out(case)),
            allowed=lambda case: (case.allow(case.container("resources")),),
            repairs=(
                lambda case: (set_resources(case, resources_of(case.base, case.place)),),
                lambda case: (f"kubectl rollout undo {case.target}",),
            ),
            decoys=(
                Decoy(script=lambda case: (_without_surge(case),)),
                Decoy(script=lambda case: (_zero(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete deployment {_another(case).name}",
                    ),
                    is_harmful=True,
                ),
                Decoy(script=_restart),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.QUOTA
            ),
        ),
    ),
)
