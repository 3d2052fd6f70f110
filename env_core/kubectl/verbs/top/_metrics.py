"""Usage tables of `kubectl top`, and reading metrics.k8s.io.

Source: k8s.io/kubectl pkg/metricsutil metrics_printer.go; tests/golden/l0/top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.objects import selectors
from env_core.objects.quantity import Quantity, parse
from env_core.objects.tabwriter import TabWriter
from env_core.world import Object

SORT_BY = ("", "cpu", "memory")
_MEBIBYTE = 1024 * 1024
_UNKNOWN = "<unknown>"
_NOTHING = parse("0")
_UNKNOWN_RESOURCE = "the server could not find the requested resource"


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU and memory that something uses, in thousandths of a core (rounded up) and in bytes."""

    cpu: Quantity
    memory: Quantity
    swap: Quantity | None = None

    @property
    def cpu_text(self) -> str:
        return f"{self.cpu.milli_value()}m"

    @property
    def memory_text(self) -> str:
        return f"{self.memory.value() // _MEBIBYTE}Mi"

    @property
    def swap_text(self) -> str:
        return f"{(self.swap or _NOTHING).value() // _MEBIBYTE}Mi"

    def amount(self, sort_by: str) -> int:
        """Return what --sort-by compares."""
        return self.cpu.milli_value() if sort_by == "cpu" else self.memory.value()


def usage_of(amounts: Object) -> Usage:
    """Return the usage that a `usage` object of metrics.k8s.io tells."""
    swap = amounts.get("swap")
    return Usage(
        parse(amounts.get("cpu", "0")),
        parse(amounts.get("memory", "0")),
        None if swap is None else parse(swap),
    )


def total(usages: Sequence[Usage]) -> Usage:
    """Return the sum of usages."""
    cpu, memory, swap = _NOTHING, _NOTHING, _NOTHING
    for usage in usages:
        cpu, memory, swap = cpu + usage.cpu, memory + usage.memory, swap + (usage.swap or _NOTHING)
    return Usage(cpu, memory, swap)


def read_metrics(ctx: Context, resource: str, namespace: str, name: str, label_selector: str) -> list[Object]:
    """Return the metrics of pods or nodes.

    Raises:
        Failure: when the metrics API is not there.
        StatusError: when it refuses.
    """
    try:
        selectors.parse_labels(label_selector)
    except selectors.SelectorError as error:
        raise Failure(str(error)) from None
    try:
        if name:
            return [ctx.api.get(resource, namespace, name)]
        return ctx.api.list(resource, namespace, label_selector=label_selector)
    except StatusError as error:
        if error.code == 404 and error.message.startswith(_UNKNOWN_RESOURCE):
            raise Failure("Metrics API not available") from None
        raise


def check_sort_by(sort_by: str) -> None:
    """Refuse other orders than those by cpu and memory.

    Raises:
        Failure: always in the same words.
    """
    if sort_by not in SORT_BY:
        raise Failure("--sort-by accepts only cpu or memory")


def pods_table(
    metrics: Sequence[Object],
    *,
    sort_by: str = "",
    has_containers: bool = False,
    has_namespace: bool = False,
    has_headers: bool = True,
    has_sum: bool = False,
    has_swap: bool = False,
) -> str:
    """Return the table of pods, or of their containers."""
    rows = _pod_rows(metrics, sort_by, has_containers, has_namespace)
    writer = TabWriter(remember_widths=True)
    leading = 1
    if has_headers:
        names = ["POD", "NAME"] if has_containers else ["NAME"]
        if has_namespace:
            names.insert(0, "NAMESPACE")
        leading = len(names)
        names += ["CPU(cores)", "MEMORY(bytes)", *(["SWAP(bytes)"] if has_swap else [])]
        writer.write("\t".join(names) + "\t\n")
    for cells, usage in rows:
        writer.write("\t".join([*cells, *_usage_cells(usage, has_swap)]) + "\t\n")
    if has_sum:
        count = 3 if has_swap else 2
        writer.write("\t".join([""] * leading + ["________"] * count) + "\t\n")
        whole = total([usage for _, usage in rows])
        writer.write("\t".join([""] * leading + _usage_cells(whole, has_swap)) + "\t\n")
    return writer.flush()


def _usage_cells(usage: Usage, has_swap: bool) -> list[str]:
    cells = [usage.cpu_text, usage.memory_text]
    return [*cells, usage.swap_text] if has_swap else cells


def _pod_rows(
    metrics: Sequence[Object], sort_by: str, has_containers: bool, has_namespace: bool
) -> list[tuple[list[str], Usage]]:
    pods = []
    for row in metrics:
        metadata = row["metadata"]
        parts = [(part.get("name", ""), usage_of(part["usage"])) for part in row.get("containers") or ()]
        pods.append(
            (metadata.get("namespace", ""), metadata["name"], parts, total([usage for _, usage in parts]))
        )
    if sort_by:
        pods.sort(key=lambda pod: -pod[3].amount(sort_by))
    else:
        pods.sort(key=lambda pod: (pod[0] if has_namespace else "", pod[1]))
    rows: list[tuple[list[str], Usage]] = []
    for namespace, name, parts, whole in pods:
        lead = [namespace] if has_namespace else []
        if not has_containers:
            rows.append(([*lead, name], whole))
            continue
        if sort_by:
            parts = sorted(parts, key=lambda part: -part[1].amount(sort_by))
        else:
            parts = sorted(parts, key=lambda part: part[0])
        rows.extend(([*lead, name, part], usage) for part, usage in parts)
    return rows


def nodes_table(
    metrics: Sequence[Object],
    allocatable: dict[str, Object],
    *,
    sort_by: str = "",
    has_headers: bool = True,
    has_swap: bool = False,
    swap_capacity: dict[str, int] | None = None,
) -> str:
    """Return the table of nodes; those without metrics come last."""
    rows = [(row["metadata"]["name"], usage_of(row["usage"])) for row in metrics]
    if sort_by:
        rows.sort(key=lambda row: -row[1].amount(sort_by))
    else:
        rows.sort(key=lambda row: row[0])
    writer = TabWriter(remember_widths=True)
    if has_headers:
        names = ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"]
        writer.write("\t".join(names + (["SWAP(bytes)", "SWAP(%)"] if has_swap else [])) + "\t\n")
    for name, usage in rows:
        free = allocatable.get(name) or {}
        cells = [name]
        cells += [
            usage.cpu_text,
            _percent(usage.cpu.milli_value(), parse(free.get("cpu", "0")).milli_value()),
        ]
        cells += [usage.memory_text, _percent(usage.memory.value(), parse(free.get("memory", "0")).value())]
        if has_swap:
            cells.append(usage.swap_text)
            capacity = (swap_capacity or {}).get(name, 0)
            if capacity:
                cells.append(_percent((usage.swap or _NOTHING).value(), capacity))
        writer.write("\t".join(cells) + "\t\n")
    measured = {name for name, _ in rows}
    for name in sorted(allocatable):
        if name not in measured:
            writer.write("\t".join([name, *[_UNKNOWN] * (6 if has_swap else 4)]) + "\t\n")
    return writer.flush()


def _percent(used: int, available: int) -> str:
    return f"{int(used / available * 100)}%" if available else "0%"
