"""What containers and nodes use, and what applications serve: cAdvisor, the node exporter, and HTTP servers.

Source: https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md (names, labels, units),
https://github.com/prometheus/node_exporter#collectors and https://prometheus.io/docs/guides/node-exporter/; the
applications' metrics are named after https://prometheus.io/docs/practices/instrumentation/ and naming/.

A running container tells what it has used in all, and in the last two windows of 15 seconds; before these, its use is
taken to have been even since its start. Containers that are gone tell nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from env_core.apiserver.store import Store
from env_core.dataplane.network import Network
from env_core.dataplane.serving import WINDOW_MS, Usage
from env_core.objects import quantity
from env_core.observability.metrics import NODE_CPU_MILLIS, NODE_MEMORY_BYTES, usage_of
from env_core.observability.series._sampling import Sampler
from env_core.programs import Run, Runtime
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

_PERIOD_SECONDS: Final = 0.1
"""The kernel's default period of CPU limits."""


class Running(NamedTuple):
    """A container's newest run."""

    pod: Object
    run: Run
    usage: Usage
    until_ms: int
    """When it ended, or now."""


def running(store: Store, runtime: Runtime, network: Network, now_ms: int) -> list[Running]:
    """Return the newest run of every container of every pod."""
    found = []
    for pod in store.list("pods"):
        spec = pod["spec"]
        for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
            run = runtime.run(pod["metadata"]["uid"], container["name"])
            if run is not None:
                end_ms = run.exit_at_ms
                until_ms = now_ms + 1 if end_ms is None or end_ms > now_ms else end_ms
                found.append(Running(pod, run, network.usage(run), until_ms))
    return found


def _shares(each: Running, times: Sequence[int]) -> list[float]:
    """Return which part of all that a run's requests have used had been used at each time."""
    usage, started_ms = each.usage, each.run.container.started_ms
    total = usage.cpu_ms
    begin_ms = usage.window * WINDOW_MS
    if not total:
        # Requests that cost nothing measurable: evenly up to the last known one.
        total, recent, before = 1, 0, 0
    else:
        recent, before = usage.window_cpu_ms, usage.before_cpu_ms
    earlier = total - recent - before
    early_end_ms = max(begin_ms - WINDOW_MS, started_ms + 1)
    found = []
    for at_ms in times:
        done = earlier * _part(at_ms, started_ms, early_end_ms)
        done += before * _part(at_ms, begin_ms - WINDOW_MS, begin_ms)
        done += recent * _part(at_ms, begin_ms, begin_ms + WINDOW_MS)
        found.append(done / total)
    return found


def _part(at_ms: int, start_ms: int, end_ms: int) -> float:
    return min(max((at_ms - start_ms) / (end_ms - start_ms), 0.0), 1.0)


def _labels(each: Running) -> dict[str, str]:
    container = each.run.container
    return {
        "namespace": container.namespace,
        "pod": container.pod,
        "container": container.name,
        "image": container.image,
        "name": each.run.container_id.rpartition("/")[2],
        "node": container.node,
        "instance": container.node,
    }


def container_series(sampler: Sampler, found: Sequence[Running], network: Network) -> None:
    """Add cAdvisor's series."""
    for each in found:
        run, container = each.run, each.run.container
        first, last = sampler.indexes(container.started_ms, each.until_ms)
        times = sampler.times(first, last)
        if not times:
            continue
        labels = _labels(each)
        for name, values in _used(each, times, network).items():
            sampler.add_values(name, labels, first, values)
        for name, value in _limits(run):
            sampler.add_values(name, labels, first, [value] * len(times))


