"""What a CustomResourceDefinition may say.

What all versions say alike is reported once, as the server's internal form has it (`spec.validation` in place of
`spec.versions[i].schema`).

Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions (v1/conversion.go, validation/validation.go);
tests/golden/l2/defaults.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from env_core.apiextensions._version_rules import (
    column_problems,
    conversion_problems,
    deprecation_problems,
    schema_problems_of,
    selectable_problems,
    subresource_problems,
)
from env_core.apiextensions.definitions import is_established
from env_core.objects import names
from env_core.objects.problems import Problem, invalid, not_supported, required
from env_core.world import Object, Objects

_SCOPES: Final = ("Cluster", "Namespaced")
_IMMUTABLE: Final = "field is immutable"
_APPROVED: Final = "api-approved.kubernetes.io"
_APPROVAL_PAGE: Final = "https://github.com/kubernetes/enhancements/pull/1111"
_MIXED_CASE: Final = "may have mixed case, but should otherwise match: "


def validate(definition: Object) -> list[Problem]:
    """Return what is wrong with a new definition, but for its metadata."""
    spec: Object = definition.get("spec") or {}
    given = spec.get("names") or {}
    name = definition["metadata"].get("name", "")
    found: list[Problem] = []
    if name != f"{given.get('plural') or ''}.{spec.get('group') or ''}":
        found.append(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    return [*found, *_rest(definition, spec, None)]


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Return what is wrong with a changed definition, but for its metadata."""
    return _rest(new, new.get("spec") or {}, old)


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Return what is wrong with a changed status."""
    accepted = (new.get("status") or {}).get("acceptedNames") or {}
    return _names_problems(accepted, "status.acceptedNames")


def _rest(definition: Object, spec: Object, old: Object | None) -> list[Problem]:
    found = _spec_problems(spec)
    if old is not None:
        found += _immutable_problems(spec, old)
    found += validate_status(definition, definition)
    found += _stored_problems(definition, spec)
    found += _approval_problems(definition, spec, old)
    if spec.get("preserveUnknownFields"):
        text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        found.append(invalid("spec.preserveUnknownFields", True, text))
    return found


def _spec_problems(spec: Object) -> list[Problem]:
    group, scope = spec.get("group") or "", spec.get("scope") or ""
    versions: Objects = spec.get("versions") or []
    found: list[Problem] = []
    if not group:
        found.append(required("spec.group"))
    elif complaints := names.is_dns1123_subdomain(group):
        found.append(invalid("spec.group", group, ",".join(complaints)))
    elif "." not in group:
        found.append(invalid("spec.group", group, "should be a domain with at least one dot"))
    if not scope:
        found.append(required("spec.scope"))
    elif scope not in _SCOPES:
        found.append(not_supported("spec.scope", scope, _SCOPES, is_sorted=False))
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            found.append(required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    for index, version in enumerate(versions):
        found += _version_problems(version, f"spec.versions[{index}]", versions)
    all_names = [version.get("name", "") for version in versions]
    if len(set(all_names)) != len(all_names):
        found.append(invalid("spec.versions", versions, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        found.append(invalid("spec.versions", versions or None, text))
    if versions and (complaints := names.is_dns1035_label(all_names[0])):
        found.append(invalid("spec.version", all_names[0], ",".join(complaints)))
    given = spec.get("names") or {}
    for field in ("plural", "singular", "kind", "listKind"):
        if not given.get(field):
            found.append(required(f"spec.names.{field}"))
    found += _names_problems(given, "spec.names")
    found += _shared_problems(versions)
    return [*found, *conversion_problems(spec.get("conversion"), "spec.conversion")]


def _is_shared(versions: Objects, field: str) -> bool:
    return all(version.get(field) == versions[0].get(field) for version in versions)


def _version_problems(version: Object, field: str, versions: Objects) -> list[Problem]:
    name = version.get("name") or ""
    found: list[Problem] = []
    if complaints := names.is_dns1035_label(name):
        found.append(invalid(f"{field}.name", name, ",".join(complaints)))
    found += deprecation_problems(version, f"{field}.deprecationWarning")
    has_status = _has_status(version)
    if not _is_shared(versions, "schema"):
        found += schema_problems_of(version.get("schema"), f"{field}.schema", has_status=has_status)
    if not _is_shared(versions, "subresources"):
        found += subresource_problems(version.get("subresources"), f"{field}.subresources")
    if not _is_shared(versions, "additionalPrinterColumns"):
        found += column_problems(version.get("additionalPrinterColumns"), f"{field}.additionalPrinterColumns")
    if not _is_shared(versions, "selectableFields"):
        found += selectable_problems(version, f"{field}.selectableFields")
    return found


def _shared_problems(versions: Objects) -> list[Problem]:
    """Check what is the same in all versions, once."""
    if not versions:
        return []
    first = versions[0]
    found: list[Problem] = []
    if _is_shared(versions, "schema"):
        has_status = any(map(_has_status, versions))
        found += schema_problems_of(first.get("schema"), "spec.validation", has_status=has_status)
    if _is_shared(versions, "subresources"):
        found += subresource_problems(first.get("subresources"), "spec.subresources")
    if _is_shared(versions, "additionalPrinterColumns"):
        found += column_problems(first.get("additionalPrinterColumns"), "spec.additionalPrinterColumns")
    if _is_shared(versions, "selectableFields"):
        found += selectable_problems(first, "spec.selectableFields")
    return found


def _has_status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _names_problems(given: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for name in ("plural", "singular"):
        found += _label_problems(given.get(name) or "", f"{field}.{name}")
    for name in ("kind", "listKind"):
        value = given.get(name) or ""
        complaints = names.is_dns1035_label(value.lower()) if value else []
        if complaints:
            found.append(invalid(f"{field}.{name}", value, _MIXED_CASE + ",".join(complaints)))
    found += _each_label(given.get("shortNames") or (), f"{field}.shortNames")
    kind = given.get("kind")
    if kind and kind == given.get("listKind"):
        found.append(invalid(f"{field}.listKind", kind, "kind and listKind may not be the same"))
    return [*found, *_each_label(given.get("categories") or (), f"{field}.categories")]


def _label_problems(value: str, field: str) -> list[Problem]:
    complaints = names.is_dns1035_label(value) if value else []
    return [invalid(field, value, ",".join(complaints))] if complaints else []


def _each_label(values: Iterable[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, value in enumerate(values):
        if complaints := names.is_dns1035_label(value):
            found.append(invalid(f"{field}[{index}]", value, ",".join(complaints)))
    return found


def _immutable_problems(spec: Object, old: Object) -> list[Problem]:
    before: Object = old["spec"]
    given, was = spec.get("names") or {}, before.get("names") or {}
    pairs: list[tuple[str, Any, Any]] = []
    if is_established(old):
        pairs.append(("spec.scope", spec.get("scope"), before.get("scope")))
        pairs.append(("spec.names.kind", given.get("kind"), was.get("kind")))
    pairs.append(("spec.group", spec.get("group"), before.get("group")))
    pairs.append(("spec.names.plural", given.get("plural"), was.get("plural")))
    return [invalid(field, new or "", _IMMUTABLE) for field, new, then in pairs if new != then]


def _stored_problems(definition: Object, spec: Object) -> list[Problem]:
    stored = (definition.get("status") or {}).get("storedVersions") or []
    field = "status.storedVersions"
    if not stored:
        return [invalid(field, stored, "must have at least one stored version")]
    versions = spec.get("versions") or ()
    found = [
        invalid(field, stored, f"must have the storage version {version['name']}")
        for version in versions
        if version.get("storage") and version["name"] not in stored
    ]
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
                f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
                "status.storedVersions"
            )
            found.append(invalid(f"{field}[{index}]", name, text))
    return found


def _approval_problems(definition: Object, spec: Object, old: Object | None) -> list[Problem]:
    """Check that a group of the community's own is approved by it."""
    group = spec.get("group") or ""
    if not any(group == each or group.endswith(f".{each}") for each in ("k8s.io", "kubernetes.io")):
        return []
    text = _approval(definition)
    if old is not None and _approval_state(_approval(old)) == _approval_state(text):
        return []
    field = f"metadata.annotations[{_APPROVED}]"
    if not text:
        why = f'protected groups must have approval annotation "{_APPROVED}", see {_APPROVAL_PAGE}'
        return [required(field, why)]
    if _approval_state(text) == "invalid":
        why = (
            f'protected groups must have approval annotation "{_APPROVED}" with either a URL or a reason starting with '
            f'"unapproved", see {_APPROVAL_PAGE}'
        )
        return [invalid(field, text, why)]
    return []


def _approval(definition: Object) -> str:
    return (definition["metadata"].get("annotations") or {}).get(_APPROVED) or ""


def _approval_state(text: str) -> str:
    scheme, _, rest = text.partition("://")
    if not text or text.startswith("unapproved"):
        return "bypassed" if text else "missing"
    return "approved" if scheme.isalnum() and rest and not rest.startswith("/") else "invalid"
