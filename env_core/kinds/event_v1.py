"""Events as events.k8s.io/v1 shows them; stored in the core form."""

from __future__ import annotations

from env_core.apiserver.kind import Conversion, Kind
from env_core.kinds._event_conversion import from_events_v1, to_events_v1

KIND = Kind(
    group="events.k8s.io",
    version="v1",
    kind="Event",
    plural="events",
    singular="event",
    short_names=("ev",),
    subresources=(),
    has_status=False,
    field_labels=(
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "regarding.apiVersion",
        "regarding.resourceVersion",
        "regarding.fieldPath",
        "reason",
        "reportingController",
        "type",
        "metadata.name",
        "metadata.namespace",
    ),
    conversion=Conversion("events", from_events_v1, to_events_v1),
    source="k8s.io/api events/v1 Event, 1.37; tests/golden/l2/facts; field labels of pkg/apis/events/v1 conversion.go",
)
