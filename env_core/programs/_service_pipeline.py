"""The services of the pipeline application."""

from __future__ import annotations

from typing import Final

from env_core.programs._service_model import Family

FAMILY: Final = Family(prefixes=(), products=())
