"""Lines of klog, the log that kubectl writes to standard error."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.sim.timefmt import rfc3339_micro

_PROCESS = 1


def klog_line(ctx: Context, severity: str, place: str, text: str) -> str:
    """Return "W0115 12:00:00.000000       1 helpers.go:714] text", with its line end."""
    now = rfc3339_micro(ctx.clock.now_ms)
    return f"{severity}{now[5:7]}{now[8:10]} {now[11:26]} {_PROCESS:7} {place}] {text}\n"
