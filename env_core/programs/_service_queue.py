"""Two services with a queue of RabbitMQ between them: orders are taken and put there, a worker books them from there.

No application has them yet; they stand here to be used.
"""

from __future__ import annotations

from typing import Final

from env_core.programs._service_model import AMQP, GO, PYTHON, Call, Endpoint, Family, Product, history

PREFIXES: Final = ("registry.example.com/fulfilment",)
_QUEUE: Final = "orders"

INTAKE: Final = Product(
    name="intake",
    language=GO,
    releases=history(2, 4, turn=0),
    resting_bytes=24 << 20,
    cache_mb=8,
    stores=((AMQP, "MQ"),),
    endpoints=(
        Endpoint(
            path="/orders", methods=("POST",), status=202, fields={"accepted": 1}, cpu_ms=3,
            calls=(Call(protocol=AMQP, variable="MQ", target=f"publish {_QUEUE}", name="queued"),),
        ),
    ),
)  # fmt: skip

BOOKING: Final = Product(
    name="booking",
    language=PYTHON,
    releases=history(1, 7, turn=1),
    port=8000,
    resting_bytes=58 << 20,
    cache_mb=12,
    stores=((AMQP, "MQ"),),
    endpoints=(
        Endpoint(
            path="/run", methods=("POST",), cpu_ms=9,
            calls=(Call(protocol=AMQP, variable="MQ", target=f"drain {_QUEUE}", name="booked"),),
        ),
    ),
)  # fmt: skip

FAMILY: Final = Family(prefixes=PREFIXES, products=(INTAKE, BOOKING))
