"""The subresources of pods that write: binding, eviction, exec, ephemeral containers, resize."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from env_core.apiserver import deleting, errors, reading
from env_core.apiserver.decoding import decode_as
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import Write
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.objects import gojson, selectors
from env_core.objects.conditions import is_pod_ready, set_condition, set_meta_condition
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

Handler = Callable[["ApiServer", ApiRequest, Kind], ApiResponse]

_SUCCESS: Object = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "code": 201}
BUDGETS = "poddisruptionbudgets.policy"


def _bind(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    body = decode_as(request, "", "v1", "Binding")
    node = (body.get("target") or {}).get("name") or ""
    if not node:
        raise errors.StatusError(errors.status(500, "", "target.name: Required value"))
    pod = reading.existing(server, request, kind)
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
    body = decode_as(_as_v1(request), "policy", "v1", "Eviction")
    if (body.get("metadata") or {}).get("name", "") != request.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    pod = reading.existing(server, request, kind)
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
        lastProbeTime=None,
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


def _as_v1(request: ApiRequest) -> ApiRequest:
    """Read evictions of policy/v1beta1 as what they became; the server still takes them (recorded: evict-v1beta1)."""
    body = request.body
    if isinstance(body, (str, bytes)):
        try:
            body = gojson.plain(gojson.read(body))
        except gojson.JsonSyntaxError:
            return request
    if not isinstance(body, dict) or body.get("apiVersion") != "policy/v1beta1":
        return request
    return request._replace(body={**body, "apiVersion": "policy/v1"})


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
        why = "pdb disruptions allowed is negative"
        refused = errors.forbidden("policy", "poddisruptionbudget", name, why)
        text = f"The disruption budget {name} does not allow evicting pods currently: {why}"
        refused.status["details"]["causes"] = [{"reason": "DisruptionBudget", "message": text}]
        raise refused
    if allowed == 0:
        text = f"The disruption budget {name} {_why_not(status)}"
        raise errors.too_many_requests(refusal, 0, [{"reason": "DisruptionBudget", "message": text}])
    if dry_run:
        return
    disrupted = {**status.get("disruptedPods", {}), pod["metadata"]["name"]: rfc3339(server.loop.now_ms)}
    counted = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    if allowed == 1:
        state = ("False", "InsufficientPods", "")
        counted["conditions"] = set_meta_condition(
            status.get("conditions"),
            "DisruptionAllowed",
            state,
            status.get("observedGeneration", 0),
            server.loop.now_ms,
        )
    body = {**budget, "status": counted}
    kind = server.registry.by_resource(BUDGETS)
    assert kind is not None
    # The server counts by a call to itself.
    server.store.put(BUDGETS, body, Write("kube-apiserver", "status", kind, server.loop.now_ms, body))


def _why_not(status: Object) -> str:
    """Return what a budget that allows nothing says for itself.

    Source: tests/golden/l0/api_errors.jsonl.gz, ids eviction/.
    """
    denied = "does not allow evicting pods currently"
    conditions = status.get("conditions") or ()
    condition: Object = next((each for each in conditions if each.get("type") == "DisruptionAllowed"), {})
    if condition.get("reason") == "SyncFailed":
        return f"{denied} because it failed sync: {condition.get('message', '')}"
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if current <= desired:
        return f"needs {desired} healthy pods and has {current} currently"
    if condition.get("reason"):
        return f"{denied} ({condition['reason']}): {condition.get('message', '')}"
    return denied


def _exec(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    assert server.backend is not None
    pod = reading.existing(server, request, kind)
    return ApiResponse(101, {}, output=server.backend.exec(pod, request))


def _attach(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    assert server.backend is not None
    pod = reading.existing(server, request, kind)
    return ApiResponse(101, {}, output=None if server.backend.attach(pod, request) else Output())


def _stream(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Check that a pod can be attached or forwarded to; the streams themselves are the facade's."""
    pod = reading.existing(server, request, kind)
    if not pod["spec"].get("nodeName"):
        raise errors.bad_request(f"pod {request.name} does not have a host assigned")
    return ApiResponse(101, {})


POD_SUBRESOURCES: Mapping[str, Handler] = {
    "attach": _attach,
    "binding": _bind,
    "eviction": _evict,
    "exec": _exec,
    "portforward": _stream,
}
