"""One pod's worker: syncs, restarts, the end of a pod; everything that takes time leaves a wake behind.

Source: k8s.io/kubernetes pkg/kubelet/{kubelet.go,pod_workers.go} and pkg/kubelet/kuberuntime (SyncPod), 1.37.
Times are those of tests/golden/kubelet: the runtime is looked at every second, failed syncs are repeated on
one-second ticks after 10 s or what is left of a back-off, times 1 to 1.5.
"""

from __future__ import annotations

from typing import Final

from env_core.node import (
    _actions,
    conditions,
    containers,
    disks,
    dns,
    endings,
    image_pulls,
    lifecycle,
    node_status,
    probes,
    resizing,
    volumes,
)
from env_core.node._host import Host, next_phase_ms
from env_core.node._records import (
    ATTACHING,
    HOOK,
    IDLE,
    KILLING,
    MOUNTING,
    PULLING,
    SYNCING,
    TERMINATED,
    TERMINATING,
    MountTry,
    PodRecord,
    Sandbox,
)
from env_core.node.reporting import deadline_ms, generated, write
from env_core.sim import ids
from env_core.world import Object

RELIST_DELAY_MS: Final = 10
"""From the end of a sync that started containers to the next look at them."""
RETRY_MS: Final = 10_000
TRANSIENT_RETRY_MS: Final = 1_000
"""After a sync that failed because the node's network is not ready."""
RESYNC_MAX_MS: Final = 60_000


def handle(host: Host, record: PodRecord) -> None:
    """Let a pod's worker look at its pod, if it is free."""
    node = host.node(record.node)
    if node is None or node.stopped_ms is not None:
        return
    pod = host.pod(record)
    if pod is None:
        pod = record.pod
        if pod is None:
            endings.forget(host, record, None)
            return
    must_end = record.is_gone or record.is_killed or "deletionTimestamp" in pod["metadata"]
    if record.stage != IDLE:
        if must_end and record.worker == SYNCING and record.stage != KILLING:
            endings.terminate(host, record._replace(stage=IDLE, todo=()), pod)
        else:
            host.put(record._replace(is_pending=True))
        return
    if record.worker == SYNCING:
        if must_end:
            endings.terminate(host, record, pod)
        else:
            sync(host, record, pod)
    elif record.worker == TERMINATING:
        endings.terminate(host, record, pod)
    elif record.worker == TERMINATED:
        endings.finish_pod(host, record, pod)
    elif record.is_gone or "deletionTimestamp" in pod["metadata"]:
        endings.remove(host, record)


def request(host: Host, record: PodRecord) -> None:
    """Ask for a sync as something outside the runtime does (a write, a probe's result).

    A worker waits until the runtime was looked at after its last sync.
    """
    host.wake(_sync_time(host, record), "sync", record.uid)


def _sync_time(host: Host, record: PodRecord) -> int:
    node = host.node(record.node)
    now_ms = host.now_ms
    if node is None or record.synced_ms < 0:
        return now_ms + RELIST_DELAY_MS
    tick_ms = next_phase_ms(node.relist_ms, record.synced_ms + 1)
    return max(now_ms + RELIST_DELAY_MS, tick_ms)


# A sync


def sync(host: Host, record: PodRecord, pod: Object) -> None:
    """Bring a pod to what its spec says."""
    record = lifecycle.observe(
        host, record._replace(error="", has_changed=False, is_pending=False, retry_ms=None), is_early=True
    )
    record = resizing.consider(host, record, pod)
    record, status = generated(host, record, pod)
    if conditions.is_terminal(status["phase"]):
        record = write(host, record._replace(worker=TERMINATING), status)
        endings.wake_at_tick(host, record)
        return
    record = write(host, record, status)
    node = host.node(record.node)
    if node is not None and node.network_problem and not pod["spec"].get("hostNetwork"):
        host.event(
            record,
            pod,
            "Warning",
            "NetworkNotReady",
            f"network is not ready: {node_status.network_error(node)}",
        )
        _finish(host, record._replace(error="network"), pod)
        return
    if not record.is_mounted and volumes.has_volumes(pod):
        _start_mounting(host, record, pod)
        return
    _act(host, record._replace(is_mounted=True), pod)


def _start_mounting(host: Host, record: PodRecord, pod: Object) -> None:
    now_ms = host.now_ms
    claim = volumes.claim_problem(host, record, pod)
    if not claim and not disks.is_attached(host, record, pod):
        host.put(record._replace(stage=ATTACHING, until_ms=now_ms))
        return
    until_ms = now_ms + volumes.MOUNTED_AFTER_MS
    if claim or record.mount_tries:
        host.put(record._replace(stage=MOUNTING, until_ms=until_ms))
    else:
        bad = [volume for volume in pod["spec"]["volumes"] if volumes.failure(host, record, pod, volume)]
        tries = tuple(
            MountTry(volume["name"], now_ms + volumes.FIRST_TRY_MS, volumes.FIRST_RETRY_MS) for volume in bad
        )
        if tries:
            until_ms = tries[0].at_ms
        host.put(
            record._replace(stage=MOUNTING, until_ms=until_ms, mount_tries=tries, mount_deadline_ms=now_ms)
        )
    host.wake(until_ms, "step", record.uid)


