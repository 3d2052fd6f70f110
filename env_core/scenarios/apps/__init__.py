"""Applications to break and repair: one module per application, each with one constant `APP`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache

from env_core.discovery import discover
from env_core.scenarios._app import App, Base


@lru_cache(maxsize=1)
def all_apps() -> Mapping[str, App]:
    """Return every application by its id, sorted.

    Raises:
        CatalogueError: if a module of this package declares none.
    """
    found = discover(sys.modules[__name__], "APP", App)
    return {app.id: app for app in sorted(found.values(), key=lambda app: app.id)}


@lru_cache(maxsize=64)
def base(app_id: str, variant: int) -> Base:
    """Return the healthy world of an application's variant, built on first use; callers fork its cluster.

    Raises:
        KeyError: if there is no such application.
        ValueError: if it has no such variant.
    """
    app = all_apps()[app_id]
    if not 0 <= variant < app.variants:
        raise ValueError(f"{app_id} has variants 0 to {app.variants - 1}, got {variant}")
    return app.build(variant)
