"""The vocabulary of families: symptoms, goals and edits that several of them need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from env_core.apiserver.request import STRATEGIC_PATCH, Identity
from env_core.cluster import Cluster
from env_core.faults._model import Case, Params
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339
from env_core.verify.checks import Check
from env_core.verify.view import View
from env_core.world import Object

# Places


def deployments(base: Base) -> tuple[str, ...]:
    """Return the roles of Deployments."""
    return tuple(role for role, workload in base.workloads.items() if workload.resource == "deployments.apps")


def behind_services(base: Base) -> tuple[str, ...]:
    """Return the roles of Deployments that users reach through a Service of their own."""
    return tuple(
        role for role in deployments(base) if base.workloads[role].service and base.entries_through(role)
    )


def has_ready_path(place: Workload) -> bool:
    """Whether a workload's readiness is asked by HTTP."""
    return bool(place.ready_path)


def has_compute_quota(base: Base, place: Workload) -> bool:
    """Whether a quota on CPU or memory stands in the workload's namespace: then large pods are not even made."""
    return any(
        resource.rpartition(".")[2] in ("cpu", "memory")
        for quota in base.cluster.store.list("resourcequotas", place.namespace)
        for resource in quota["spec"].get("hard") or {}
    )


# Parameters


def waits(stream: Stream, choices: tuple[int, ...]) -> Params:
    """Return how long the incident has been going on when somebody is paged."""
    return {"wait_s": str(stream.choice(choices) + stream.below(60))}


# Edits


def pass_time(cluster: Cluster, case: Case) -> None:
    """Let the time pass until somebody is paged."""
    cluster.advance(int(case.params["wait_s"]) * 1_000)


def patch_container(
    cluster: Cluster, place: Workload, fields: Mapping[str, Any], who: Identity = DELIVERY
) -> None:
    """Change fields of the workload's container, as the pipeline does, or somebody else."""
    container = {"name": place.container, **fields}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    client = cluster.client(who)
    client.patch(place.resource, place.namespace, place.name, patch, STRATEGIC_PATCH)


def restart(cluster: Cluster, place: Workload) -> None:
    """Roll the workload, as a colleague does with `kubectl rollout restart`."""
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
    patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    cluster.client(COLLEAGUE).patch(place.resource, place.namespace, place.name, patch)


# Command lines


def restarted(case: Case) -> str:
    """Return the command line that rolls the workload."""
    return f"kubectl rollout restart {case.target}"


def undone(case: Case) -> str:
    """Return the command line that goes back to the revision before."""
    return f"kubectl rollout undo {case.target}"


def stopped(case: Case) -> str:
    """Return the command line that leaves the workload no pod."""
    return f"kubectl scale {case.target} --replicas=0"


def deleted(case: Case) -> str:
    """Return the command line that deletes the workload."""
    return f"kubectl delete {case.target}"


def recreated(case: Case) -> str:
    """Return the command line that deletes the workload's pods, so that new ones come."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
    return f"kubectl -n {case.namespace} delete pods -l {pairs}"


# Reading


def container_of(owner: Object, name: str) -> Object:
    """Return a container of a workload's template.

    Raises:
        KeyError: if it has none of that name.
    """
    for entry in owner["spec"]["template"]["spec"]["containers"]:
        if entry["name"] == name:
            found: Object = entry
            return found
    raise KeyError(name)


def owner_of(view: View, case: Case) -> Object:
    """Return the broken workload as it is now.

    Raises:
        KeyError: if it is gone.
    """
    found = view.get(case.place.resource, case.place.namespace, case.place.name)
    if found is None:
        raise KeyError(f"{case.place.resource} {case.place.name} is gone")
    return found


def has_asked(view: View, who: Identity, verb: str, resource: str) -> bool:
    """Whether somebody has asked the API for this: a goal about what came with the fault must hold in the healthy world, too."""
    return any(
        (record.user, record.verb, record.resource) == (who.name, verb, resource)
        for record in view.cluster.server.audit.records()
    )


# Symptoms


def pods_unready(case: Case) -> Check:
    """Some pod of the workload is not ready."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        ready = view.ready_pods_of(case.namespace, case.name)
        return "" if len(ready) < len(pods) else f"every pod of {case.name} is ready"

    return Check("pods are not ready", fails)