def _mount(host: Host, record: PodRecord, pod: Object) -> None:
    claim = volumes.claim_problem(host, record, pod)
    if claim:
        host.event(record, pod, "Warning", "FailedMount", claim)
        _finish(host, record._replace(error="error"), pod)
        return
    now_ms = host.now_ms
    by_name = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    left = []
    for each in record.mount_tries:
        if each.at_ms > now_ms:
            left.append(each)
            continue
        text = volumes.failure(host, record, pod, by_name[each.volume])
        if text:
            host.event(record, pod, "Warning", "FailedMount", text)
            grown = min(each.delay_ms * 2, volumes.RETRY_MAX_MS)
            left.append(MountTry(each.volume, now_ms + each.delay_ms, grown))
    if left:
        until_ms = min(each.at_ms for each in left)
        host.put(record._replace(mount_tries=tuple(left), until_ms=until_ms))
        host.wake(until_ms, "step", record.uid)
        return
    if record.mount_tries:
        # The sync polls; what is mounted in between is found at the next poll.
        polled_ms = next_multiple(record.mount_deadline_ms, volumes.MOUNTED_AFTER_MS, now_ms + 1)
        host.put(record._replace(mount_tries=(), until_ms=polled_ms))
        host.wake(polled_ms, "step", record.uid)
        return
    _act(host, record._replace(is_mounted=True, stage=IDLE), pod)


