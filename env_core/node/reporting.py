"""What a kubelet reports of a pod: the status it derives, merged with what the API has, and only when it differs.

Source: k8s.io/kubernetes pkg/kubelet/status/status_manager.go and pkg/kubelet/active_deadline.go, 1.37.
"""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.node import clocks, conditions, probes, statuses
from env_core.node._host import SECOND_MS, Host
from env_core.node._records import SYNCING, TERMINATING, PodRecord
from env_core.sim.timefmt import parse_ms
from env_core.world import Object


def write(host: Host, record: PodRecord, status: Object, *, may_run: bool | None = None) -> PodRecord:
    """Remember a generated status and send what it changes to the API.

    `may_run` says whether containers of the pod may still run, so that it cannot have ended yet; the worker's
    state tells when it is None.
    """
    record = host.put(record._replace(status=status))
    fresh = host.pod(record)
    if fresh is None:
        return record
    current = fresh.get("status") or {}
    if may_run is None:
        may_run = record.worker in (SYNCING, TERMINATING)
    wanted = conditions.merged(current, status, may_run=may_run)
    if wanted == current:
        return record
    try:
        host.component(record.node).api.update_status("pods", record.namespace, {**fresh, "status": wanted})
    except StatusError as error:
        # A status that the API does not take is logged and dropped upstream; the next one may pass.
        if error.code not in (403, 404, 409, 422):
            raise
    return record


def generated(
    host: Host, record: PodRecord, pod: Object, *, is_ended: bool = False
) -> tuple[PodRecord, Object]:
    """Return the status that follows from what the kubelet has seen, and the record, whose deadline may be over."""
    due_ms = deadline_ms(host, record, pod)
    if due_ms is not None and host.now_ms >= due_ms:
        message = statuses.DEADLINE_MESSAGE
        host.event(record, pod, "Normal", statuses.DEADLINE, message)
        record = record._replace(reason=statuses.DEADLINE, reason_message=message)
    status = statuses.generate(host, clocks.shown(host, record), pod, is_ended=is_ended)
    if record.has_probes:
        probes.arrange(host, record, pod, status)
    return record, status


def deadline_ms(host: Host, record: PodRecord, pod: Object) -> int | None:
    """Return when a pod's `activeDeadlineSeconds` are over, in milliseconds; None without any (or before its start)."""
    seconds = pod["spec"].get("activeDeadlineSeconds")
    if seconds is None or record.status is None:
        return None
    ahead_ms = host.runtime.clocks.ahead_ms(record.node, host.now_ms)
    return parse_ms(record.status["startTime"]) + int(seconds) * SECOND_MS - ahead_ms
