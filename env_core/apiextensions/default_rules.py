"""The defaults of a schema must be valid values of the places they stand in.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/defaulting validation.go.
"""

from __future__ import annotations

from env_core.apiextensions.embedded import embedded_problems
from env_core.apiextensions.pruning import prune_nested
from env_core.apiextensions.structural import META_FIELDS, Structural, compile_schema
from env_core.apiextensions.values import problems_of
from env_core.objects.problems import Problem, invalid
from env_core.world import Object


def default_problems(schema: Object, field: str) -> list[Problem]:
    """Return what is wrong with the defaults of a structural schema."""
    return _problems(compile_schema(schema), field, is_resource=True, is_meta=False)


def _problems(schema: Structural, field: str, *, is_resource: bool, is_meta: bool) -> list[Problem]:
    if not schema.has_defaults:
        return []
    is_resource = is_resource or schema.is_embedded
    found: list[Problem] = []
    value = schema.default
    if value is not None:
        place = f"{field}.default"
        if not is_meta and prune_nested(value, schema) != value:
            found.append(invalid(place, value, "must not have unknown fields"))
        found += embedded_problems(schema, value, place) or problems_of(schema, value, prefix=place)
    if schema.items is not None:
        found += _problems(schema.items, f"{field}.items", is_resource=False, is_meta=is_meta)
    for name in sorted(schema.properties):
        below = is_meta or (is_resource and name in META_FIELDS)
        place = f"{field}.properties[{name}]"
        found += _problems(schema.properties[name], place, is_resource=False, is_meta=below)
    return found