def next_multiple(base_ms: int, step_ms: int, from_ms: int) -> int:
    """Return the first of `base_ms`, `base_ms + step_ms`, … that is not before `from_ms`."""
    return base_ms + max(-(-(from_ms - base_ms) // step_ms), 0) * step_ms


def _act(host: Host, record: PodRecord, pod: Object) -> None:
    record = probes.add_workers(host, record, pod)
    actions = _actions.compute(host, record, pod)
    record = record._replace(todo=actions.starts, is_stopping_all=actions.stops_all)
    if actions.stops_all:
        if actions.makes_sandbox:
            host.event(
                record,
                pod,
                "Normal",
                "SandboxChanged",
                "Pod sandbox changed, it will be killed and re-created.",
            )
        until_ms = lifecycle.stop_all(host, record, pod)
        _wait(host, record._replace(has_changed=True), pod, KILLING, until_ms)
        return
    until_ms = host.now_ms
    for stop in actions.stops:
        container = containers.container_of(pod, stop.name)
        assert container is not None
        grace_s = lifecycle.grace_of(record, pod, container, stop.probe)
        until_ms = max(until_ms, lifecycle.stop(host, record, pod, container, stop.message, grace_s))
    if actions.stops:
        _wait(host, record._replace(has_changed=True), pod, KILLING, until_ms)
        return
    if actions.makes_sandbox:
        made = _make_sandbox(host, record, pod)
        if made is None:
            return
        record = made
    record, is_done = resizing.actuate(host, record, pod)
    if not is_done:
        record = record._replace(error="error")
    _start(host, record, pod)


def _wait(host: Host, record: PodRecord, pod: Object, stage: str, until_ms: int) -> None:
    record = host.put(record._replace(stage=stage, until_ms=until_ms))
    if until_ms <= host.now_ms:
        step(host, record, pod)
    else:
        host.wake(until_ms, "step", record.uid)


def _make_sandbox(host: Host, record: PodRecord, pod: Object) -> PodRecord | None:
    stream = host.component(record.node).stream("containers", record.node)
    sandbox_id = ids.hex_id(stream)
    problem: str | None = host.state.table("kubelet/sandbox-problems").get(record.node)
    problem = problem or host.images.sandbox_error(record.namespace, record.name, sandbox_id)
    if problem:
        text = f"Failed to create pod sandbox: rpc error: code = Unknown desc = {problem.replace('$ID', sandbox_id)}"
        host.event(record, pod, "Warning", "FailedCreatePodSandBox", text)
        _finish(host, record._replace(error="error"), pod)
        return None
    address = _new_address(host, record) if not pod["spec"].get("hostNetwork") else ""
    attempt = record.sandbox.attempt + 1 if record.sandbox is not None else 0
    if attempt:
        # The old sandbox's init containers are removed: all of them run again.
        for container in pod["spec"].get("initContainers") or ():
            if record.container(container["name"]).current is not None:
                record = record.change_container(container["name"], is_purged=True)
    record = record._replace(sandbox=Sandbox(sandbox_id, address, attempt), has_changed=True)
    dns.check(host, record, pod)
    if address:
        host.runtime.assign(address, record.namespace, record.name, record.uid)
    status = record.status
    if status is not None and attempt == 0:
        ready = conditions.ready_to_start(pod, has_sandbox=True, is_sandbox_ready=True)
        own = [ready if each["type"] == ready["type"] else each for each in status["conditions"]]
        timed = conditions.with_times(own, status["conditions"], host.stamp(record.node))
        record = write(host, record, {**status, "conditions": timed})
    return record


def _new_address(host: Host, record: PodRecord) -> str:
    node = host.node(record.node)
    assert node is not None
    prefix = node.pod_cidr.rsplit(".", 1)[0]
    number = node.next_address
    for _ in range(253):
        if host.runtime.pod_at(f"{prefix}.{number}") is None:
            break
        number = number + 1 if number < 254 else 2
    host.nodes[node.name] = node._replace(next_address=number + 1 if number < 254 else 2)
    return f"{prefix}.{number}"


def step(host: Host, record: PodRecord, pod: Object) -> None:
    """Go on with what a worker waited for."""
    node = host.node(record.node)
    if node is None or node.stopped_ms is not None or host.now_ms < record.until_ms:
        return
    if record.worker != SYNCING:
        if record.stage == KILLING:
            endings.stopped(host, record._replace(stage=IDLE), pod)
        return
    if record.stage == ATTACHING:
        _start_mounting(host, record._replace(stage=IDLE), pod)
    elif record.stage == MOUNTING:
        _mount(host, record, pod)
    elif record.stage == KILLING:
        _killed(host, record._replace(stage=IDLE), pod)
    elif record.stage == PULLING:
        name, rest = record.todo[0], record.todo[1:]
        record = record._replace(stage=IDLE, todo=rest)
        _started(host, containers.pull_done(host, record, pod, name), pod, name)
    elif record.stage == HOOK:
        _start(host, record._replace(stage=IDLE), pod)


def _killed(host: Host, record: PodRecord, pod: Object) -> None:
    if record.is_stopping_all:
        record = endings.without_sandbox(host, record)._replace(is_stopping_all=False)
        if record.todo:
            made = _make_sandbox(host, lifecycle.observe(host, record), pod)
            if made is not None:
                _start(host, made, pod)
            return
    _start(host, record, pod)


def _start(host: Host, record: PodRecord, pod: Object) -> None:
    if not record.todo:
        _finish(host, resizing.finish(host, record, pod), pod)
        return
    name, rest = record.todo[0], record.todo[1:]
    started = containers.begin(host, record, pod, name)
    if started.outcome == image_pulls.BUSY:
        _wait(host, started.record, pod, PULLING, started.until_ms)
        return
    _started(host, started._replace(record=started.record._replace(todo=rest)), pod, name)


def _started(host: Host, started: image_pulls.Started, pod: Object, name: str) -> None:
    record = started.record
    if started.outcome == image_pulls.BACKED_OFF:
        record = record._replace(error=record.error or "backoff")
    elif started.outcome == image_pulls.FAILED:
        record = record._replace(error="error")
    else:
        record = record._replace(has_changed=True)
    if started.outcome in (image_pulls.FAILED, image_pulls.BACKED_OFF):
        init = [each for each in pod["spec"].get("initContainers") or () if each["name"] == name]
        if init and not conditions.is_sidecar(init[0]):
            record = record._replace(todo=())
        if record.container(name).current is not None and started.outcome == image_pulls.FAILED:
            record = record._replace(has_changed=True)
    if started.until_ms > host.now_ms:
        _wait(host, record, pod, HOOK, started.until_ms)
    else:
        _start(host, record, pod)


def _finish(host: Host, record: PodRecord, pod: Object) -> None:
    """End a sync: see when the pod must be looked at again."""
    now_ms = host.now_ms
    node = host.node(record.node)
    assert node is not None
    due: list[int] = []
    if record.error:
        wait_ms = TRANSIENT_RETRY_MS if record.error == "network" else RETRY_MS
        if record.error == "backoff":
            left_ms = containers.backoff_left_ms(host, record)
            wait_ms = min(left_ms if left_ms is not None else RETRY_MS, RESYNC_MAX_MS)
        retry_ms = next_phase_ms(node.tick_ms, now_ms + int(wait_ms * (1 + host.jitter(record, wait_ms))))
        record = record._replace(retry_ms=retry_ms)
        due.append(retry_ms)
        if record.has_changed:
            due.append(next_phase_ms(node.relist_ms, now_ms + 1))
    elif record.has_changed:
        due.append(now_ms + RELIST_DELAY_MS)
    record = record._replace(stage=IDLE, todo=(), synced_ms=now_ms, is_stopping_all=False)
    if record.is_pending or (record.status or {}).get("observedGeneration") != pod["metadata"].get(
        "generation", 0
    ):
        due.append(_sync_time(host, record))
    for name, state in record.containers.items():
        if state.current is not None and state.current.is_running:
            run = host.runtime.run(record.uid, name)
            if run is not None and run.exit_at_ms is not None:
                due.append(next_phase_ms(node.relist_ms, max(run.exit_at_ms, now_ms) + 1))
    end_ms = deadline_ms(host, record, pod)
    if end_ms is not None:
        due.append(next_phase_ms(node.tick_ms, max(end_ms, now_ms + 1)))
    host.put(record._replace(has_changed=False, is_pending=False))
    if due:
        host.wake(min(due), "sync", record.uid)
