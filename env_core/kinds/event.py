"""Events; stored in the core v1 form, also served as events.k8s.io/v1."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import NAME
from env_core.kinds._describe_text import translate_age
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required
from env_core.world import Object

_SHORT_LENGTH_MAX = 128
_MESSAGE_LENGTH_MAX = 1024
_MISMATCH = "does not match event.namespace"


def _validate(obj: Object) -> list[Problem]:
    """Check an event; those with an eventTime are of the new style and must say more.

    Source: k8s.io/kubernetes pkg/apis/core/validation/events.go.
    """
    namespace = obj["metadata"].get("namespace", "")
    home = (obj.get("involvedObject") or {}).get("namespace", "")
    found: list[Problem] = []
    if not obj.get("eventTime"):
        agrees = namespace == home if home else namespace in ("", "default")
        if not agrees:
            found.append(invalid("involvedObject.namespace", home, _MISMATCH))
    else:
        if not home and namespace not in ("default", "kube-system"):
            found.append(invalid("involvedObject.namespace", home, _MISMATCH))
        found += _new_style_problems(obj)
    found += [invalid("namespace", namespace, text) for text in names.is_dns1123_subdomain(namespace)]
    return found


def _new_style_problems(obj: Object) -> list[Problem]:
    component = obj.get("reportingComponent") or ""
    found: list[Problem] = []
    if not component:
        found.append(required("reportingComponent"))
    found += [invalid("reportingComponent", component, text) for text in names.is_qualified_name(component)]
    for field in ("reportingInstance", "action", "reason"):
        text = obj.get(field) or ""
        if not text:
            found.append(required(field))
        if len(text.encode()) > _SHORT_LENGTH_MAX:
            found.append(invalid(field, "", f"can have at most {_SHORT_LENGTH_MAX} characters"))
    if len((obj.get("message") or "").encode()) > _MESSAGE_LENGTH_MAX:
        found.append(invalid("message", "", f"can have at most {_MESSAGE_LENGTH_MAX} characters"))
    return found


def _validate_update(new: Object, _old: Object) -> list[Problem]:
    return _validate(new)


def _cell_first_seen(obj: Object, now_ms: int) -> str:
    return translate_age(obj.get("firstTimestamp") or obj.get("eventTime"), now_ms)


def _cell_last_seen(obj: Object, now_ms: int) -> str:
    series = obj.get("series")
    if series is not None:
        return translate_age(series.get("lastObservedTime"), now_ms)
    last = obj.get("lastTimestamp")
    return translate_age(last, now_ms) if last else _cell_first_seen(obj, now_ms)


def _cell_type(obj: Object, _now_ms: int) -> str:
    return str(obj.get("type") or "")


def _cell_reason(obj: Object, _now_ms: int) -> str:
    return str(obj.get("reason") or "")


def _cell_object(obj: Object, _now_ms: int) -> str:
    target = obj.get("involvedObject") or {}
    kind = str(target.get("kind") or "").lower()
    return f"{kind}/{target['name']}" if target.get("name") else kind


def _cell_subobject(obj: Object, _now_ms: int) -> str:
    return str((obj.get("involvedObject") or {}).get("fieldPath") or "")


def _cell_source(obj: Object, _now_ms: int) -> str:
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {host}" if host else str(component)


def _cell_message(obj: Object, _now_ms: int) -> str:
    return str(obj.get("message") or "").strip()


def _cell_count(obj: Object, _now_ms: int) -> int:
    series = obj.get("series")
    return int(series.get("count") or 0) if series is not None else int(obj.get("count") or 1)


def _source(obj: Object) -> str:
    return (obj.get("source") or {}).get("component") or obj.get("reportingComponent") or ""


KIND = Kind(
    group="",
    version="v1",
    kind="Event",
    plural="events",
    singular="event",
    short_names=("ev",),
    subresources=(),
    has_status=False,
    validate=_validate,
    validate_update=_validate_update,
    field_labels=(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
        "metadata.name",
        "metadata.namespace",
    ),
    field_values={"source": _source},
    columns=(
        Column("Last Seen", _cell_last_seen),
        Column("Type", _cell_type),
        Column("Reason", _cell_reason),
        Column("Object", _cell_object),
        Column("Subobject", _cell_subobject, priority=1),
        Column("Source", _cell_source, priority=1),
        Column("Message", _cell_message),
        Column("First Seen", _cell_first_seen, priority=1),
        Column("Count", _cell_count, priority=1),
        Column(NAME.name, NAME.cell, NAME.type, NAME.format, priority=1),
    ),
    describe=describe_unstructured,
    creates_on_update=True,
    source="k8s.io/api core/v1 Event, 1.37; tests/golden/l0",
)
