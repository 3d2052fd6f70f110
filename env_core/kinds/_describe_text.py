"""The text that `kubectl describe` writes: an indenting line writer, labels, annotations, events, times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from env_core.objects.gosort import go_sorted
from env_core.objects.tabwriter import TabWriter
from env_core.sim import timefmt
from env_core.world import Object

NONE = "<none>"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
ANNOTATION_LENGTH_MAX = 140

_INDENT = "  "
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LineWriter:
    """Collects indented, tab-separated lines; `text()` aligns them as kubectl's describers do.

    A level is two spaces. Cells end with a tab. `flush()` ends the aligned block, so that what follows gets
    its own column widths. Terminal escapes and carriage returns are made visible, as kubectl does.

    Source: k8s.io/kubectl pkg/describe PrefixWriter; tests/golden/l0/describe.jsonl.gz.
    """

    __slots__ = ("_block", "_blocks")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._block: list[str] = []

    def write(self, level: int, text: str) -> None:
        """Append `text` behind `level` indents; a newline is the caller's to give."""
        self._block.append(_INDENT * level + text)

    def line(self, level: int, text: str) -> None:
        """Append one line behind `level` indents."""
        self._block.append(f"{_INDENT * level}{text}\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Append lines that carry their own indents."""
        for text in texts:
            self._block.append(text + "\n")

    def flush(self) -> None:
        """End the aligned block."""
        if self._block:
            self._blocks.append("".join(self._block))
            self._block = []

    def text(self) -> str:
        """Return everything written, aligned."""
        self.flush()
        return "".join(aligned(block) for block in self._blocks)


def aligned(block: str) -> str:
    """Return tab-separated lines with their columns aligned and control characters made visible."""
    if "\x1b" in block or "\r" in block:
        block = block.replace("\x1b", "^[").replace("\r", "\\r")
    table = TabWriter(minwidth=0, tabwidth=8, padding=2, padchar=" ")
    table.write(block)
    return table.flush()


def labels_lines(
    title: str, labels: Mapping[str, str] | None, indent: str = "", skip: tuple[str, ...] = ()
) -> list[str]:
    """Return `title:<tab>key=value` and one line for each further label, sorted; `<none>` without any.

    `indent` stands before every line, e.g. "  " for a pod template's labels; keys in `skip` are left out.
    """
    keys = sorted(key for key in labels or () if key not in skip)
    if not keys or labels is None:
        return [f"{indent}{title}:\t{NONE}"]
    first, *rest = keys
    return [f"{indent}{title}:\t{first}={labels[first]}", *(f"{indent}\t{key}={labels[key]}" for key in rest)]


def annotations_lines(title: str, annotations: Mapping[str, str] | None, indent: str = "") -> list[str]:
    """Return annotations as `labels_lines` does labels, without what `kubectl apply` remembers.

    Values that are long or have several lines start on a line of their own and are cut at 140 characters.
    """
    keys = sorted(key for key in annotations or () if key != LAST_APPLIED)
    if not keys or annotations is None:
        return [f"{indent}{title}:\t{NONE}"]
    lines: list[str] = []
    prefix = f"{indent}{title}:\t"
    for key in keys:
        value = annotations[key].removesuffix("\n")
        if "\n" in value or len(value.encode()) + len(key.encode()) + 2 > ANNOTATION_LENGTH_MAX:
            lines.append(f"{prefix}{key}:")
            lines.extend(f"\t  {_shortened(part)}" for part in value.split("\n"))
        else:
            lines.append(f"{prefix}{key}: {value}")
        prefix = "\t"
    return lines


def _shortened(text: str) -> str:
    limit = ANNOTATION_LENGTH_MAX - 2
    raw = text.encode()
    return text if len(raw) <= limit else raw[:limit].decode(errors="replace") + "..."


def events_text(events: list[Object], now_ms: int) -> str:
    """Return the aligned events part: `Events: <none>` or the table, oldest last occurrence first.

    The part is a block of its own; append it to `LineWriter.text()`. Where an object has no events the line
    belongs to the block before, so use `write_events` when there is such a block.
    """
    writer = LineWriter()
    write_events(writer, events, now_ms)
    return writer.text()


def write_events(writer: LineWriter, events: list[Object] | None, now_ms: int) -> None:
    """Append the events part to `writer`: `Events:<tab><none>`, or the table as a block of its own.

    Nothing is written when `events` is None: that is how `--show-events=false` shows.
    """
    if events is None:
        return
    if not events:
        writer.line(0, f"Events:\t{NONE}")
        return
    writer.flush()
    writer.line(0, "Events:")
    writer.line(1, "Type\tReason\tAge\tFrom\tMessage")
    writer.line(1, "----\t------\t----\t----\t-------")
    for event in go_sorted(events, _was_seen_before):
        source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
        message = (event.get("message") or "").strip()
        field_path = (event.get("involvedObject") or {}).get("fieldPath")
        cells = (
            event.get("type") or "",
            event.get("reason") or "",
            _interval(event, now_ms),
            source,
            f"{field_path}: {message}" if field_path else message,
        )
        writer.line(1, "\t".join(cells))


def _was_seen_before(first: Object, second: Object) -> bool:
    """Say whether `first` was last seen earlier; an event of events.k8s.io has no such time and comes first."""
    earlier, later = first.get("lastTimestamp"), second.get("lastTimestamp")
    if not earlier or not later:
        return bool(later) and not earlier
    return timefmt.parse_ms(earlier) < timefmt.parse_ms(later)


def _interval(event: Object, now_ms: int) -> str:
    """Return "5m" or "5m (x12 over 11m)"."""
    first = translate_age(event.get("eventTime") or event.get("firstTimestamp"), now_ms)
    series = event.get("series")
    if series:
        return f"{translate_age(series.get('lastObservedTime'), now_ms)} (x{series.get('count', 0)} over {first})"
    if event.get("count", 0) > 1:
        return f"{translate_age(event.get('lastTimestamp'), now_ms)} (x{event['count']} over {first})"
    return first


def translate_age(timestamp: str | None, now_ms: int) -> str:
    """Return how long ago an RFC 3339 time was, "5m3s"; `<unknown>` when there is none."""
    if not timestamp:
        return "<unknown>"
    age_ms = now_ms - timefmt.parse_ms(timestamp)
    return _age(age_ms // 1000) if age_ms >= 0 else timefmt.human_duration(age_ms)


@lru_cache(maxsize=8192)
def _age(seconds: int) -> str:
    return timefmt.human_duration(seconds * 1000)


def rfc1123z(timestamp: str | None) -> str:
    """Return an RFC 3339 time as "Thu, 15 Jan 2026 11:54:40 +0000" (Go's zero time when there is none)."""
    if not timestamp:
        return "Mon, 01 Jan 0001 00:00:00 +0000"
    moment = _EPOCH + timedelta(milliseconds=timefmt.parse_ms(timestamp))
    return (
        f"{_WEEKDAYS[moment.weekday()]}, {moment.day:02d} {_MONTHS[moment.month - 1]} {moment.year:04d} "
        f"{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d} +0000"
    )


def tolerations_lines(title: str, tolerations: list[Object] | None, indent: str = "") -> list[str]:
    """Return a pod's tolerations, `key=value:Effect op=Exists for 300s`, sorted by key."""
    if not tolerations:
        return [f"{indent}{title}:\t{NONE}"]
    texts = [_toleration(item) for item in sorted_as_go(tolerations, "key")]
    return [f"{indent}{title}:\t{texts[0]}", *(f"{indent}\t{text}" for text in texts[1:])]


def sorted_as_go(items: Iterable[Object], field: str) -> list[Object]:
    """Return `items` by a text field, equal ones in the order in which Go's sort leaves them."""
    return go_sorted(
        list(items), lambda first, second: str(first.get(field, "")) < str(second.get(field, ""))
    )


def _toleration(toleration: Object) -> str:
    key = toleration.get("key") or ""
    value = toleration.get("value") or ""
    effect = toleration.get("effect") or ""
    text = key + (f"={value}" if value else "") + (f":{effect}" if effect else "")
    if toleration.get("operator") == "Exists" and not value:
        text += " op=Exists" if text else "op=Exists"
    if toleration.get("tolerationSeconds") is not None:
        text += f" for {toleration['tolerationSeconds']}s"
    return text


def controller_text(obj: Object) -> str:
    """Return "Kind/name" of the object's controller, "" when nothing controls it."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind']}/{owner['name']}"
    return ""


def name_lines(writer: LineWriter, obj: Object) -> None:
    """Append the lines `Name` and `Namespace`."""
    metadata = obj["metadata"]
    writer.line(0, f"Name:\t{metadata.get('name', '')}")
    writer.line(0, f"Namespace:\t{metadata.get('namespace', '')}")


def labels_and_annotations(writer: LineWriter, obj: Object) -> None:
    """Append the parts `Labels` and `Annotations` of an object's metadata."""
    writer.lines(labels_lines("Labels", obj["metadata"].get("labels")))
    writer.lines(annotations_lines("Annotations", obj["metadata"].get("annotations")))


def bool_text(value: bool) -> str:
    """Return "True" or "False"."""
    return "True" if value else "False"


def list_text(values: Iterable[object]) -> str:
    """Return a list as Go prints one, "[a b]"."""
    return f"[{' '.join(str(value) for value in values)}]"
