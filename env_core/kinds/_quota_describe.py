"""How `kubectl describe` shows quotas and limit ranges, alone and within a namespace."""

from __future__ import annotations

from env_core.kinds._describe_text import LineWriter
from env_core.objects import quantity
from env_core.world import Object

_SCOPE_TEXTS = {
    "Terminating": "Matches all pods that have an active deadline. These pods have a limited lifespan on a node "
    "before being actively terminated by the system.",
    "NotTerminating": "Matches all pods that do not have an active deadline. These pods usually include long "
    "running pods whose container command is not expected to terminate.",
    "BestEffort": "Matches all pods that do not have resource requirements set. These pods have a best effort "
    "quality of service.",
    "NotBestEffort": "Matches all pods that have at least one resource requirement set. These pods have a "
    "burstable or guaranteed quality of service.",
}
_LIMIT_FIELDS = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")


def amount_text(amounts: Object, name: str) -> str:
    """Return an amount in its canonical form, "0" when it is not there."""
    return quantity.canonical(str(amounts[name])) if name in amounts else "0"


def write_scopes(writer: LineWriter, level: int, bullet: str, quota: Object) -> None:
    """Append the scopes of a quota, sorted, with what the well-known ones match."""
    scopes = sorted((quota.get("spec") or {}).get("scopes") or ())
    if not scopes:
        return
    writer.line(level, f"Scopes:\t{', '.join(scopes)}")
    for scope in scopes:
        if scope in _SCOPE_TEXTS:
            writer.line(level, f"{bullet} {_SCOPE_TEXTS[scope]}")


def write_quotas(writer: LineWriter, quotas: list[Object]) -> None:
    """Append all quotas of a namespace, as `describe namespace` shows them."""
    if not quotas:
        writer.line(0, "No resource quota.")
        return
    writer.line(0, "Resource Quotas")
    for quota in sorted(quotas, key=lambda each: str(each["metadata"]["name"])):
        writer.line(1, f"Name:\t{quota['metadata']['name']}")
        write_scopes(writer, 1, "*", quota)
        writer.line(1, "Resource\tUsed\tHard")
        writer.line(1, "--------\t---\t---")
        status = quota.get("status") or {}
        hard, used = status.get("hard") or {}, status.get("used") or {}
        for name in sorted(hard):
            writer.line(1, f"{name}\t{amount_text(used, name)}\t{amount_text(hard, name)}")


def write_limit_ranges(writer: LineWriter, ranges: list[Object]) -> None:
    """Append all limit ranges of a namespace, as `describe namespace` shows them."""
    if not ranges:
        writer.line(0, "No LimitRange resource.")
        return
    writer.line(0, "Resource Limits")
    write_limits_header(writer, " ")
    for limit_range in ranges:
        write_limits(writer, limit_range, " ")


def write_limits_header(writer: LineWriter, prefix: str) -> None:
    """Append the two header lines of the limits table."""
    titles = "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio"
    writer.line(0, prefix + titles)
    writer.line(0, prefix + "\t".join("-" * len(title) for title in titles.split("\t")))


def write_limits(writer: LineWriter, limit_range: Object, prefix: str) -> None:
    """Append one line for each limited resource; kubectl's own order is random, ours is by name."""
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        amounts = [item.get(field) or {} for field in _LIMIT_FIELDS]
        for name in sorted({name for each in amounts for name in each}):
            cells = [amount_text(each, name) if name in each else "-" for each in amounts]
            writer.line(0, prefix + "\t".join((item.get("type", ""), name, *cells)))