def _used(each: Running, times: Sequence[int], network: Network) -> Mapping[str, list[float]]:
    run, usage = each.run, each.usage
    started_ms = run.container.started_ms
    resting = run.launch.cpu_millis / 1_000_000
    shares = _shares(each, times)
    cpu = [
        (at_ms - started_ms) * resting + share * usage.cpu_ms / 1000
        for at_ms, share in zip(times, shares, strict=True)
    ]
    memory = [float(usage_of(run, network, at_ms)[1]) for at_ms in times]
    found: dict[str, list[float]] = {
        "container_cpu_usage_seconds_total": cpu,
        "container_memory_working_set_bytes": memory,
        "container_memory_usage_bytes": [value * 1.05 // 1 for value in memory],
        "container_memory_rss": [value * 0.9 // 1 for value in memory],
    }
    limit = run.container.cpu_limit_millis
    if limit is not None:
        allowed = limit / 1000
        periods = [(at_ms - started_ms) / 1000 / _PERIOD_SECONDS // 1 for at_ms in times]
        busy = [share * usage.cpu_ms / 1000 / allowed / _PERIOD_SECONDS // 1 for share in shares]
        found["container_cpu_cfs_periods_total"] = periods
        found["container_cpu_cfs_throttled_periods_total"] = busy
    return found


def _limits(run: Run) -> Iterator[tuple[str, float]]:
    container = run.container
    yield "container_start_time_seconds", container.started_ms // 1000
    yield "container_spec_memory_limit_bytes", container.memory_limit_bytes or 0
    yield "container_spec_cpu_shares", max(container.cpu_request_millis * 1024 // 1000, 2)
    yield "container_spec_cpu_period", 100_000
    if container.cpu_limit_millis is not None:
        yield "container_spec_cpu_quota", container.cpu_limit_millis * 100


def application_series(sampler: Sampler, found: Sequence[Running]) -> None:
    """Add `up` of the HTTP servers, and how many requests they answered, with which codes, and how long they took.

    The time is what serving took of the CPU; requests that nobody answered (code 0) count as 500, as middleware has it.
    """
    for each in found:
        container = each.run.container
        ports = [each_port for each_port in each.run.launch.listeners if each_port.protocol == "http"]
        if not ports:
            continue
        labels = {
            "namespace": container.namespace,
            "pod": container.pod,
            "container": container.name,
            "instance": f"{container.pod_ip}:{ports[0].port}",
        }
        begun, _ = sampler.indexes(container.started_ms, each.until_ms)
        first, last = sampler.indexes(container.started_ms + ports[0].after_ms, each.until_ms)
        times = sampler.times(first, last)
        # Before it listens and after it has ended there is nobody to scrape.
        after = len(sampler.times(last, len(sampler)))
        sampler.add_values("up", labels, begun, [0.0] * (first - begun) + [1.0] * len(times) + [0.0] * after)
        if times:
            started = container.started_ms / 1000
            sampler.add_values("process_start_time_seconds", labels, first, [started] * len(times))
            _requests(sampler, each, labels, first, times)


def _requests(
    sampler: Sampler, each: Running, labels: Mapping[str, str], first: int, times: Sequence[int]
) -> None:
    shares = _shares(each, times)
    counts: dict[str, int] = {}
    for status, count in each.usage.codes:
        code = "500" if status < 0 else str(status)
        if status:
            counts[code] = counts.get(code, 0) + count
    total = [0.0] * len(times)
    for code in sorted(counts):
        values = [share * counts[code] // 1 for share in shares]
        total = [one + other for one, other in zip(total, values, strict=True)]
        sampler.add_values("http_requests_total", {**labels, "code": code}, first, values)
    if counts:
        spent = [share * each.usage.cpu_ms / 1000 for share in shares]
        sampler.add_values("http_request_duration_seconds_sum", labels, first, spent)
        sampler.add_values("http_request_duration_seconds_count", labels, first, total)


def node_series(
    sampler_of: Callable[[str], Sampler], store: Store, found: Sequence[Running], network: Network
) -> None:
    """Add the node exporter's series; `sampler_of` makes a node's sampler."""
    for node in store.list("nodes"):
        name = node["metadata"]["name"]
        sampler = sampler_of(name)
        capacity = (node.get("status") or {}).get("capacity") or {}
        cores = quantity.to_milli(capacity.get("cpu", "4")) // 1000
        memory = quantity.to_bytes(capacity.get("memory", "16Gi"))
        booted_ms = parse_ms(node["metadata"]["creationTimestamp"])
        first, last = sampler.indexes(booted_ms, 1 << 62)
        times = sampler.times(first, last)
        own = [each for each in found if each.run.container.node == name]
        busy, used = _of_node(own, times, booted_ms, network)
        told = (node.get("status") or {}).get("nodeInfo") or {}
        for cpu in range(cores):
            spent = [value / cores for value in busy]
            for mode, part in (("user", 0.7), ("system", 0.3)):
                labels = {"cpu": str(cpu), "mode": mode}
                sampler.add_values("node_cpu_seconds_total", labels, first, [value * part for value in spent])
            idle = [(at - booted_ms) / 1000 - value for at, value in zip(times, spent, strict=True)]
            sampler.add_values("node_cpu_seconds_total", {"cpu": str(cpu), "mode": "idle"}, first, idle)
        free = [float(max(memory - value, 0)) for value in used]
        constant: dict[str, float] = {
            "node_memory_MemTotal_bytes": memory,
            "node_boot_time_seconds": booted_ms // 1000,
        }
        for metric, value in constant.items():
            sampler.add_values(metric, {}, first, [float(value)] * len(times))
        for metric in ("node_memory_MemAvailable_bytes", "node_memory_MemFree_bytes"):
            sampler.add_values(metric, {}, first, free)
        sampler.add_values("node_time_seconds", {}, first, [at / 1000 for at in times])
        uname = {"nodename": name, "release": told.get("kernelVersion", ""), "sysname": "Linux"}
        machine = "x86_64" if told.get("architecture") == "amd64" else told.get("architecture", "")
        sampler.add_values("node_uname_info", {**uname, "machine": machine}, first, [1.0] * len(times))


def _of_node(
    own: Sequence[Running], times: Sequence[int], booted_ms: int, network: Network
) -> tuple[list[float], list[int]]:
    """Return a node's CPU seconds, and the memory in use."""
    busy = [(at_ms - booted_ms) * NODE_CPU_MILLIS / 1_000_000 for at_ms in times]
    used = [NODE_MEMORY_BYTES] * len(times)
    for each in own:
        started_ms, resting = each.run.container.started_ms, each.run.launch.cpu_millis / 1_000_000
        shares = _shares(each, times)
        for index, at_ms in enumerate(times):
            if at_ms >= started_ms:
                ran_ms = min(at_ms, each.until_ms) - started_ms
                busy[index] += ran_ms * resting + shares[index] * each.usage.cpu_ms / 1000
            if started_ms <= at_ms < each.until_ms:
                used[index] += usage_of(each.run, network, at_ms)[1]
    return busy, used
