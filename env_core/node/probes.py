"""Probes: when they fire, what they ask, what their results mean.

Source: k8s.io/kubernetes pkg/kubelet/prober (worker.go, prober.go, prober_manager.go), 1.37; times and texts in
tests/golden/kubelet/timelines.jsonl.gz and tests/golden/l0/probe_texts.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from env_core.node import _asking
from env_core.node._host import SECOND_MS, Host
from env_core.node._records import SYNCING, PodRecord, ProbeState
from env_core.node.conditions import is_sidecar
from env_core.world import Object

STARTUP: Final = "startup"
LIVENESS: Final = "liveness"
READINESS: Final = "readiness"
_FIELDS: Final = ((STARTUP, "startupProbe"), (LIVENESS, "livenessProbe"), (READINESS, "readinessProbe"))
SUCCESS, FAILURE, UNKNOWN = "success", "failure", "unknown"
_INITIAL: Final = {STARTUP: UNKNOWN, LIVENESS: SUCCESS, READINESS: FAILURE}
MANUAL_DELAY_MS: Final = 60
"""From a sync to the look that it asks for: 5 to 107 ms in the recordings; a busy node takes the longer time."""


class Change(NamedTuple):
    """What a probe's result changed: a flag to write at once, and whether the pod must be synced."""

    flag: str = ""
    value: bool = False
    must_sync: bool = False


def probes_of(container: Object) -> Iterator[tuple[str, Object]]:
    """Yield (kind, probe) of a container."""
    for kind, field in _FIELDS:
        probe = container.get(field)
        if probe:
            yield kind, probe


def probed_containers(pod: Object) -> Iterator[Object]:
    """Yield the containers that may have probes: sidecars and regular ones."""
    spec = pod["spec"]
    for container in spec.get("initContainers") or ():
        if is_sidecar(container):
            yield container
    yield from spec["containers"]


def state_of(host: Host, uid: str, container: str, kind: str) -> ProbeState | None:
    """Return a probe worker's state, None when there is no such probe (or not yet)."""
    found: ProbeState | None = host.probes.get((uid, container, kind))
    return found


def result(host: Host, record: PodRecord, container: str, kind: str) -> str:
    """Return what the manager of `kind` holds for a container's current run, "" for nothing."""
    state = state_of(host, record.uid, container, kind)
    instance = record.container(container).current
    if state is None or instance is None or state.container_id != instance.container_id:
        return ""
    return state.result


def is_started(host: Host, record: PodRecord, container: Object, old: Object | None) -> bool:
    """Whether a running container counts as started."""
    if not container.get("startupProbe"):
        return True
    found = result(host, record, container["name"], STARTUP)
    if found:
        return found == SUCCESS
    # Until its worker looks again, a restarted container keeps what its last run had (startup-blocks-liveness).
    instance = record.container(container["name"]).current
    if instance is not None and instance.restarts and old is not None:
        return bool(old.get("started"))
    return False


def is_ready(host: Host, record: PodRecord, container: Object) -> bool:
    """Whether a started, running container counts as ready."""
    if not container.get("readinessProbe"):
        return True
    return result(host, record, container["name"], READINESS) == SUCCESS


def add_workers(host: Host, record: PodRecord, pod: Object) -> PodRecord:
    """Start the tickers of a pod's probes; what the first sync does just before it starts containers."""
    if record.has_probes:
        return record
    for container in probed_containers(pod):
        for kind, _probe in probes_of(container):
            # The workers start just before the containers; the one of the startup probe looks last.
            base_ms = host.now_ms - (1 if kind == STARTUP else 3)
            host.probes[(record.uid, container["name"], kind)] = ProbeState(base_ms=base_ms)
    return record._replace(has_probes=True)


def remove_workers(
    host: Host, record: PodRecord, pod: Object, kinds: tuple[str, ...] = (STARTUP, LIVENESS, READINESS)
) -> None:
    """Stop the probes of a pod."""
    for container in probed_containers(pod):
        for kind, _probe in probes_of(container):
            if kind in kinds:
                key = (record.uid, container["name"], kind)
                host.probes.pop(key)
                host.loop.cancel("kubelet", ("probe", *key))


def arrange(host: Host, record: PodRecord, pod: Object, status: Object) -> None:
    """Ask for the next look of each probe whose container runs; not-ready ones are looked at now.

    Called with each generated status: a sync triggers the readiness probe of a container that is not ready.
    """
    rows = {
        row["name"]: row
        for key in ("initContainerStatuses", "containerStatuses")
        for row in status.get(key) or ()
    }
    for container in probed_containers(pod):
        row = rows.get(container["name"])
        if row is None or "running" not in row["state"]:
            continue
        for kind, probe in probes_of(container):
            state = state_of(host, record.uid, container["name"], kind)
            if state is None:
                continue
            is_new = f"containerd://{state.container_id}" != row["containerID"]
            if kind == READINESS and row["started"] and not row["ready"]:
                host.probes[(record.uid, container["name"], kind)] = state._replace(
                    is_manual=True, is_parked=False
                )
                host.wake(host.now_ms + MANUAL_DELAY_MS, "probe", record.uid, container["name"], kind)
            elif is_new or not (state.is_parked or state.is_on_hold):
                _wake_at_tick(host, record, container["name"], kind, probe, state)


def _wake_at_tick(
    host: Host, record: PodRecord, container: str, kind: str, probe: Object, state: ProbeState
) -> None:
    period_ms = max(probe.get("periodSeconds", 10), 1) * SECOND_MS
    passed = (host.now_ms - state.base_ms) // period_ms + 1
    host.wake(state.base_ms + passed * period_ms, "probe", record.uid, container, kind)


