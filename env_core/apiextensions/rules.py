"""Validation rules of a schema (`x-kubernetes-validations`)."""

from __future__ import annotations

from env_core.apiextensions.structural import Structural
from env_core.objects.problems import Problem
from env_core.world import Object


def validate_rules(schema: Structural, new: Object, old: Object | None) -> list[Problem]:
    """Return what the rules of a schema find wrong with an object; `old` is what it was before an update."""
    return []
