"""The vocabulary of storage's families: places with claims, the claim as it is now, and what must hold of it."""

from __future__ import annotations

import json
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Script
from env_core.faults._words import deleted, owner_of, restarted
from env_core.objects.quantity import to_bytes
from env_core.objects.volume_claims import size_bytes
from env_core.programs._disks import place_of
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.timefmt import rfc3339
from env_core.verify.checks import Check
from env_core.verify.data import records_kept, writes_outlast_pods
from env_core.verify.trials import Trial
from env_core.verify.view import View
from env_core.world import Object

CLAIMS: Final = "persistentvolumeclaims"
CLASSES: Final = "storageclasses.storage.k8s.io"
VOLUMES: Final = "persistentvolumes"


def with_claims(base: Base) -> tuple[str, ...]:
    """Return the roles of Deployments that keep their data on a claim that is mounted alone."""
    return tuple(
        role
        for role, workload in base.workloads.items()
        if workload.resource == "deployments.apps" and workload.claims and workload.replicas == 1
    )


def stateful_databases(base: Base) -> tuple[str, ...]:
    """Return the roles of databases under a StatefulSet."""
    return tuple(
        role
        for role, workload in base.workloads.items()
        if workload.resource == "statefulsets.apps" and workload.protocol
    )


def original_claim(base: Base, place: Workload) -> Object:
    """Return the workload's claim as it was in the healthy world."""
    found = base.cluster.store.get(CLAIMS, place.namespace, place.claims[0])
    assert found is not None
    return found


def manifest_of(claim: Object, class_name: str | None, name: str = "", size: str = "") -> Object:
    """Return a claim's manifest with another class; without one if the class is None."""
    spec: Object = {
        "accessModes": claim["spec"]["accessModes"],
        "resources": {"requests": {"storage": size or claim["spec"]["resources"]["requests"]["storage"]}},
    }
    if class_name is not None:
        spec["storageClassName"] = class_name
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name or claim["metadata"]["name"],
            "namespace": claim["metadata"]["namespace"],
            "labels": claim["metadata"].get("labels") or {},
        },
        "spec": spec,
    }


def applied(manifest: Object) -> str:
    """Return the command line that applies a manifest."""
    return f"cat <<'EOF' | kubectl apply -f -\n{json.dumps(manifest)}\nEOF"


def stopped_and(case: Case, *lines: str) -> Script:
    """Return the script that stops the workload for some command lines."""
    scale = f"kubectl -n {case.namespace} scale {_target(case)} --replicas="
    return (f"{scale}0", *lines, f"{scale}{case.place.replicas}")


def remade(case: Case, class_name: str | None) -> Script:
    """Return the script that deletes the workload's claim and makes it again with a class."""
    claim = original_claim(case.base, case.place)
    delete = f"kubectl -n {case.namespace} delete pvc {claim['metadata']['name']}"
    return stopped_and(case, delete, applied(manifest_of(claim, class_name)))


def _target(case: Case) -> str:
    return case.target.rpartition(" ")[2]


def volume_name(case: Case) -> str:
    """Return the name of the volume in the workload's template through which it mounts its claim."""
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    for volume in owner["spec"]["template"]["spec"].get("volumes") or ():
        if (volume.get("persistentVolumeClaim") or {}).get("claimName") == case.place.claims[0]:
            return str(volume["name"])
    raise KeyError(case.place.claims[0])


def mount_path(case: Case) -> str:
    """Return where the broken container mounts its claim."""
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    found = _mounts(owner, case)
    return next(path for path, name in found.items() if name == volume_name(case))


def _mounts(owner: Object, case: Case) -> dict[str, str]:
    for container in owner["spec"]["template"]["spec"]["containers"]:
        if container["name"] == case.place.container:
            return {mount["mountPath"]: mount["name"] for mount in container.get("volumeMounts") or ()}
    return {}


def other_volume(case: Case, volume: Object) -> str:
    """Return the command line that gives the workload another volume in place of its claim."""
    entry = {"name": volume_name(case), "$retainKeys": ["name", *volume], **volume}
    body = json.dumps({"spec": {"template": {"spec": {"volumes": [entry]}}}})
    return f"kubectl -n {case.namespace} patch {_target(case)} -p '{body}'"


def move_claim(case: Case, cluster: Cluster, manifest: Object) -> None:
    """Let a colleague move the workload to another disk: stop it, make its claim anew, start it again."""
    colleague = cluster.client(COLLEAGUE)
    _scale(case, cluster, 0)
    cluster.advance(50_000)
    colleague.delete(CLAIMS, case.namespace, case.place.claims[0])
    cluster.advance(8_000)
    colleague.create(CLAIMS, case.namespace, manifest)
    cluster.advance(4_000)
    _scale(case, cluster, case.place.replicas)


def _scale(case: Case, cluster: Cluster, replicas: int) -> None:
    client = cluster.client(COLLEAGUE)
    client.patch(case.place.resource, case.namespace, case.name, {"spec": {"replicas": replicas}})


# Symptoms


def claim_pends(case: Case) -> Check:
    """The workload's claim is bound to no volume."""

    def fails(view: View) -> str:
        claim = view.get(CLAIMS, case.namespace, case.place.claims[0])
        phase = (claim or {}).get("status", {}).get("phase")
        return "" if phase == "Pending" else f"claim {case.place.claims[0]} is {phase}"

    return Check("claim is pending", fails)


