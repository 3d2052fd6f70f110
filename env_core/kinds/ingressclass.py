"""The ingressclass resource: which controller serves an ingress."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE
from env_core.kinds._describe_text import NONE, LineWriter, annotations_lines, labels_lines, write_events
from env_core.kinds._ingress_validation import validate_class, validate_class_update
from env_core.world import Object

DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class"


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    parameters = spec.get("parameters")
    if parameters is None or parameters.get("scope") is not None:
        return obj
    return {**obj, "spec": {**spec, "parameters": {**parameters, "scope": "Cluster"}}}


def _cell_name(obj: Object, _now_ms: int) -> str:
    meta = obj["metadata"]
    is_default = (meta.get("annotations") or {}).get(DEFAULT_ANNOTATION) == "true"
    return f"{meta['name']} (default)" if is_default else str(meta["name"])


def _cell_parameters(obj: Object, _now_ms: int) -> str:
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters is None:
        return NONE
    group = parameters.get("apiGroup")
    kind = parameters.get("kind") or ""
    return f"{kind if group is None else f'{kind}.{group}'}/{parameters.get('name') or ''}"


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    meta = obj["metadata"]
    spec = obj.get("spec") or {}
    writer = LineWriter()
    writer.line(0, f"Name:\t{meta['name']}")
    writer.lines(labels_lines("Labels", meta.get("labels")))
    writer.lines(annotations_lines("Annotations", meta.get("annotations")))
    writer.line(0, f"Controller:\t{spec.get('controller') or ''}")
    parameters = spec.get("parameters")
    if parameters is not None:
        writer.line(0, "Parameters:")
        if parameters.get("apiGroup") is not None:
            writer.line(1, f"APIGroup:\t{parameters['apiGroup']}")
        writer.line(1, f"Kind:\t{parameters.get('kind') or ''}")
        writer.line(1, f"Name:\t{parameters.get('name') or ''}")
    if show_events:
        write_events(writer, reader.events(obj), reader.now_ms)
    return writer.text()


KIND = Kind(
    group="networking.k8s.io",
    version="v1",
    kind="IngressClass",
    plural="ingressclasses",
    singular="ingressclass",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate=validate_class,
    validate_update=validate_class_update,
    columns=(
        Column("Name", _cell_name, format="name"),
        Column("Controller", lambda obj, _: (obj.get("spec") or {}).get("controller") or ""),
        Column("Parameters", _cell_parameters),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api networking/v1 IngressClass, 1.37",
)
