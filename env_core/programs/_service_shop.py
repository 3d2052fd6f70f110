"""The services of the web shop: what each answers, whom it calls, what it reads."""

from __future__ import annotations

from typing import Final

from env_core.programs._service_model import (
    GO,
    JAVA,
    NODE,
    NUMBER,
    POSTGRES,
    PYTHON,
    REDIS,
    URL,
    Call,
    Endpoint,
    Family,
    Product,
    Task,
    Variable,
    history,
    url,
)

PREFIXES: Final = (
    "registry.example.com/shop",
    "registry.example.com/storefront",
    "harbor.example.net/retail",
)


GATEWAY: Final = Product(
    name="gateway",
    language=NODE,
    releases=history(4, 7, turn=0),
    port=3000,
    resting_bytes=62 << 20,
    cache_mb=12,
    variables=(
        url("CATALOGUE_URL"), url("CART_URL"), url("CHECKOUT_URL"), url("USER_URL"), url("SEARCH_URL"),
        url("QUEUE_URL"),
        Variable(name="RECOMMENDATION_URL", kind=URL, default=""),
    ),
    endpoints=(
        Endpoint(
            path="/",
            calls=(
                Call(variable="CATALOGUE_URL", target="/products", name="catalogue"),
                Call(variable="RECOMMENDATION_URL", target="/recommendations", name="recommendation", is_optional=True),
            ),
            cpu_ms=6,
        ),
        Endpoint(path="/api/products", calls=(Call(variable="CATALOGUE_URL", target="/products", name="catalogue"),), cpu_ms=5),
        Endpoint(path="/api/cart", methods=("GET", "POST"), calls=(Call(variable="CART_URL", target="/cart", name="cart"),), cpu_ms=5),
        Endpoint(
            path="/api/checkout", methods=("POST",), status=201, cpu_ms=7,
            calls=(Call(variable="CHECKOUT_URL", target="/orders", method="POST", name="checkout"),),
        ),
        Endpoint(path="/api/orders/status", calls=(Call(variable="QUEUE_URL", target="/status", name="queue"),), cpu_ms=5),
        Endpoint(path="/api/account", calls=(Call(variable="USER_URL", target="/users/me", name="user"),), cpu_ms=5),
        Endpoint(path="/api/search", calls=(Call(variable="SEARCH_URL", target="/search", name="search"),), cpu_ms=5),
    ),
)  # fmt: skip

CATALOGUE: Final = Product(
    name="catalogue",
    language=GO,
    releases=history(2, 14, turn=1),
    resting_bytes=24 << 20,
    cache_mb=32,
    stores=((POSTGRES, "DB"),),
    endpoints=(
        Endpoint(
            path="/products", fields={"items": 128}, cpu_ms=4,
            calls=(Call(protocol=POSTGRES, variable="DB", target="SELECT id, title, price_cents FROM products LIMIT 24"),),
        ),
    ),
)  # fmt: skip

CART: Final = Product(
    name="cart",
    language=GO,
    releases=history(1, 9, turn=2, prefix="v"),
    resting_bytes=18 << 20,
    cache_mb=8,
    stores=((REDIS, "REDIS"),),
    variables=(Variable(name="CART_TTL_MINUTES", kind=NUMBER, default="1440"),),
    endpoints=(
        Endpoint(
            path="/cart", methods=("GET", "POST"), fields={"currency": "EUR"}, cpu_ms=3,
            calls=(Call(protocol=REDIS, variable="REDIS", target="GET cart:guest", name="session"),),
        ),
    ),
)  # fmt: skip

CHECKOUT: Final = Product(
    name="checkout",
    language=JAVA,
    releases=history(3, 2, turn=1),
    start_ms=4_800,
    start_cpu_ms=420,
    resting_bytes=168 << 20,
    cache_mb=24,
    cpu_millis=8,
    stores=((POSTGRES, "DB"),),
    variables=(url("CART_URL"), url("PAYMENT_URL"), url("QUEUE_URL")),
    endpoints=(
        Endpoint(
            path="/orders", methods=("POST",), status=201, fields={"state": "accepted"}, cpu_ms=14, memory_bytes=1 << 20,
            calls=(
                Call(variable="CART_URL", target="/cart", name="cart"),
                Call(variable="PAYMENT_URL", target="/charges", method="POST", name="payment"),
                Call(protocol=POSTGRES, variable="DB", target="INSERT INTO orders (state) VALUES ('accepted')"),
                Call(variable="QUEUE_URL", target="/publish", method="POST", name="queue"),
            ),
        ),
    ),
)  # fmt: skip

PAYMENT: Final = Product(
    name="payment",
    language=PYTHON,
    releases=history(5, 1, turn=2),
    port=8000,
    start_ms=2_200,
    resting_bytes=54 << 20,
    cache_mb=4,
    variables=(Variable(name="PROVIDER_KEY"), Variable(name="PROVIDER_MODE", default="live")),
    endpoints=(
        Endpoint(path="/charges", methods=("POST",), status=201, fields={"state": "captured"}, cpu_ms=9),
    ),
)

