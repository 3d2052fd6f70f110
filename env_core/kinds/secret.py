"""The secret resource: confidential keys and values."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._configdata_bytes import byte_length, decoded, encoded
from env_core.kinds._configdata_validation import TOKEN_TYPE, validate_secret, validate_secret_update
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines
from env_core.world import Object

_TLS_TYPE = "kubernetes.io/tls"


def _default(obj: Object) -> Object:
    return obj if obj.get("type") else {**obj, "type": "Opaque"}


def _prepare(obj: Object) -> Object:
    """Merge the write-only `stringData` into `data`; it wins where both have a key."""
    if "stringData" not in obj:
        return obj
    merged = {key: value for key, value in obj.items() if key != "stringData"}
    data = {
        **(obj.get("data") or {}),
        **{key: encoded(text) for key, text in (obj["stringData"] or {}).items()},
    }
    if data:
        merged["data"] = {key: data[key] for key in sorted(data)}
    return merged


def _prepare_update(new: Object, _old: Object) -> Object:
    return _prepare(new)


def _warnings(obj: Object) -> list[str]:
    """Warn of a TLS pair without PEM blocks; whether the key fits the certificate is not looked at.

    Source: kubernetes pkg/api/secret/warnings.go with Go's crypto/tls; tests/golden/l0/defaulting.jsonl.gz.
    """
    data = obj.get("data") or {}
    if obj.get("type") != _TLS_TYPE or "tls.crt" not in data or "tls.key" not in data:
        return []
    for key, title in (("tls.crt", "certificate"), ("tls.key", "key")):
        if b"-----BEGIN " not in decoded(data[key]):
            return [f"tls: failed to find any PEM data in {title} input"]
    return []


def _describe(obj: Object, _reader: Reader, _show_events: bool) -> str:
    meta = obj["metadata"]
    data = obj.get("data") or {}
    kind = obj.get("type") or ""
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.line(0, f"Namespace:\t{meta.get('namespace') or ''}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.write(0, f"\nType:\t{kind}\n\nData\n====\n")
    for key in sorted(data):
        if key == "token" and kind == TOKEN_TYPE:
            writer.line(0, f"{key}:\t{decoded(data[key]).decode(errors='replace')}")
        else:
            writer.line(0, f"{key}:\t{byte_length(data[key])} bytes")
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="Secret",
    plural="secrets",
    singular="secret",
    subresources=(),
    has_status=False,
    default=_default,
    prepare_create=_prepare,
    prepare_update=_prepare_update,
    convert=_prepare,
    validate=validate_secret,
    validate_update=validate_secret_update,
    warnings=_warnings,
    field_labels=("metadata.name", "metadata.namespace", "type"),
    columns=(
        NAME,
        Column("Type", lambda obj, _: obj.get("type") or ""),
        Column("Data", lambda obj, _: len(obj.get("data") or ())),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api core/v1 Secret, 1.37",
)
