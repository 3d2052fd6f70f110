"""What grpc-go clients say of calls that fail.

Source: tests/golden/promql/go_net (grpc-go 1.82: grpc).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.objects.problems import quoted
from env_core.programs._go_net import GoError
from env_core.programs._http import REASONS

CODES: Final = (
    "OK", "Canceled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists", "PermissionDenied",
    "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented", "Internal", "Unavailable", "DataLoss",
    "Unauthenticated",
)  # fmt: skip
_OF_STATUS: Final = {400: "Internal", 401: "Unauthenticated", 403: "PermissionDenied", 404: "Unimplemented"}
_UNAVAILABLE_STATUSES: Final = frozenset({429, 502, 503, 504})


class Status(NamedTuple):
    """The status of a call: its code and description."""

    code: str
    description: str

    @property
    def error(self) -> GoError:
        """The error that the client's code sees."""
        return GoError(f"rpc error: code = {self.code} desc = {self.description}", ("*status.Error",))


def not_connected(text: str) -> Status:
    """No connection became ready: what the last attempt said."""
    return Status("Unavailable", f"connection error: desc = {quoted(text)}")


def dialling(error: GoError) -> Status:
    """The address could not be dialled."""
    return not_connected(f"transport: Error while dialing: {error.text}")


def handshake(error: GoError) -> Status:
    """TLS with the server failed."""
    return not_connected(f"transport: authentication handshake failed: {error.text}")


def preface(text: str) -> Status:
    """The server did not begin as an HTTP/2 server does."""
    return not_connected(f"error reading server preface: {text}")


def too_late(last: Status | None) -> Status:
    """The deadline passed while the call waited for a connection; `last` is what the last attempt said."""
    if last is None:
        return Status(
            "DeadlineExceeded", "context deadline exceeded while waiting for connections to become ready"
        )
    return Status("DeadlineExceeded", f"latest balancer error: {last.description}")


def no_addresses() -> Status:
    """The target's name has no addresses."""
    return Status("Unavailable", "name resolver error: produced zero addresses")


def http_answer(status: int, content_type: str, body: str) -> Status:
    """An HTTP/2 server answered that speaks no gRPC."""
    code = _OF_STATUS.get(status, "Unavailable" if status in _UNAVAILABLE_STATUSES else "Unknown")
    text = f"unexpected HTTP status code received from server: {status} ({REASONS.get(status, '')})"
    text += f"; transport: received unexpected content-type {quoted(content_type)}"
    return Status(code, f"{text}\ndata: {quoted(body)}" if body else text)


def too_large(size: int, size_max: int, *, is_received: bool) -> Status:
    """A message is over a limit."""
    if is_received:
        return Status("ResourceExhausted", f"grpc: received message larger than max ({size} vs. {size_max})")
    return Status("ResourceExhausted", f"trying to send message larger than max ({size} vs. {size_max})")


def of_handler(text: str) -> Status:
    """A handler returned an error that is no status: its text, under the code for what nobody knows."""
    return Status("Unknown", text)


def of_context(*, is_cancelled: bool) -> Status:
    """The call's context was cancelled, or its deadline passed, on either side."""
    if is_cancelled:
        return Status("Canceled", "context canceled")
    return Status("DeadlineExceeded", "context deadline exceeded")


def unknown_service(service: str) -> Status:
    """The server has no such service."""
    return Status("Unimplemented", f"unknown service {service}")


def unknown_method(service: str, method: str) -> Status:
    """The server has the service, but no such method in it."""
    return Status("Unimplemented", f"unknown method {method} for service {service}")


UNKNOWN_HEALTH: Final = Status("NotFound", "unknown service")
"""The health service is asked about a service of which it knows nothing."""
STOPPED: Final = Status("Unavailable", "error reading from server: EOF")
"""The server went away during the call."""
HTTP1_SERVER: Final = "http2: failed reading the frame payload: http2: frame too large, note that the frame header looked like an HTTP/1.1 header"
NO_CREDENTIALS: Final = GoError(
    "grpc: no transport security set (use grpc.WithTransportCredentials(insecure.NewCredentials()) explicitly or set"
    " credentials)",
    ("*errors.errorString",),
)
