"""nginx's limits of requests: a leaky bucket per key, kept in the container's memory.

Source: nginx src/http/modules/ngx_http_limit_req_module.c; tests/golden/programs/nginx (nginx.limit_req).
"""

from __future__ import annotations

import re
from typing import Final

from env_core.programs._model import Reply
from env_core.programs._nginx_exchange import Exchange, error, expanded, page

_RATE: Final = re.compile(r"rate=(\d+)r/([sm])\Z")


def _zone(exchange: Exchange, name: str) -> tuple[str, int] | None:
    """Return the key and the rate, in thousandths of a request per second, of a zone."""
    for words in exchange.site.config.settings.get("limit_req_zone", ()):
        if any(each.startswith(f"zone={name}:") for each in words):
            found = next((match for match in map(_RATE.match, words) if match), None)
            if found is None:
                return words[0], 1_000
            return words[0], int(found[1]) * (1_000 if found[2] == "s" else 1_000 // 60)
    return None


def limited(exchange: Exchange) -> Reply | None:
    """Refuse or delay a request that comes too soon; None lets it through."""
    for words in exchange.settings.get("limit_req", ()):
        options = dict(word.partition("=")[::2] for word in words)
        name = options.get("zone", "").partition(":")[0]
        zone = _zone(exchange, name)
        if zone is None:
            continue
        key, rate = zone
        value = exchange.request.source_ip if key == "$binary_remote_addr" else expanded(exchange, key)
        if not value:
            continue
        memory = exchange.upstream.state()
        slot = f"limit {name} {value}"
        now_ms = exchange.upstream.now_ms
        before = memory.get(slot)
        excess = 0
        if before is not None:
            held, _, last = before.partition(" ")
            excess = max(int(held) - rate * max(now_ms - int(last), 0) // 1_000 + 1_000, 0)
        shown = f"{excess // 1_000}.{excess % 1_000:03d}"
        if excess > int(options.get("burst", "0")) * 1_000:
            error(exchange, f'limiting requests, excess: {shown} by zone "{name}"')
            return page(exchange, int((exchange.one("limit_req_status") or ("503",))[0]))
        memory[slot] = f"{excess} {now_ms}"
        exchange.upstream.remember(memory)
        if excess and "nodelay" not in options:
            error(exchange, f'delaying request, excess: {shown}, by zone "{name}"', level="warn")
            exchange.elapsed_ms += excess * 1_000 // rate
    return None
