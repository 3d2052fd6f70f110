"""Recorded truth for kinds: loading records, and a Reader over the objects that a record holds."""

from __future__ import annotations

import difflib
import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from env_core.objects import selectors
from env_core.sim import timefmt

GOLDEN = Path(__file__).parent.parent / "golden"


@lru_cache(maxsize=64)
def records(topic: str) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines, e.g. "l0/printers"; do not change them."""
    with gzip.open(GOLDEN / f"{topic}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@lru_cache(maxsize=64)
def document(name: str) -> Any:
    """Return a JSON file, e.g. "l0/printer_columns"; do not change it."""
    with gzip.open(GOLDEN / f"{name}.json.gz", "rt", encoding="utf-8") as text:
        return json.load(text)


def key_of(kind: Any) -> str:
    """Return the key by which recordings know a kind, "apps/v1/Deployment"."""
    return f"{kind.api_version}/{kind.kind}"


def plural_of(kind: str) -> str:
    """Return the plural of a kind, "networkpolicies"."""
    word = kind.lower()
    if word.endswith(("endpoints", "status")):
        return word
    if word.endswith("s"):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


class RecordReader:
    """Answers a describer's questions from a list of objects, and remembers the questions."""

    def __init__(self, objects: list[dict[str, Any]], now_ms: int) -> None:
        self._objects = sorted(
            objects,
            key=lambda obj: (obj["metadata"].get("namespace", ""), obj["metadata"].get("name", "")),
        )
        self._now_ms = now_ms
        self.asked: list[str] = []

    @property
    def now_ms(self) -> int:
        return self._now_ms

    def _of(self, resource: str, namespace: str) -> list[dict[str, Any]]:
        plural = resource.split(".", maxsplit=1)[0]
        return [
            obj
            for obj in self._objects
            if plural_of(obj["kind"]) == plural and namespace in ("", obj["metadata"].get("namespace", ""))
        ]

    def get(self, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        self.asked.append(f"get {resource} {namespace}/{name}")
        return next((obj for obj in self._of(resource, namespace) if obj["metadata"]["name"] == name), None)

    def list(
        self, resource: str, namespace: str, label_selector: str = "", field_selector: str = ""
    ) -> list[dict[str, Any]]:
        self.asked.append(f"list {resource} {namespace} {label_selector} {field_selector}".rstrip())
        labels = selectors.parse_labels(label_selector)
        fields = selectors.parse_fields(field_selector)
        return [
            obj
            for obj in self._of(resource, namespace)
            if labels.matches(obj["metadata"].get("labels"))
            and fields.matches({term.field: _field(obj, term.field) for term in fields.terms})
        ]

    def events(self, obj: dict[str, Any]) -> list[dict[str, Any]]:
        metadata = obj["metadata"]
        self.asked.append(f"events {metadata['name']}")
        found = []
        for event in self._objects:
            if event["kind"] != "Event":
                continue
            about = event.get("involvedObject") or {}
            if (
                about.get("name", "") == metadata.get("name", "")
                and about.get("namespace", "") == metadata.get("namespace", "")
                and metadata.get("uid") in (None, about.get("uid"))
            ):
                found.append(event)
        return found


def _field(obj: dict[str, Any], path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = (value or {}).get(part)
    return "" if value is None else str(value)


def describe_record(kind: Any, record: dict[str, Any]) -> str:
    """Return what `kind` describes of the record's object, at the record's time."""
    now_ms = timefmt.parse_ms(record["now"])
    reader = RecordReader([*record["others"], record["object"]], now_ms)
    return kind.describe(record["object"], reader, record["showEvents"])


def cells_of(kind: Any, obj: dict[str, Any], now: str) -> list[Any]:
    """Return the cells of the object's table row."""
    now_ms = timefmt.parse_ms(now)
    return [column.cell(obj, now_ms) for column in kind.columns]


def difference(got: str, wanted: str) -> str:
    """Return the lines in which two texts differ."""
    return "\n".join(
        difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got", lineterm="", n=0)
    )


def differences(pairs: list[tuple[str, Any, Any]], shown_max: int = 3) -> str:
    """Return the first mismatches among (id, got, wanted)."""
    wrong = [(name, got, wanted) for name, got, wanted in pairs if got != wanted]
    shown = [
        f"{name}:\n{difference(got, wanted) if isinstance(got, str) and isinstance(wanted, str) else f'{got!r} != {wanted!r}'}"
        for name, got, wanted in wrong[:shown_max]
    ]
    return "\n".join([f"{len(wrong)} of {len(pairs)} differ", *shown])
