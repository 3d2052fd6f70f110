"""One fault behind another in the same workload: the second shows itself only when the first is repaired."""

from __future__ import annotations

from env_core.faults import (
    bad_value,
    egress_policy,
    image_reference,
    missing_command,
    missing_variable,
    oversized_request,
    readiness_probe,
)
from env_core.faults._compounds import masked
from env_core.faults._model import Family

_IMAGE = image_reference.FAMILY.faults[0]
_COMMAND = missing_command.FAMILY.faults[0]
_PROBE = readiness_probe.FAMILY.faults[0]
_REQUEST = oversized_request.FAMILY.faults[0]
_LOOKUPS = egress_policy.FAMILY.faults[0]
_HOST = bad_value.FAMILY.faults[0]
_VARIABLE = missing_variable.FAMILY.faults[0]

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
        masked("lookups-then-host", _LOOKUPS, _HOST),
        masked("image-then-variable", _IMAGE, _VARIABLE),
    ),
)
