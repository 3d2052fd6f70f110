"""The subresources of pods that write: binding, eviction, exec, ephemeral containers, resize."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from env_core.apiserver import deleting, errors, reading
from env_core.apiserver.decoding import decode_part, is_trusted
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.objects import selectors
from env_core.objects.conditions import is_pod_ready, set_condition
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

Handler = Callable[["ApiServer", ApiRequest, Kind], ApiResponse]

_SUCCESS: Object = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "code": 201}
BUDGETS = "poddisruptionbudgets.policy"


def _bind(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    pod = reading.existing(server, request, kind)
    body = decode_part(request, "", "v1", "Binding")
    node = (body.get("target") or {}).get("name", "")
    if not node:
        raise errors.StatusError(errors.status(500, "", "target.name: Required value"))
    if pod["spec"].get("nodeName"):
        why = f"pod {request.name} is already assigned to node {quoted_node(pod)}"
        raise errors.conflict("", "pods/binding", request.name, why)
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": rfc3339(server.loop.now_ms),
    }
    status = {key: value for key, value in pod.get("status", {}).items() if key != "nominatedNodeName"}
    conditions = [entry for entry in status.get("conditions", []) if entry["type"] != "PodScheduled"]
    bound = {
        **pod,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**status, "conditions": [*conditions, condition]},
    }
    server.store.put(kind.resource, bound)
    return ApiResponse(201, _SUCCESS)


def quoted_node(pod: Object) -> str:
    """Return the pod's node in double quotes."""
    return f'"{pod["spec"]["nodeName"]}"'


def _evict(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Evict a pod if its disruption budgets allow it. Source: tests/golden/l0/api_errors.jsonl.gz, ids eviction/."""
    pod = reading.existing(server, request, kind)
    body = decode_part(request, "policy", "v1", "Eviction")
    if not is_trusted(request) and (body.get("metadata") or {}).get("name", "") != request.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    delete_options = body.get("deleteOptions") or {}
    options = Options(
        grace_period_seconds=delete_options.get("gracePeriodSeconds"),
        dry_run=request.options.dry_run or bool(delete_options.get("dryRun")),
    )
    phase = pod.get("status", {}).get("phase")
    if phase not in ("Succeeded", "Failed", "Pending") and "deletionTimestamp" not in pod["metadata"]:
        budgets = [budget for budget in server.store.list(BUDGETS, request.namespace) if _covers(budget, pod)]
        if len(budgets) > 1:
            text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise errors.StatusError(errors.status(500, "", text))
        if budgets and not _is_unhealthy_and_evictable(budgets[0], pod):
            _consume(server, budgets[0], pod, dry_run=options.dry_run)
    marked = set_condition(
        pod,
        "DisruptionTarget",
        "True",
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
        now_ms=server.loop.now_ms,
    )
    if not options.dry_run and phase != "Pending":
        server.store.put(kind.resource, marked)
    one = ApiRequest(
        verb="delete",
        resource="pods",
        namespace=request.namespace,
        name=request.name,
        identity=request.identity,
        options=options,
    )
    deleting.delete(server, one, kind)
    return ApiResponse(201, _SUCCESS)


def _covers(budget: Object, pod: Object) -> bool:
    selector = budget["spec"].get("selector")
    return selector is not None and selectors.from_object(selector).matches(
        pod["metadata"].get("labels") or {}
    )


def _is_unhealthy_and_evictable(budget: Object, pod: Object) -> bool:
    if is_pod_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _consume(server: ApiServer, budget: Object, pod: Object, *, dry_run: bool) -> None:
    name = budget["metadata"]["name"]
    status = budget.get("status", {})
    refusal = "Cannot evict pod as it would violate the pod's disruption budget."
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        cause = {
            "reason": "DisruptionBudget",
            "message": f"The disruption budget {name} is still being processed by the server.",
        }
        raise errors.too_many_requests(refusal, 10, [cause])
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise errors.forbidden("policy", "poddisruptionbudgets", name, "pdb disruptions allowed is negative")
    if allowed == 0:
        text = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and has "
            f"{status.get('currentHealthy', 0)} currently"
        )
        raise errors.too_many_requests(refusal, 0, [{"reason": "DisruptionBudget", "message": text}])
    if dry_run:
        return
    disrupted = {**status.get("disruptedPods", {}), pod["metadata"]["name"]: rfc3339(server.loop.now_ms)}
    server.store.put(
        BUDGETS,
        {**budget, "status": {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}},
    )


def _exec(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    assert server.backend is not None
    pod = reading.existing(server, request, kind)
    return ApiResponse(101, {}, output=server.backend.exec(pod, request))


def _attach(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    assert server.backend is not None
    pod = reading.existing(server, request, kind)
    return ApiResponse(101, {}, output=None if server.backend.attach(pod, request) else Output())


POD_SUBRESOURCES: Mapping[str, Handler] = {
    "attach": _attach,
    "binding": _bind,
    "eviction": _evict,
    "exec": _exec,
}