def pods_end(case: Case) -> Check:
    """Some container of the workload's pods has ended by itself and is not ready."""

    def fails(view: View) -> str:
        for pod in view.list("pods", case.namespace):
            for status in pod.get("status", {}).get("containerStatuses") or ():
                ended = status.get("lastState", {}).get("terminated") or status.get("state", {}).get(
                    "terminated"
                )
                if pod["metadata"]["name"].startswith(case.name) and ended and not status["ready"]:
                    return ""
        return f"no container of {case.name} has ended"

    return Check("pods end", fails)


# Goals


def keeps_data_on_claim(case: Case) -> Check:
    """The workload mounts, where it always did, a bound claim that is no smaller and no less its own than before."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        name = _mounts(owner, case).get(mount_path(case), "")
        claim = _claim_of(view, owner, name)
        if claim is None:
            return f"{case.name} keeps its data on no claim"
        if claim.get("status", {}).get("phase") != "Bound":
            return f"claim {claim['metadata']['name']} is not bound"
        volume = view.get(VOLUMES, "", claim["spec"]["volumeName"])
        before = original_claim(case.base, case.place)
        wanted = to_bytes(before["spec"]["resources"]["requests"]["storage"])
        if volume is None or to_bytes(volume["spec"]["capacity"]["storage"]) < wanted:
            return f"claim {claim['metadata']['name']} is smaller than it was"
        if claim["spec"]["accessModes"] != before["spec"]["accessModes"]:
            return f"claim {claim['metadata']['name']} has other access modes"
        return ""

    return Check(f"{case.name} keeps its data on its claim", fails)


def one_writer_at_a_time(case: Case) -> Check:
    """The workload's old pods go before new ones come, so that never two of them need its volume."""

    def fails(view: View) -> str:
        spec = owner_of(view, case)["spec"]
        strategy = spec.get("strategy") or {}
        surge = (strategy.get("rollingUpdate") or {}).get("maxSurge", "25%")
        if strategy.get("type") == "Recreate" or str(surge) in ("0", "0%"):
            return ""
        return f"a roll-out of {case.name} starts a pod before it stops the one that has the volume"

    return Check(f"one pod of {case.name} writes at a time", fails)


def rolls(case: Case, count: int) -> Trial:
    """Return the trial that the workload is rolled out some times more, one after the other."""

    def act(cluster: Cluster) -> None:
        admin = cluster.client()
        for _ in range(count):
            stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
            patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
            admin.patch(case.place.resource, case.namespace, case.name, patch)
            cluster.advance(45_000)

    return Trial("rolls", act)


def volume_never_fills(case: Case) -> Check:
    """What the workload goes on writing stays smaller than its volume, for all time."""

    def fails(view: View) -> str:
        cluster = view.cluster
        size = size_bytes(view.get(CLAIMS, case.namespace, case.place.claims[0]))
        pod = view.get("pods", case.namespace, f"{case.name}-0")
        run = cluster.runtime.run(pod["metadata"]["uid"], case.place.container) if pod else None
        if size is None or run is None or run.launch.fills is None or not run.is_running(view.now_ms):
            return f"{case.name} does not write"
        place = place_of(run.container, run.launch.fills.path)
        if not place.claim:
            return f"{case.name} writes to no claim"
        level = cluster.runtime.disks.level(place.volume)
        if level is None or level.reaches_ms(size) is not None:
            return f"what {case.name} writes will fill its volume"
        return ""

    return Check(f"the volume of {case.name} does not fill up", fails)


def claim_size(base: Base, place: Workload) -> int:
    """Return the size in bytes of the workload's volume in the healthy world."""
    return to_bytes(original_claim(base, place)["spec"]["resources"]["requests"]["storage"])


def _claim_of(view: View, owner: Object, volume: str) -> Object | None:
    for each in owner["spec"]["template"]["spec"].get("volumes") or ():
        claim = (each.get("persistentVolumeClaim") or {}).get("claimName")
        if each["name"] == volume and claim:
            return view.get(CLAIMS, owner["metadata"]["namespace"], claim)
    return None


def data_kept(case: Case) -> tuple[Check, ...]:
    """The database's records are all there, and what it takes now outlasts its pods; nothing for what is no database."""
    place = case.place
    if not place.protocol:
        return ()
    kept = (records_kept(place.database, place.records),) if place.records else ()
    return (*kept, writes_outlast_pods(place.database))


# What families of claims have in common


def claim_is_wrong(case: Case) -> Diagnosis:
    """Return the diagnosis that the workload's claim asks for what there is not."""
    return Diagnosis(
        kind="PersistentVolumeClaim",
        namespace=case.namespace,
        name=case.place.claims[0],
        mechanism=Mechanism.STORAGE,
    )


CLAIM_DECOYS: Final = (
    Decoy(script=lambda case: (other_volume(case, {"emptyDir": {}}),)),
    Decoy(script=lambda case: (restarted(case),)),
    Decoy(script=lambda case: (deleted(case),), is_harmful=True),
)
"""What people try instead of mending the claim: storage that does not last, new pods, no workload."""
