"""Modifiers, one per module, each with one constant `MODIFIER`."""

from __future__ import annotations

import sys
from functools import lru_cache

from env_core.discovery import discover
from env_core.modifiers._model import Modifier

__all__ = ["Modifier", "all_modifiers"]


@lru_cache(maxsize=1)
def all_modifiers() -> dict[str, Modifier]:
    """Return the modifiers by module name, sorted."""
    return discover(sys.modules[__name__], "MODIFIER", Modifier)
