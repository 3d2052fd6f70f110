"""Collect one constant per module of a package, in sorted order, or fail at import."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


class CatalogueError(TypeError):
    """An author's mistake in a declaration; raised at import, before any episode."""


def discover(package: ModuleType, constant: str, kind: type[T]) -> dict[str, T]:
    """Import every public module of `package` and collect its `constant`, sorted by module name.

    Keys are module names with underscores written as hyphens. Modules whose name starts with an
    underscore are skipped.

    Raises:
        CatalogueError: if a module lacks the constant or mistypes it.
    """
    found: dict[str, T] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        declared = getattr(module, constant, None)
        if not isinstance(declared, kind):
            raise CatalogueError(f"{module.__name__} must define {constant}: {kind.__name__}")
        found[info.name.replace("_", "-")] = declared
    return found
