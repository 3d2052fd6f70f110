"""Two independent faults on the way of one request: the first repair changes nothing that users would notice."""

from __future__ import annotations

from env_core.faults import missing_command, readiness_probe, service_selector, target_port
from env_core.faults._compounds import apart
from env_core.faults._model import Family

_SELECTOR = service_selector.FAMILY.faults[0]
_PORT = target_port.FAMILY.faults[0]
_PROBE = readiness_probe.FAMILY.faults[0]
_COMMAND = missing_command.FAMILY.faults[0]

FAMILY = Family(
    id="CX-01",
    tier=1,
    summary="Two workloads on the way of one request are broken, each in its own way.",
    partners=("NW-01", "NW-03"),
    source="FAULTS CX-01; the halves' own sources",
    faults=(
        apart("selector-and-port", _SELECTOR, _PORT),
        apart("port-and-selector", _PORT, _SELECTOR, level=4),
        apart("selector-and-probe", _SELECTOR, _PROBE),
        apart("port-and-command", _PORT, _COMMAND),
    ),
)
