"""What flow schemas and priority levels share."""

from __future__ import annotations

from collections.abc import Iterable

from env_core.objects.problems import Problem, duplicate, required
from env_core.world import Object


def condition_problems(conditions: Iterable[Object]) -> list[Problem]:
    """Check that every condition has a type of its own.

    Source: k8s.io/kubernetes pkg/apis/flowcontrol/validation.
    """
    found: list[Problem] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind, field = condition.get("type") or "", f"status.conditions[{index}].type"
        if kind in seen:
            found.append(duplicate(field, kind))
        seen.add(kind)
        if not kind:
            found.append(required(field, "must not be empty"))
    return found
