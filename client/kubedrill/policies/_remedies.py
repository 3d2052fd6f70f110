"""From what runs to repairs: why pods do not start, what a release took away, and what else stops a roll-out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from difflib import get_close_matches

from kubedrill.policies._evidence import Evidence, Json
from kubedrill.policies._repair import Repair
from kubedrill.policies._running import Release, Running

_LOOKBACK = timedelta(minutes=20)
"""What ended longer ago is history: whoever pages means something newer."""
_PATIENCE = timedelta(minutes=2)
"""As long as a sound program may take to become ready."""
_RESTARTS_MIN = 2
"""Once is an accident."""
_SAFEGUARDS = ("readinessProbe", "livenessProbe", "startupProbe", "lifecycle", "requests")
"""What a release takes away only by mistake."""
_PLACEMENT = ("nodeSelector", "affinity", "tolerations", "nodeName")
_MEMORY = re.compile(r"(\d+)(Mi|Gi)")
_NO_ACCOUNT = re.compile(r'serviceaccount "([^"]+)" not found')
_WEBHOOK = re.compile(r"failed calling webhook .*https?://([-a-z0-9]+)\.([-a-z0-9]+)\.svc")


def remedies(evidence: Evidence, running: Running, now: str, classes: tuple[str, ...] = ()) -> list[Repair]:
    """Return the repairs that the state calls for; `classes` are the storage classes that exist."""
    found = [*_claims(evidence, classes), *_writers(evidence), *_autoscalers(evidence)]
    for workload in sorted(evidence.workloads):
        found += _remedy(evidence, running, workload, now)
    return found


def services_asked(evidence: Evidence) -> set[tuple[str, str]]:
    """Return (namespace, service) of every webhook that could not be asked when pods were to be made."""
    found = (_WEBHOOK.search(_refusal(evidence, workload)) for workload in evidence.workloads)
    return {(match[2], match[1]) for match in found if match}


def undo(evidence: Evidence, running: Running, workload: str, release: Release, why: str) -> Iterator[Repair]:
    """Yield the repairs that take a release of a workload back."""
    command = f"kubectl {_target(evidence, 'rollout undo', workload)} --to-revision={release.number_before}"
    yield Repair(command, f"{workload} {why} since its last release")
    stuck = [pod.name for pod in running.of(workload) if pod.is_unwell]
    if evidence.kinds[workload] == "statefulset" and stuck:
        # The controller waits for the pods of the bad revision to become ready before it replaces them.
        yield Repair(
            f"kubectl -n {evidence.namespace} delete pod {' '.join(stuck)}", "they would never be replaced"
        )


def _is_settled(evidence: Evidence, workload: str) -> bool:
    """Whether the workload's last roll-out has come to its end."""
    status, spec = evidence.status(workload), evidence.workloads[workload]
    if evidence.kinds[workload] == "statefulset":
        return bool(status.get("currentRevision") == status.get("updateRevision"))
    progress = [entry for entry in status.get("conditions") or () if entry.get("type") == "Progressing"]
    is_complete = any(entry.get("reason") == "NewReplicaSetAvailable" for entry in progress)
    return is_complete and int(status.get("updatedReplicas") or 0) >= int(spec.get("replicas", 1))


def _remedy(evidence: Evidence, running: Running, workload: str, now: str) -> Iterator[Repair]:
    since, lately = _before(now, _LOOKBACK), _before(now, _PATIENCE)
    latest, release, pods = running.latest(workload), running.release(workload), running.of(workload)
    if evidence.workloads[workload].get("paused"):
        command = f"kubectl {_target(evidence, 'rollout resume', workload)}"
        yield Repair(command, f"{workload} is paused in the middle of a roll-out")
    elif not _is_settled(evidence, workload) and (
        _refusal(evidence, workload)
        or any(pod.is_failing_since(lately) for pod in pods)
        or (latest and latest.made < lately)
    ):
        yield from _roll_out(evidence, running, workload)
    elif any(pod.killed_for_memory_since(since) for pod in pods):
        if release is not None:
            yield from undo(evidence, running, workload, release, "runs out of memory")
        else:
            yield from _more_memory(evidence, workload)
    elif release is not None and (
        release.drops(*_SAFEGUARDS) or sum(pod.restarted_since(since) for pod in pods) >= _RESTARTS_MIN
    ):
        yield from undo(
            evidence, running, workload, release, "restarts again and again, or has lost a safeguard,"
        )


def _roll_out(evidence: Evidence, running: Running, workload: str) -> Iterator[Repair]:
    """Yield what lets a roll-out go on: what it waits for, unless the release itself asks for something else."""
    refusal, release = _refusal(evidence, workload), running.latest(workload)
    unscheduled = " ".join(pod.unscheduled for pod in running.of(workload))
    account = _NO_ACCOUNT.search(refusal)
    if account and not (release and release.touches("serviceAccountName", "serviceAccount")):
        command = f"kubectl -n {evidence.namespace} create serviceaccount {account[1]}"
        yield Repair(command, f"the account of {workload} is gone")
    elif "exceeded quota" in refusal and not (release and release.touches("requests", "limits")):
        yield from _room(evidence)
    elif "untolerated taint" in unscheduled and not (release and release.touches(*_PLACEMENT)):
        yield from _stray_taints(evidence, running)
    elif "PersistentVolumeClaim" in unscheduled or _WEBHOOK.search(refusal):
        return
    else:
        cordoned = [node.name for node in running.nodes if node.is_cordoned]
        if unscheduled and cordoned and not (release and release.touches("requests", *_PLACEMENT)):
            yield Repair(f"kubectl uncordon {' '.join(cordoned)}", "pods wait for room")
        elif release:
            yield from undo(evidence, running, workload, release, "does not start")


