"""Remember what follows from a container alone: programs are asked about the same one at every request."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from env_core.programs._model import Container

R = TypeVar("R")
_KEPT_MAX: Final = 1_024


def per_container(function: Callable[[Container], R]) -> Callable[[Container], R]:
    """Return the function with a memory by identity: a container never changes, and hashing one costs more than most answers."""
    kept: dict[int, tuple[Container, R]] = {}

    @wraps(function)
    def remembered(container: Container) -> R:
        found = kept.get(id(container))
        # What is kept stays alive, so that no other container can have its number.
        if found is not None and found[0] is container:
            return found[1]
        result = function(container)
        if len(kept) >= _KEPT_MAX:
            kept.clear()
        kept[id(container)] = (container, result)
        return result

    return remembered
