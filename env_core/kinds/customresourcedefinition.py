"""Custom resource definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from env_core.apiextensions.definition_rules import validate, validate_status, validate_update
from env_core.apiextensions.definitions import CLEANUP_FINALIZER, TERMINATING, is_established
from env_core.apiextensions.formats import effective_format
from env_core.apiextensions.kinds import kinds_of
from env_core.apiextensions.structural import LIST_TYPE, children
from env_core.apiserver.kind import Column, Kind, SubresourceWrite
from env_core.kinds._columns_workload import NAME
from env_core.kinds._policy_rules import kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._rbac_text import CREATED
from env_core.objects import conditions
from env_core.objects.problems import quoted
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

_CLIENT_METADATA: Final = ("annotations", "finalizers", "labels", "ownerReferences")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    given = spec.get("names") or {}
    kind = given.get("kind", "")
    changes: Object = {}
    if not given.get("singular") or not given.get("listKind"):
        singular, list_kind = given.get("singular") or kind.lower(), given.get("listKind") or f"{kind}List"
        changes["names"] = {**given, "singular": singular, "listKind": list_kind}
    if spec.get("conversion") is None:
        changes["conversion"] = {"strategy": "None"}
    return {**obj, "spec": {**spec, **changes}} if changes else obj


def _prepare_create(obj: Object) -> Object:
    status: Object = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []}
    return _with_storage_version({**obj, "status": status})


def _prepare_update(new: Object, old: Object) -> Object:
    return _with_storage_version(kept_status(new, old))


def _with_storage_version(obj: Object) -> Object:
    """Return the definition with its storage version among those in which objects may be stored."""
    status = obj.get("status") or {}
    stored = status.get("storedVersions") or []
    named = [each["name"] for each in (obj.get("spec") or {}).get("versions") or () if each.get("storage")][
        :1
    ]
    if set(named) <= set(stored):
        return obj
    return {**obj, "status": {**status, "storedVersions": [*stored, *named]}}


def _prepare_status(new: Object, old: Object) -> Object:
    """Take the status, and the metadata that a client may write, into the definition."""
    given, kept = new.get("metadata") or {}, old["metadata"]
    metadata = {key: value for key, value in kept.items() if key not in _CLIENT_METADATA}
    metadata |= {key: given[key] for key in _CLIENT_METADATA if given.get(key)}
    return {**old, "metadata": metadata, "status": new.get("status") or {}}


def _prepare_delete(obj: Object, now_ms: int) -> Object:
    """Mark a definition as going: its instances go first.

    Source: k8s.io/apiextensions-apiserver pkg/registry/customresourcedefinition etcd.go Delete.
    """
    metadata = obj["metadata"]
    finalizers = metadata.get("finalizers") or []
    if CLEANUP_FINALIZER not in finalizers:
        finalizers = [*finalizers, CLEANUP_FINALIZER]
    marked = {**metadata, "deletionTimestamp": rfc3339(now_ms), "finalizers": finalizers}
    return conditions.set_condition(
        {**obj, "metadata": marked},
        TERMINATING,
        conditions.TRUE,
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        now_ms=now_ms,
    )


def _warnings(obj: Object) -> list[str]:
    return [*(f"unrecognized format {quoted(each)}" for each in _formats(obj)), *_set_warnings(obj)]


def _update_warnings(new: Object, old: Object) -> list[str]:
    known = _warnings(old)
    return [text for text in _warnings(new) if text not in known]


def _schemas(obj: Object) -> Iterator[Object]:
    versions = (obj.get("spec") or {}).get("versions") or []
    found = [(each.get("schema") or {}).get("openAPIV3Schema") or {} for each in versions]
    # What all versions share is looked at once.
    todo = found[:1] if all(each == found[0] for each in found) else found
    for schema in todo:
        yield from _nodes(schema)


def _nodes(schema: Object) -> Iterator[Object]:
    yield schema
    for child in children(schema):
        yield from _nodes(child)


def _formats(obj: Object) -> list[str]:
    """Return the formats that values are not checked for."""
    found = []
    for node in _schemas(obj):
        format_ = node.get("format")
        if format_ and not effective_format(node.get("type") or "", format_):
            found.append(format_)
    return found


def _set_warnings(obj: Object) -> list[str]:
    found = set()
    for node in _schemas(obj):
        items = node.get("items")
        type_ = items.get("type") if isinstance(items, dict) else None
        if node.get(LIST_TYPE) == "set" and type_ in ("object", "array"):
            found.add(
                f'x-kubernetes-list-type: set for items of type "{type_}" is not supported by server-side apply '
                "or CEL validation rules"
            )
    return sorted(found)


def _cell_scope(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("scope") or "")


def _cell_versions(obj: Object, _now_ms: int) -> str:
    versions = (obj.get("spec") or {}).get("versions") or ()
    served = [each for each in versions if each.get("served")]
    return ",".join(sorted(each["name"] + ("(storage)" if each.get("storage") else "") for each in served))


def _cell_group(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("group") or "")


def _cell_kind(obj: Object, _now_ms: int) -> str:
    return str(((obj.get("spec") or {}).get("names") or {}).get("kind") or "")


def _cell_short_names(obj: Object, _now_ms: int) -> str:
    return ",".join(((obj.get("spec") or {}).get("names") or {}).get("shortNames") or ())


def _cell_established(obj: Object, _now_ms: int) -> bool:
    return is_established(obj)


KIND = Kind(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    singular="customresourcedefinition",
    short_names=("crd", "crds"),
    categories=("api-extensions",),
    is_namespaced=False,
    has_generation=True,
    has_free_finalizers=True,
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_delete=_prepare_delete,
    validate_name=subdomain_name,
    validate=validate,
    validate_update=validate_update,
    writes={"status": SubresourceWrite(_prepare_status, validate_status)},
    warnings=_warnings,
    update_warnings=_update_warnings,
    defines=kinds_of,
    columns=(
        NAME,
        Column("Scope", _cell_scope),
        Column("Versions", _cell_versions),
        CREATED,
        Column("Group", _cell_group, priority=1),
        Column("Kind", _cell_kind, priority=1),
        Column("ShortNames", _cell_short_names, priority=1),
        Column("Established", _cell_established, type="boolean", priority=1),
    ),
    describe=describe_unstructured,
    source="k8s.io/api apiextensions/v1 CustomResourceDefinition, 1.37; tests/golden/l2",
    unrecorded="most rules of structural schemas; expressions of validation rules are compiled when first used",
)
