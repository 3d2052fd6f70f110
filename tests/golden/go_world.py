"""The client of Go's recorded errors: where it stands, when, and what it may see."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from env_core.programs._go_net import GoError

T0_MS: Final = 1_772_366_400_000
OWN: Final = "10.244.1.17"
DNS: Final = "10.96.0.10"
SERVICE: Final = "10.96.44.7"
_REQUEST: Final = re.compile(r'(Get|Post|Put|Head|Delete|Patch) "((?:[^"\\]|\\.)*)": ')


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What a client saw: an error, or an answer."""

    error: GoError | None = None
    code: str = ""
    status: int = 0
    body: str = ""
    log: list[str] = field(default_factory=list)


def request_in(text: str) -> tuple[str, str]:
    """Return the method and the address of the request that an error's text names."""
    found = _REQUEST.match(text)
    if found is None:
        return "Get", "http://cart.shop.svc:8080/api"
    return found[1], json.loads(f'"{found[2]}"')