def _room(evidence: Evidence) -> Iterator[Repair]:
    """Yield what makes room in a quota: the newest workload to which nobody sends requests."""
    served = {workload for service in evidence.services for workload in evidence.behind(service)}
    idle = [workload for workload in evidence.workloads if workload not in served]
    made = {name: evidence.births.get(("Deployment", name), "") for name in idle}
    if idle:
        newest = max(sorted(idle), key=lambda name: made[name])
        command = f"kubectl {_target(evidence, 'scale', newest)} --replicas=0"
        yield Repair(command, f"{newest} uses up the quota and serves nobody")


def _stray_taints(evidence: Evidence, running: Running) -> Iterator[Repair]:
    """Yield what takes taints away that nobody here tolerates: nothing can be meant to run there."""
    tolerated = {
        entry.get("key")
        for spec in evidence.workloads.values()
        for entry in spec.get("template", {}).get("spec", {}).get("tolerations") or ()
    }
    for node in running.nodes:
        for taint in node.taints:
            key, effect = taint.get("key", ""), taint.get("effect", "")
            if "kubernetes.io/" not in key and effect == "NoSchedule" and key not in tolerated:
                yield Repair(
                    f"kubectl taint node {node.name} {key}:{effect}-", f"{node.name} keeps pods away"
                )


def _more_memory(evidence: Evidence, workload: str) -> Iterator[Repair]:
    container = evidence.containers(workload)[0]
    limits = (container.get("resources") or {}).get("limits") or {}
    limit = _MEMORY.fullmatch(str(limits.get("memory", "")))
    if limit is not None:
        flags = f"-c {container['name']} --limits=memory={int(limit[1]) * 2}{limit[2]}"
        command = f"kubectl {_target(evidence, 'set resources', workload)} {flags}"
        yield Repair(command, f"{workload} runs out of memory")


# What is kept, and who writes to it


def _claims(evidence: Evidence, classes: tuple[str, ...]) -> Iterator[Repair]:
    """Yield the claims of a class that does not exist, made again with the class of the nearest name."""
    for name in evidence.pending_claims():
        wanted = evidence.claims[name].get("storageClassName", "")
        near = get_close_matches(wanted, classes, n=1)
        if wanted not in classes and near:
            change = (
                "del(.status,.metadata.uid,.metadata.resourceVersion,.metadata.creationTimestamp,.metadata.annotations)"
                f'|.spec.storageClassName="{near[0]}"'
            )
            target = f"-n {evidence.namespace}"
            command = f"kubectl {target} get pvc {name} -o json | jq '{change}' | kubectl {target} replace --force -f -"
            yield Repair(command, f"claim {name} names class {wanted}, which does not exist")


def _writers(evidence: Evidence) -> Iterator[Repair]:
    """Yield what keeps two pods from needing a volume that only one node may write to."""
    for workload, spec in sorted(evidence.workloads.items()):
        volumes = spec.get("template", {}).get("spec", {}).get("volumes") or ()
        names = [(volume.get("persistentVolumeClaim") or {}).get("claimName", "") for volume in volumes]
        modes = {mode for name in names for mode in evidence.claims.get(name, {}).get("accessModes") or ()}
        is_single = modes and modes <= {"ReadWriteOnce", "ReadWriteOncePod"}
        if is_single and (spec.get("strategy") or {}).get("type") == "RollingUpdate":
            patch = '{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}'
            command = f"kubectl {_target(evidence, 'patch', workload)} --type=merge -p '{patch}'"
            yield Repair(command, f"{workload} would have two pods at its volume")


def _autoscalers(evidence: Evidence) -> Iterator[Repair]:
    """Yield the autoscalers of a workload that has another, given to the one that their name is about."""
    targets = {
        name: (spec.get("scaleTargetRef") or {}).get("name", "")
        for name, spec in evidence.autoscalers.items()
    }
    for name, target in sorted(targets.items()):
        free = [workload for workload in evidence.workloads if workload not in targets.values()]
        meant = [workload for workload in free if name.startswith(workload)]
        if list(targets.values()).count(target) > 1 and not name.startswith(target) and meant:
            patch = json.dumps(
                {"spec": {"scaleTargetRef": {"name": max(meant, key=len)}}}, separators=(",", ":")
            )
            command = f"kubectl -n {evidence.namespace} patch hpa {name} --type=merge -p '{patch}'"
            yield Repair(command, f"two autoscalers scale {target}")


def _refusal(evidence: Evidence, workload: str) -> str:
    """Return why pods of the workload are not even made; empty if they are."""
    conditions: list[Json] = evidence.status(workload).get("conditions") or []
    failures = [entry for entry in conditions if entry.get("type") == "ReplicaFailure"]
    return " ".join(entry.get("message", "") for entry in failures if entry.get("status") == "True")


def _target(evidence: Evidence, verb: str, workload: str) -> str:
    return f"-n {evidence.namespace} {verb} {evidence.kinds[workload]}/{workload}"


def _before(now: str, span: timedelta) -> str:
    """Return the time from which on things are news, written as Kubernetes does."""
    try:
        at = datetime.fromisoformat(now.replace("Z", "+00:00"))
    except ValueError:
        return ""
    return (at - span).strftime("%Y-%m-%dT%H:%M:%SZ")