USER: Final = Product(
    name="user",
    language=PYTHON,
    releases=history(2, 3, turn=0, prefix="v"),
    port=8000,
    start_ms=2_000,
    resting_bytes=58 << 20,
    cache_mb=16,
    stores=((POSTGRES, "DB"),),
    variables=(Variable(name="SESSION_SECRET"), Variable(name="SESSION_HOURS", kind=NUMBER, default="12")),
    endpoints=(
        Endpoint(
            path="/users", fields={"name": "guest"}, cpu_ms=6,
            calls=(Call(protocol=POSTGRES, variable="DB", target="SELECT id, name FROM users WHERE id = 1"),),
        ),
    ),
)  # fmt: skip

RECOMMENDATION: Final = Product(
    name="recommendation",
    language=PYTHON,
    releases=history(1, 21, turn=1),
    port=8000,
    start_ms=3_600,
    start_cpu_ms=260,
    resting_bytes=92 << 20,
    cache_mb=64,
    variables=(url("CATALOGUE_URL"), Variable(name="MODEL_NAME", default="als-small")),
    endpoints=(
        Endpoint(
            path="/recommendations", fields={"items": 6}, cpu_ms=18, memory_bytes=2 << 20,
            calls=(Call(variable="CATALOGUE_URL", target="/products"),),
        ),
    ),
)  # fmt: skip

SEARCH: Final = Product(
    name="search",
    language=GO,
    releases=history(6, 0, turn=0),
    start_ms=2_600,
    resting_bytes=30 << 20,
    cache_mb=72,
    variables=(url("CATALOGUE_URL"), Variable(name="INDEX_SHARDS", kind=NUMBER, default="2")),
    endpoints=(
        Endpoint(path="/search", fields={"hits": 17}, cpu_ms=11, calls=(Call(variable="CATALOGUE_URL", target="/products"),)),
    ),
)  # fmt: skip

QUEUE: Final = Product(
    name="queue",
    language=GO,
    releases=history(0, 8, turn=2, prefix="v"),
    resting_bytes=22 << 20,
    cache_mb=8,
    variables=(url("SUBSCRIBER_URL"),),
    endpoints=(
        Endpoint(path="/publish", methods=("POST",), status=202, cpu_ms=2),
        Endpoint(
            path="/status",
            calls=(Call(variable="SUBSCRIBER_URL", target="/status", name="subscriber"),),
            cpu_ms=2,
        ),
    ),
    is_broker=True,
)

WORKER: Final = Product(
    name="fulfilment",
    language=NODE,
    releases=history(3, 11, turn=1),
    resting_bytes=56 << 20,
    cache_mb=8,
    stores=((POSTGRES, "DB"),),
    variables=(url("MAILER_URL"), Variable(name="CONCURRENCY", kind=NUMBER, default="4")),
    endpoints=(
        Endpoint(path="/status", calls=(Call(variable="MAILER_URL", target="/status", name="mailer"),), cpu_ms=3),
        Endpoint(
            path="/deliver", methods=("POST",), cpu_ms=12,
            calls=(
                Call(protocol=POSTGRES, variable="DB", target="UPDATE orders SET state = 'packed' WHERE id = 1"),
                Call(variable="MAILER_URL", target="/send", method="POST", is_optional=True),
            ),
        ),
    ),
)  # fmt: skip

MAILER: Final = Product(
    name="mailer",
    language=PYTHON,
    releases=history(1, 4, turn=0),
    port=8000,
    resting_bytes=48 << 20,
    cache_mb=2,
    variables=(Variable(name="SENDER"), Variable(name="BATCH_SIZE", kind=NUMBER, default="20")),
    endpoints=(
        Endpoint(path="/status", cpu_ms=2),
        Endpoint(path="/send", methods=("POST",), status=202, fields={"state": "queued"}, cpu_ms=5),
    ),
)

REPORTS: Final = Product(
    name="reports",
    language=PYTHON,
    releases=history(1, 1, turn=2),
    stores=((POSTGRES, "DB"),),
    tasks={
        "nightly": Task(
            log=(
                "INFO:     reading orders of the day",
                "INFO:     418 orders, 3 refunds",
                "INFO:     report stored",
            ),
            took_ms=14_000,
            required=("DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD", "DB_NAME"),
        )
    },
)

FAMILY: Final = Family(
    prefixes=PREFIXES,
    products=(
        GATEWAY, CATALOGUE, CART, CHECKOUT, PAYMENT, USER, RECOMMENDATION, SEARCH, QUEUE, WORKER, MAILER, REPORTS,
    ),
)  # fmt: skip