def pods_wait(case: Case, *reasons: str) -> Check:
    """Some container of the workload's pods waits for one of the reasons."""

    def fails(view: View) -> str:
        for pod in _pods(view, case):
            for status in pod.get("status", {}).get("containerStatuses") or ():
                if (status.get("state", {}).get("waiting") or {}).get("reason") in reasons:
                    return ""
        return f"no pod of {case.name} waits for {', '.join(reasons)}"

    return Check("pods wait", fails)


def pods_fail_to_start(case: Case) -> Check:
    """Some container of the workload's pods cannot be started, or ends at once, again and again."""
    return pods_wait(case, "CrashLoopBackOff", "RunContainerError", "CreateContainerError", "StartError")


def pods_pend(case: Case) -> Check:
    """Some pod of the workload is bound to no node."""

    def fails(view: View) -> str:
        if any(not pod["spec"].get("nodeName") for pod in _pods(view, case)):
            return ""
        return f"every pod of {case.name} has a node"

    return Check("pods are pending", fails)


def no_endpoints(case: Case) -> Check:
    """Nothing ready is behind the workload's Service."""

    def fails(view: View) -> str:
        found = view.endpoints_of(case.namespace, case.place.service)
        return f"service {case.place.service} has {len(found)} endpoints" if found else ""

    return Check("no endpoints", fails)


def _pods(view: View, case: Case) -> list[Object]:
    labels = case.place.labels
    return [
        pod
        for pod in view.list("pods", case.namespace)
        if all((pod["metadata"].get("labels") or {}).get(key) == value for key, value in labels.items())
    ]


# Goals


def rolled_out(case: Case) -> Check:
    """The workload's newest revision, and no older one, runs with all of its replicas, and no fewer than it had."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        wanted = owner["spec"].get("replicas", 1)
        status = owner.get("status", {})
        if wanted < case.place.replicas and not _is_autoscaled(view, case):
            return f"{case.name} asks for {wanted} replicas"
        for field in ("updatedReplicas", "readyReplicas"):
            if status.get(field, 0) < max(wanted, 1):
                return f"{case.name} has {field} {status.get(field, 0)} of {wanted}"
        if status.get("replicas", 0) > status["updatedReplicas"]:
            return f"{case.name} still has pods of an older revision"
        return ""

    return Check(f"{case.name} is rolled out", fails)


def _is_autoscaled(view: View, case: Case) -> bool:
    return any(
        entry["spec"]["scaleTargetRef"]["name"] == case.name
        for entry in view.list("horizontalpodautoscalers.autoscaling", case.namespace)
    )


def runs_image(case: Case, *tags: str) -> Check:
    """The workload's container runs one of the releases that its owners stand for."""
    repository = case.place.image.rpartition(":")[0]
    allowed = tuple(f"{repository}:{tag}" for tag in tags)

    def fails(view: View) -> str:
        image = container_of(owner_of(view, case), case.place.container)["image"]
        return "" if image in allowed else f"{case.name} runs {image}"

    return Check(f"{case.name} runs a release of its owners", fails)


def own_pods_answer(case: Case) -> Check:
    """Exactly the ready pods of the workload are behind its Service, by the endpoint controller's own hand."""

    def fails(view: View) -> str:
        owner = owner_of(view, case)
        service = view.get("services", case.namespace, case.place.service)
        if service is None:
            return f"service {case.place.service} is gone"
        labels = owner["spec"]["template"]["metadata"].get("labels") or {}
        if not view.selects(service["spec"].get("selector") or {}, labels):
            return f"service {case.place.service} does not select what {case.name} makes"
        ready = sorted(pod["metadata"]["uid"] for pod in view.ready_pods_of(case.namespace, case.name))
        if not ready:
            return f"{case.name} has no ready pod"
        if sorted(view.endpoints_of(case.namespace, case.place.service)) != ready:
            return f"service {case.place.service} has other endpoints than the ready pods of {case.name}"
        return ""

    return Check(f"own pods of {case.name} answer", fails)


def port_reaches_program(case: Case) -> Check:
    """The Service's first port leads, by number or by name, to the port on which the program listens."""

    def fails(view: View) -> str:
        service = view.get("services", case.namespace, case.place.service)
        if service is None:
            return f"service {case.place.service} is gone"
        target = service["spec"]["ports"][0].get("targetPort")
        ports = container_of(owner_of(view, case), case.place.container).get("ports") or ()
        named = {entry.get("name"): entry["containerPort"] for entry in ports}
        if named.get(target, target) != case.place.container_port:
            return f"service {case.place.service} sends to {target}"
        return ""

    return Check(f"service {case.place.service} sends to the program's port", fails)
