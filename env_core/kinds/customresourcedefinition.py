"""Custom resource definitions."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import NAME
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._rbac_text import CREATED
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, required
from env_core.world import Object

_SCOPES = ("Cluster", "Namespaced")
_ANY = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"


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
    stored = [each["name"] for each in (obj.get("spec") or {}).get("versions") or () if each.get("storage")]
    status = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
    return {**obj, "status": status}


def _validate(obj: Object) -> list[Problem]:
    """Check names, versions, and that every schema is there and has types."""
    spec, name = obj.get("spec") or {}, obj["metadata"].get("name", "")
    given, group = spec.get("names") or {}, spec.get("group", "")
    found: list[Problem] = []
    if name != f"{given.get('plural', '')}.{group}":
        found.append(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    if not group:
        found.append(required("spec.group"))
    else:
        found += [invalid("spec.group", group, text) for text in names.is_dns1123_subdomain(group)]
    if spec.get("scope") not in _SCOPES:
        found.append(unsupported("spec.scope", spec.get("scope", ""), _SCOPES))
    versions = spec.get("versions") or []
    if not any(each.get("storage") for each in versions):
        found.append(
            invalid(
                "spec.versions", versions or None, "must have exactly one version marked as storage version"
            )
        )
    for field in ("plural", "kind"):
        if not given.get(field):
            found.append(required(f"spec.names.{field}"))
    for index, version in enumerate(versions):
        found += _schema_problems(version, index, len(versions))
    return found


def _schema_problems(version: Object, index: int, count: int) -> list[Problem]:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    field = f"spec.versions[{index}].schema.openAPIV3Schema"
    if schema is None:
        return [required(field)]
    # A single version is reported as the server's internal form has it: once, for all versions.
    return _type_problems(schema, field if count > 1 else "spec.validation.openAPIV3Schema", "the root")


def _type_problems(schema: Object, field: str, where: str) -> list[Problem]:
    found: list[Problem] = []
    if (
        not schema.get("type")
        and not schema.get(_INT_OR_STRING)
        and not (schema.get(_ANY) and where != "the root")
    ):
        found.append(required(f"{field}.type", f"must not be empty for {where}"))
    properties = schema.get("properties") or {}
    for name in sorted(properties):
        found += _type_problems(properties[name], f"{field}.properties[{name}]", "specified object fields")
    items, more = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, dict):
        found += _type_problems(items, f"{field}.items", "specified array items")
    if isinstance(more, dict):
        found += _type_problems(more, f"{field}.additionalProperties", "specified object fields")
    return found


def _cell_scope(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("scope") or "")


def _cell_versions(obj: Object, _now_ms: int) -> str:
    served = [each for each in (obj.get("spec") or {}).get("versions") or () if each.get("served")]
    return ",".join(each.get("name", "") for each in served)


def _cell_group(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("group") or "")


def _cell_kind(obj: Object, _now_ms: int) -> str:
    return str(((obj.get("spec") or {}).get("names") or {}).get("kind") or "")


def _cell_short_names(obj: Object, _now_ms: int) -> str:
    return ",".join(((obj.get("spec") or {}).get("names") or {}).get("shortNames") or ())


def is_established(obj: Object) -> bool:
    """Whether the API server serves the resource."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Established" and each.get("status") == "True" for each in conditions)


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
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
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
    unrecorded="most rules of structural schemas",
)
