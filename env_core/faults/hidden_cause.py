"""One fault behind another in the same workload: the second shows itself only when the first is repaired."""

from __future__ import annotations

from env_core.faults import image_reference, missing_command, oversized_request, readiness_probe
from env_core.faults._compounds import masked
from env_core.faults._model import Family

_IMAGE = image_reference.FAMILY.faults[0]
_COMMAND = missing_command.FAMILY.faults[0]
_PROBE = readiness_probe.FAMILY.faults[0]
_REQUEST = oversized_request.FAMILY.faults[0]

FAMILY = Family(
    id="CX-02",
    tier=1,
    summary="A workload is broken twice, and the second fault shows itself only after the first repair.",
    partners=("IM-01", "RS-05"),
    source="FAULTS CX-02; the halves' own sources",
    faults=(
        masked("image-then-probe", _IMAGE, _PROBE),
        masked("request-then-command", _REQUEST, _COMMAND),
        masked("image-then-command", _IMAGE, _COMMAND),
    ),
)