def unpark(host: Host, record: PodRecord, container: Object) -> None:
    """Let a container's probes look again, as what they saw holds no more."""
    for kind, probe in probes_of(container):
        state = state_of(host, record.uid, container["name"], kind)
        if state is not None and state.is_parked:
            host.probes[(record.uid, container["name"], kind)] = state._replace(is_parked=False)
            _wake_at_tick(host, record, container["name"], kind, probe, state)


def look(host: Host, record: PodRecord, pod: Object, container: Object, kind: str) -> Change:
    """Let one probe worker have its turn and return what must follow."""
    name = container["name"]
    probe = dict(probes_of(container)).get(kind)
    state = state_of(host, record.uid, name, kind)
    status = record.status
    if probe is None or state is None or status is None:
        return Change()
    row = _row(status, name)
    if row is None or "running" not in row["state"]:
        return Change()
    now_ms = host.now_ms
    if state.is_manual:
        state = state._replace(is_manual=False, base_ms=now_ms)
    before = state.result
    container_id = row["containerID"].removeprefix("containerd://")
    is_new = state.container_id != container_id
    if is_new:
        state = state._replace(
            container_id=container_id, result=_INITIAL[kind], is_on_hold=False, is_parked=False
        )
        before = ""
    key = (record.uid, name, kind)
    if "deletionTimestamp" in pod["metadata"] and kind != READINESS:
        host.probes.pop(key)
        return Change()
    instance = record.container(name).current
    asked: _asking.Answer | None = None
    is_due = instance is not None and not state.is_on_hold
    if is_due and instance is not None:
        since_s = (now_ms - instance.started_ms // SECOND_MS * SECOND_MS) // SECOND_MS
        is_due = since_s >= probe.get("initialDelaySeconds", 0)
    if is_due and (bool(row.get("started")) == (kind != STARTUP)):
        asked = _asking.ask(host, record, container, probe)
    host.probes[key] = state
    if asked is not None and asked.took_ms > 0:
        # The answer comes later; the worker's next tick is behind it.
        host.loop.schedule(
            now_ms + asked.took_ms,
            "kubelet",
            ("probed", record.uid, name, kind, container_id, asked.outcome, asked.message, before, is_new),
        )
        return _change(kind, before, state.result, is_new=is_new)
    if asked is not None:
        state = judge(host, record, pod, container, kind, probe, state, asked.outcome, asked.message)
        if asked.is_steady and state.result == SUCCESS:
            state = state._replace(is_parked=True)
        host.probes[key] = state
    if not (state.is_parked or state.is_on_hold) and not (
        kind == STARTUP and row.get("started") and not is_new
    ):
        _wake_at_tick(host, record, name, kind, probe, state)
    return _change(kind, before, state.result, is_new=is_new)


def answered(
    host: Host, record: PodRecord, pod: Object, key: tuple[Any, ...]
) -> tuple[Object | None, Change]:
    """Take in an answer that took time; returns the container and what must follow."""
    _, uid, name, kind, container_id, outcome, message, before, is_new = key
    container = next((each for each in probed_containers(pod) if each["name"] == name), None)
    state = state_of(host, uid, name, kind)
    if container is None or state is None or state.container_id != container_id:
        return None, Change()
    probe = dict(probes_of(container)).get(kind)
    instance = record.container(name).current
    if probe is None or instance is None or (record.worker != SYNCING and kind != READINESS):
        return None, Change()
    before = state.result if not is_new else before
    state = judge(host, record, pod, container, kind, probe, state, outcome, message)
    host.probes[(uid, name, kind)] = state
    if state.is_manual:
        host.wake(host.now_ms + 1, "probe", uid, name, kind)
    elif not state.is_on_hold:
        _wake_at_tick(host, record, name, kind, probe, state)
    return container, _change(kind, before, state.result, is_new=is_new)


def judge(
    host: Host,
    record: PodRecord,
    pod: Object,
    container: Object,
    kind: str,
    probe: Object,
    state: ProbeState,
    outcome: str,
    message: str,
) -> ProbeState:
    """Return a worker's state after an answer, and record its event."""
    label = kind.capitalize()
    if outcome == _asking.ERROR:
        text = f"{label} probe errored and resulted in unknown state: {message}"
        host.event(record, pod, "Warning", "Unhealthy", text, container["name"])
        return state
    if outcome == _asking.WARNING:
        host.event(
            record, pod, "Warning", "ProbeWarning", f"{label} probe warning: {message}", container["name"]
        )
        outcome = SUCCESS
    elif outcome == FAILURE:
        host.event(record, pod, "Warning", "Unhealthy", f"{label} probe failed: {message}", container["name"])
    run = state.run + 1 if state.last == outcome else 1
    state = state._replace(last=outcome, run=run)
    threshold = probe.get("failureThreshold", 3) if outcome == FAILURE else probe.get("successThreshold", 1)
    if run < threshold:
        return state
    state = state._replace(result=outcome)
    if kind == STARTUP or (kind == LIVENESS and outcome == FAILURE):
        state = state._replace(is_on_hold=True, run=0)
    return state


def _change(kind: str, before: str, after: str, *, is_new: bool) -> Change:
    if kind == READINESS:
        if is_new and after != SUCCESS:
            return Change("ready", False, must_sync=True)
        if after == before:
            return Change()
        return Change("ready", after == SUCCESS, must_sync=after != SUCCESS)
    if kind == STARTUP:
        if is_new or after != before:
            return Change("started", after == SUCCESS, must_sync=True)
        return Change()
    return Change(must_sync=after == FAILURE and before != FAILURE)


def _row(status: Object, name: str) -> Object | None:
    for key in ("containerStatuses", "initContainerStatuses"):
        for row in status.get(key) or ():
            if row["name"] == name:
                found: Object = row
                return found
    return None
