"""How `kubectl describe` shows an object it has no special text for: every field, labelled from its name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, write_events
from env_core.objects import goformat
from env_core.world import Object

_SKIPPED = frozenset(
    {
        ".metadata.managedFields",
        ".metadata.name",
        ".metadata.namespace",
        ".metadata.labels",
        ".metadata.annotations",
    }
)
_ACRONYMS = frozenset({"API", "URL", "UID", "GUID"})


def describe_unstructured(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return the text for kinds that kubectl does not know, custom resources among them.

    Source: k8s.io/kubectl pkg/describe genericDescriber; tests/golden/l0/describe.jsonl.gz.
    """
    metadata = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    _write_fields(writer, 0, obj, "")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def _write_fields(writer: LineWriter, level: int, content: Object, path: str) -> None:
    for field in sorted(content):
        here = f"{path}.{field}"
        if here in _SKIPPED:
            continue
        value = content[field]
        if isinstance(value, dict):
            _write_line(writer, level, f"{label_for(field)}:")
            _write_fields(writer, level + 1, value, here)
        elif isinstance(value, list):
            _write_line(writer, level, f"{label_for(field)}:")
            for child in value:
                if isinstance(child, dict):
                    _write_fields(writer, level + 1, child, here)
                else:
                    _write_line(writer, level + 1, _text(child))
        else:
            _write_line(writer, level, f"{label_for(field)}:\t{_text(value)}")


def _write_line(writer: LineWriter, level: int, text: str) -> None:
    # Custom resources nest deeper than the writer's own levels go.
    writer.line(0, "  " * level + text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else goformat.value_text(value)


@lru_cache(maxsize=2048)
def label_for(field: str) -> str:
    """Return a field's label: "podIP" is "Pod IP", "apiVersion" is "API Version"."""
    if not all(char.isalpha() or char == "-" for char in field):
        return field
    parts = _merged(_split(field))
    return " ".join(_titled(part) for part in parts)


def _titled(part: str) -> str:
    if part.upper() in _ACRONYMS:
        return part.upper()
    return part.capitalize() if part.lower() == part else part


def _split(field: str) -> list[str]:
    """Split at changes of case; the last capital of a run begins the word behind it."""
    runs: list[str] = []
    classes: list[int] = []
    for char in field:
        kind = 1 if char.islower() else 2 if char.isupper() else 3
        if classes and classes[-1] == kind:
            runs[-1] += char
        else:
            runs.append(char)
            classes.append(kind)
    for index in range(len(runs) - 1):
        if classes[index] == 2 and classes[index + 1] == 1:
            runs[index + 1] = runs[index][-1] + runs[index + 1]
            runs[index] = runs[index][:-1]
    return [run for run in runs if run]


def _merged(parts: list[str]) -> list[str]:
    """Join a run of two capitals or more with a capitalised word behind it ("IPs")."""
    merged: list[str] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        follows = parts[index + 1] if index + 1 < len(parts) else ""
        is_upper = not any(char.isalpha() and not char.isupper() for char in part)
        if len(part) >= 2 and is_upper and follows[:1].isupper():
            merged.append(part + follows)
            index += 2
        else:
            merged.append(part)
            index += 1
    return merged
