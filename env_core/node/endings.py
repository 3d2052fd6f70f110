"""A pod ends: its containers are stopped, its last status is written, what is kept of it is dropped.

Source: k8s.io/kubernetes pkg/kubelet/kubelet.go (SyncTerminatingPod, SyncTerminatedPod), 1.37; times in
tests/golden/kubelet (del-*, exit-*, deadline-*): the steps follow one another on the sync loop's ticks.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.node import lifecycle, power, probes, resizing, statuses, volumes
from env_core.node._host import HANDLER, Host, next_phase_ms
from env_core.node._records import FINISHED, IDLE, KILLING, SYNCING, TERMINATED, TERMINATING, PodRecord
from env_core.node.reporting import generated, write
from env_core.objects.problems import quoted
from env_core.world import Object

GONE_DELAY_MS: Final = 10
HELD_RETRY_MS: Final = 15_000
KILL_RETRY_MS: Final = 10_000


def wake_at_tick(host: Host, record: PodRecord) -> None:
    """Ask for a pod's next step at the sync loop's next tick."""
    node = host.node(record.node)
    assert node is not None, "pods have a node of ours"
    host.wake(next_phase_ms(node.tick_ms, host.now_ms + 1), "sync", record.uid)


def without_sandbox(host: Host, record: PodRecord, *, is_released: bool = False) -> PodRecord:
    """Return the record of a pod whose sandbox is stopped; its address is free again."""
    sandbox = record.sandbox
    if sandbox is None or not sandbox.is_ready:
        return record
    if sandbox.address and not is_released:
        host.runtime.release(sandbox.address)
    return record._replace(sandbox=sandbox._replace(is_ready=False))


def terminate(host: Host, record: PodRecord, pod: Object) -> None:
    """Stop a pod for good."""
    record = lifecycle.observe(host, record._replace(worker=TERMINATING))
    if not record.is_gone:
        record, status = generated(host, record, pod)
        may_run = any(lifecycle.is_running(host, record, name) for name in record.containers)
        record = write(host, record, status, may_run=may_run)
        probes.remove_workers(host, record, pod, (probes.STARTUP, probes.LIVENESS))
    else:
        probes.remove_workers(host, record, pod)
    errors: list[str] = []
    until_ms = lifecycle.stop_all(host, record, pod, errors)
    record = record._replace(has_changed=until_ms > host.now_ms or bool(errors))
    if errors:
        # The sandbox is stopped all the same, and the containers die with it.
        power.end_runs(host, record)
        _fail_kill(
            host, without_sandbox(host, lifecycle.observe(host, record), is_released=True), pod, errors
        )
        return
    if until_ms <= host.now_ms:
        stopped(host, record, pod)
        return
    host.put(record._replace(stage=KILLING, until_ms=until_ms))
    host.wake(until_ms, "step", record.uid)


def _fail_kill(host: Host, record: PodRecord, pod: Object, errors: list[str]) -> None:
    """Record that a pod could not be ended, and try again: at once if something changed, else after a while."""
    text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
    host.event(record, pod, "Warning", "FailedKillPod", f"error killing pod: {text}")
    node = host.node(record.node)
    assert node is not None, "pods have a node of ours"
    if record.has_changed:
        retry_ms = next_phase_ms(node.relist_ms, host.now_ms + 1)
    else:
        stretched_ms = int(KILL_RETRY_MS * (1 + host.jitter(record, KILL_RETRY_MS)))
        retry_ms = next_phase_ms(node.tick_ms, host.now_ms + stretched_ms)
    host.put(record._replace(stage=IDLE, has_changed=False))
    host.wake(retry_ms, "sync", record.uid)


def stopped(host: Host, record: PodRecord, pod: Object) -> None:
    """Go on when the containers of an ending pod have all ended: its sandbox goes, its last phase is written."""
    probes.remove_workers(host, record, pod)
    record = lifecycle.observe(host, record)
    sandbox = record.sandbox
    if sandbox is not None and sandbox.is_ready:
        error = host.images.stop_sandbox_error(record.namespace, record.name, sandbox.sandbox_id)
        if error:
            shown = quoted(f"rpc error: code = Unknown desc = {error}")
            text = f'failed to "KillPodSandbox" for "{record.uid}" with KillPodSandboxError: {shown}'
            _fail_kill(host, record, pod, [text])
            return
    record = without_sandbox(host, record)
    if record.is_gone:
        forget(host, record, pod)
        return
    record, status = generated(host, record, pod, is_ended=True)
    is_same = status == record.status
    record = host.put(record._replace(worker=TERMINATED))
    if not is_same:
        record = write(host, record, status)
    wake_at_tick(host, record)


def finish_pod(host: Host, record: PodRecord, pod: Object) -> None:
    """Clean up after a pod whose containers have all ended, and let the API drop it if it is being deleted."""
    record, status = generated(host, record, pod, is_ended=True)
    if volumes.is_held(host, record, pod):
        host.put(record)
        host.wake(host.now_ms + HELD_RETRY_MS, "sync", record.uid)
        return
    record = record._replace(worker=FINISHED)
    record = _free(host, write(host, record, statuses.ended_for_good(status)))
    if "deletionTimestamp" in pod["metadata"]:
        remove(host, record)


def _free(host: Host, record: PodRecord) -> PodRecord:
    node = host.node(record.node)
    if node is not None and record.use is not None and record.worker != SYNCING and record.seen_ms >= 0:
        used = node.used
        host.nodes[node.name] = node._replace(
            used=(used[0] - record.use[0], used[1] - record.use[1], max(used[2] - 1, 0))
        )
        resizing.room_made(host, node.name)
    return host.put(record._replace(use=(0, 0), seen_ms=-1))


def remove(host: Host, record: PodRecord) -> None:
    """Let the API drop a pod's object."""
    options = Options(grace_period_seconds=0, precondition_uid=record.uid)
    try:
        host.component(record.node).api.delete("pods", record.namespace, record.name, options)
    except StatusError as error:
        if error.code not in (403, 404, 409):
            raise


def gone(host: Host, record: PodRecord, pod: Object) -> None:
    """Take note that a pod's object was removed; what still runs of it is stopped."""
    has_running = any(
        state.current is not None and state.current.is_running for state in record.containers.values()
    )
    is_over = record.worker in (FINISHED, TERMINATED) or (not has_running and record.stage == IDLE)
    if is_over:
        forget(host, record, pod)
        return
    host.put(record._replace(is_gone=True, pod=pod))
    host.wake(host.now_ms + GONE_DELAY_MS, "sync", record.uid)


def forget(host: Host, record: PodRecord, pod: Object | None) -> None:
    """Drop everything that is kept of a pod."""
    record = without_sandbox(host, record)
    if record.seen_ms >= 0 and record.worker != FINISHED:
        _free(host, record._replace(worker=FINISHED))
    host.runtime.forget(record.uid, list(record.containers))
    if pod is not None:
        probes.remove_workers(host, record, pod)
        for resource, name in volumes.sources(pod):
            key = (resource, record.namespace, name)
            users: tuple[str, ...] = host.mounts.get(key) or ()
            left = tuple(uid for uid in users if uid != record.uid)
            if left:
                host.mounts[key] = left
            elif users:
                host.mounts.pop(key)
    for name in ("sync", "step"):
        host.loop.cancel(HANDLER, (name, record.uid))
    host.pods.pop(record.uid)
