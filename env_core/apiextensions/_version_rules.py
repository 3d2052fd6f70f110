"""What one version of a definition may say: schema, subresources, columns, selectable fields, deprecation, conversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from env_core.apiextensions.default_rules import default_problems
from env_core.apiextensions.fieldpaths import PathError, schema_at
from env_core.apiextensions.schema_rules import schema_problems
from env_core.apiextensions.structural_rules import structural_problems
from env_core.objects import names
from env_core.objects.problems import (
    Problem,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from env_core.world import Object

_ROOT_FIELDS: Final = {
    "description": "Description", "type": "Type", "format": "Format", "title": "Title", "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum", "minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength", "minLength": "MinLength", "pattern": "Pattern", "maxItems": "MaxItems",
    "minItems": "MinItems", "uniqueItems": "UniqueItems", "multipleOf": "MultipleOf", "required": "Required",
    "items": "Items", "properties": "Properties", "externalDocs": "ExternalDocs", "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields", "x-kubernetes-validations": "XValidations",
}  # fmt: skip
"""What may stand at the root of a schema whose status is validated on its own: by name, and as Go spells it."""

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE_MAX: Final = 8
_WARNING_LENGTH_MAX: Final = 256
_STRATEGIES: Final = ("None", "Webhook")
_REVIEW_VERSIONS: Final = ("v1", "v1beta1")


def schema_problems_of(validation: Object | None, field: str, *, has_status: bool) -> list[Problem]:
    """Return what is wrong with the schema of a version."""
    schema = (validation or {}).get("openAPIV3Schema")
    if schema is None:
        return []
    place = f"{field}.openAPIV3Schema"
    found: list[Problem] = []
    if has_status:
        found += _root_problems(schema, place)
    if schema.get("nullable"):
        found.append(forbidden(f"{place}.nullable", "nullable cannot be true at the root"))
    found += structural_problems(schema, place) or default_problems(schema, place)
    return [*found, *schema_problems(schema, place)]


def _root_problems(schema: Object, field: str) -> list[Problem]:
    type_ = schema.get("type")
    if type_ and type_ != "object":
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(f"{field}.type", type_, text)]
    if any(
        value not in (None, "", False, [], {}) and name not in _ROOT_FIELDS for name, value in schema.items()
    ):
        listed = " ".join(_ROOT_FIELDS.values())
        text = f"only [{listed}] fields are allowed at the root of the schema if the status subresource is enabled"
        return [invalid(field, schema, text)]
    return []


def subresource_problems(subresources: Object | None, field: str) -> list[Problem]:
    """Return what is wrong with the paths of the scale subresource."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    found: list[Problem] = []
    for name, start in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        path, place = scale.get(name) or "", f"{field}.scale.{name}"
        if not path:
            found.append(required(place))
            continue
        found += _path_problems(path, place) or _start_problems(path, place, start)
    path, place = scale.get("labelSelectorPath") or "", f"{field}.scale.labelSelectorPath"
    if path:
        problems = _path_problems(path, place)
        if not problems and not path.startswith((".spec.", ".status.")):
            problems = [invalid(place, path, "should be a json path under either .spec or .status")]
        found += problems
    return found


def _start_problems(path: str, field: str, start: str) -> list[Problem]:
    if path.startswith(start):
        return []
    return [invalid(field, path, f"should be a json path under {start.rstrip('.')}")]


def _path_problems(path: str, field: str) -> list[Problem]:
    return (
        [] if path.startswith(".") else [invalid(field, path, "must be a simple json path starting with .")]
    )


def column_problems(columns: Sequence[Object] | None, field: str) -> list[Problem]:
    """Return what is wrong with printer columns."""
    found: list[Problem] = []
    for index, column in enumerate(columns or ()):
        place = f"{field}[{index}]"
        type_, format_, path = (column.get(name) or "" for name in ("type", "format", "jsonPath"))
        if not column.get("name"):
            found.append(required(f"{place}.name"))
        text = f"must be one of {','.join(_COLUMN_TYPES)}"
        if not type_:
            found.append(required(f"{place}.type", text))
        elif type_ not in _COLUMN_TYPES:
            found.append(invalid(f"{place}.type", type_, text))
        if format_ and format_ not in _COLUMN_FORMATS:
            found.append(invalid(f"{place}.format", format_, f"must be one of {','.join(_COLUMN_FORMATS)}"))
        if not path:
            found.append(required(f"{place}.JSONPath"))
        else:
            found += _path_problems(path, f"{place}.JSONPath")
    return found


def selectable_problems(version: Object, field: str) -> list[Problem]:
    """Return what is wrong with the fields that selectors may name."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    seen: set[tuple[str, ...]] = set()
    found: list[Problem] = []
    for index, selectable in enumerate(version.get("selectableFields") or ()):
        path, place = selectable.get("jsonPath") or "", f"{field}[{index}].jsonPath"
        if not path:
            found.append(required(place))
            continue
        try:
            target, segments = schema_at(schema, path, allows_brackets=False)
        except PathError as why:
            found.append(invalid(place, path, f"is an invalid path: {why}"))
            continue
        if segments[0] == "metadata":
            found.append(invalid(place, path, "must not point to fields in metadata"))
        if target.get("type") not in ("string", "boolean", "integer"):
            text = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            found.append(invalid(place, path, text))
        if segments in seen:
            found.append(duplicate(place, path))
        seen.add(segments)
    if len(seen) > _SELECTABLE_MAX:
        found.append(too_many(field, len(seen), _SELECTABLE_MAX))
    return found


def deprecation_problems(version: Object, field: str) -> list[Problem]:
    """Return what is wrong with the warning of a deprecated version."""
    text = version.get("deprecationWarning")
    if text is None:
        return []
    if not version.get("deprecated"):
        return [invalid(field, text, "can only be set for deprecated versions")]
    found: list[str] = []
    if len(text.encode()) > _WARNING_LENGTH_MAX:
        found.append("must be <= 256 characters long")
    if not text:
        found.append("must not be an empty string")
    for index, char in enumerate(text):
        if not char.isprintable():
            at = len(text[:index].encode())
            found.append(
                f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            )
            break
    return [invalid(field, text, why) for why in found]


def conversion_problems(conversion: Object | None, field: str) -> list[Problem]:
    """Return what is wrong with how versions are converted."""
    if conversion is None:
        return []
    strategy = conversion.get("strategy") or ""
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    found: list[Problem] = []
    if not strategy:
        found.append(required(f"{field}.strategy"))
    elif strategy not in _STRATEGIES:
        found.append(not_supported(f"{field}.strategy", strategy, _STRATEGIES, is_sorted=False))
    if strategy != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        if client is not None:
            found.append(forbidden(f"{field}.webhookClientConfig", text))
        if reviews:
            found.append(forbidden(f"{field}.conversionReviewVersions", text))
        return found
    if client is None:
        found.append(required(f"{field}.webhookClientConfig", "required when strategy is set to Webhook"))
    elif (client.get("url") is None) == (client.get("service") is None):
        found.append(required(f"{field}.webhookClientConfig", "exactly one of url or service is required"))
    return [*found, *_review_problems(reviews, f"{field}.conversionReviewVersions")]


def _review_problems(versions: Sequence[str], field: str) -> list[Problem]:
    if not versions:
        return [required(field)]
    found: list[Problem] = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            found.append(invalid(f"{field}[{index}]", version, "duplicate version"))
            continue
        found += [invalid(f"{field}[{index}]", version, text) for text in names.is_dns1035_label(version)]
    if not set(versions) & set(_REVIEW_VERSIONS):
        text = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        found.append(invalid(field, list(versions), text))
    return found
