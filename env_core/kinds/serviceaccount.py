"""Service accounts."""

from __future__ import annotations

from env_core.apiserver.kind import Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import NONE, LineWriter, annotations_lines, labels_lines, write_events
from env_core.kinds._policy_rules import subdomain_name
from env_core.objects.problems import Problem
from env_core.world import Object

_HEADER = "Image pull secrets:"


def _prepare_create(obj: Object) -> Object:
    secrets = obj.get("secrets")
    if not secrets:
        return obj
    return {**obj, "secrets": [{"name": each["name"]} if each.get("name") else {} for each in secrets]}


def _prepare_update(new: Object, _old: Object) -> Object:
    return _prepare_create(new)


def _validate_update(_new: Object, _old: Object) -> list[Problem]:
    return []


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata = obj["metadata"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    secrets = [each.get("name", "") for each in obj.get("imagePullSecrets") or ()] or [NONE]
    for index, name in enumerate(secrets):
        writer.line(0, f"{' ' * len(_HEADER) if index else _HEADER}\t{name}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="ServiceAccount",
    plural="serviceaccounts",
    singular="serviceaccount",
    short_names=("sa",),
    subresources=("token",),
    has_status=False,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    validate_name=subdomain_name,
    validate_update=_validate_update,
    columns=(NAME, AGE),
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api core/v1 ServiceAccount, 1.37; tests/golden/l0",
)
