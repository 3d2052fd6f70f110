"""Fault families, one per module, each with one constant `FAMILY`."""

from __future__ import annotations

import sys
from functools import lru_cache

from env_core.discovery import discover
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign

__all__ = [
    "Case",
    "Decoy",
    "Diagnosis",
    "Evidence",
    "Family",
    "Fault",
    "Params",
    "Script",
    "Sign",
    "all_families",
]


@lru_cache(maxsize=1)
def all_families() -> dict[str, Family]:
    """Return the families by module name, sorted."""
    return discover(sys.modules[__name__], "FAMILY", Family)
