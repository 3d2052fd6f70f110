"""Events in their two API forms: core v1 and events.k8s.io/v1.

Source: k8s.io/kubernetes pkg/apis/events/v1 conversion; tests/golden/l2/facts/tables.json.gz.
"""

from __future__ import annotations

from env_core.world import Object

EVENTS_V1 = "events.k8s.io/v1"

# (core v1 name, events.k8s.io/v1 name); the rest is called the same in both.
_RENAMED = (
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
)
_TO_V1 = dict(_RENAMED)
_TO_CORE = {new: old for old, new in _RENAMED}
# Fields that each form prints even when they hold nothing, and with what.
_V1_PRESENT: Object = {
    "eventTime": None,
    "regarding": {},
    "deprecatedSource": {},
    "deprecatedFirstTimestamp": None,
    "deprecatedLastTimestamp": None,
}
_CORE_PRESENT: Object = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}


def to_events_v1(obj: Object) -> Object:
    """Return a core v1 event as events.k8s.io/v1 shows it."""
    return _converted(obj, _TO_V1, EVENTS_V1, _V1_PRESENT)


def from_events_v1(obj: Object) -> Object:
    """Return an events.k8s.io/v1 event as core v1 shows it."""
    return _converted(obj, _TO_CORE, "v1", _CORE_PRESENT)


def _converted(obj: Object, renamed: dict[str, str], api_version: str, present: Object) -> Object:
    converted = {renamed.get(key, key): value for key, value in obj.items()}
    kept = {key: value for key, value in converted.items() if value not in ("", 0, None) or key in present}
    return {**present, **kept, "apiVersion": api_version, "kind": "Event"}
