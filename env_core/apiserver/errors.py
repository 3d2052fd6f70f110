"""The refusals of the API server, spelled as apimachinery spells them.

Source: tests/golden/l0/api_errors.jsonl.gz; k8s.io/apimachinery pkg/api/errors.
"""

from __future__ import annotations

from typing import Any

from env_core.objects.problems import Problem, aggregate_text
from env_core.world import Object

OPTIMISTIC_LOCK = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class StatusError(Exception):
    """The API refused. Carries the `Status` object that the server answers."""

    def __init__(self, status: Object) -> None:
        super().__init__(status["message"])
        self.status = status

    @property
    def message(self) -> str:
        """The text that kubectl prints after `Error from server (Reason): `."""
        text: str = self.status["message"]
        return text

    @property
    def reason(self) -> str:
        """The machine-readable reason, "" when the status has none."""
        text: str = self.status.get("reason", "")
        return text

    @property
    def code(self) -> int:
        """The HTTP status code."""
        number: int = self.status["code"]
        return number


def status(code: int, reason: str, message: str, details: Object | None = None) -> Object:
    """Build a failure `Status`."""
    built: Object = {
        "apiVersion": "v1",
        "code": code,
        "kind": "Status",
        "message": message,
        "metadata": {},
        "status": "Failure",
    }
    if reason:
        built["reason"] = reason
    if details is not None:
        built["details"] = {key: value for key, value in details.items() if value not in ("", None)}
    return built


def qualified(group: str, resource: str) -> str:
    """Return "deployments.apps", or just "pods" for the core group."""
    return f"{resource}.{group}" if group else resource


def _details(group: str, resource: str, name: str, **more: Any) -> Object:
    return {"name": name, "group": group, "kind": resource, **more}


def not_found(group: str, resource: str, name: str) -> StatusError:
    """404: the named object does not exist."""
    message = f'{qualified(group, resource)} "{name}" not found'
    return StatusError(status(404, "NotFound", message, _details(group, resource, name)))


def already_exists(group: str, resource: str, name: str, prefix: str = "") -> StatusError:
    """409: the name is taken; `prefix` stands before the text ("object is being deleted: ")."""
    message = f'{prefix}{qualified(group, resource)} "{name}" already exists'
    return StatusError(status(409, "AlreadyExists", message, _details(group, resource, name)))


def conflict(group: str, resource: str, name: str, why: str = OPTIMISTIC_LOCK) -> StatusError:
    """409: somebody else wrote first, or a precondition failed."""
    message = f'Operation cannot be fulfilled on {qualified(group, resource)} "{name}": {why}'
    return StatusError(status(409, "Conflict", message, _details(group, resource, name)))


def apply_conflict(message: str, causes: list[Object]) -> StatusError:
    """409 of a server-side apply that changes fields of other managers."""
    return StatusError(status(409, "Conflict", message, {"causes": causes}))


def plain(message: str) -> StatusError:
    """500: an error of the server that is no Status; its text goes out as it is."""
    return StatusError(status(500, "", message))


def forbidden(group: str, resource: str, name: str, why: str) -> StatusError:
    """403: authorization or admission refused."""
    if name:
        message = f'{qualified(group, resource)} "{name}" is forbidden: {why}'
    elif resource:
        message = f"{qualified(group, resource)} is forbidden: {why}"
    else:
        message = f"forbidden: {why}"
    return StatusError(status(403, "Forbidden", message, _details(group, resource, name)))


def invalid(group: str, kind: str, name: str, problems: list[Problem]) -> StatusError:
    """422: the object fails validation."""
    qualified_kind = f"{kind}.{group}" if group else kind
    problems = list(dict.fromkeys(problems))
    causes = [problem.cause() for problem in problems]
    message = f'{qualified_kind} "{name}" is invalid: {aggregate_text(problems)}'
    return StatusError(
        status(422, "Invalid", message, {"name": name, "group": group, "kind": kind, "causes": causes})
    )


def bad_request(message: str) -> StatusError:
    """400: the request makes no sense."""
    return StatusError(status(400, "BadRequest", message))


def method_not_supported(group: str, resource: str, verb: str) -> StatusError:
    """405: the resource has no such verb."""
    message = f'{verb} is not supported on resources of kind "{qualified(group, resource)}"'
    return StatusError(status(405, "MethodNotAllowed", message, _details(group, resource, "")))


def unsupported_media_type(message: str) -> StatusError:
    """415: the body's content type is not accepted here."""
    return StatusError(status(415, "UnsupportedMediaType", message))


def too_many_requests(
    message: str, retry_after_seconds: int = 0, causes: list[Object] | None = None
) -> StatusError:
    """429: try again later (evictions that a disruption budget holds back)."""
    details: Object = {}
    if causes:
        details["causes"] = causes
    if retry_after_seconds:
        details["retryAfterSeconds"] = retry_after_seconds
    return StatusError(status(429, "TooManyRequests", message, details))


def unprocessable(message: str, causes: list[Object] | None = None) -> StatusError:
    """422 of a patch that cannot be applied."""
    details = {"causes": causes} if causes else None
    return StatusError(status(422, "Invalid", message, details))


def gone(message: str) -> StatusError:
    """410: the resourceVersion or continue token is too old."""
    return StatusError(status(410, "Expired", message))


def internal(message: str) -> StatusError:
    """500: the server itself says so, in its own words."""
    text = f"Internal error occurred: {message}"
    return StatusError(status(500, "InternalError", text, {"causes": [{"message": message}]}))


def path_unknown(verb: str, resource: str, name: str) -> StatusError:
    """404 of a path in a group that nothing serves, in the words that clients make of its plain text.

    Source: k8s.io/apimachinery pkg/api/errors NewGenericServerResponse; tests/golden/l2/flows (crd-finalizer).
    """
    what = f"{verb} {resource} {name}" if name else f"{verb} {resource}"
    plural, _, group = resource.partition(".")
    message = f"the server could not find the requested resource ({what})"
    return StatusError(status(404, "NotFound", message, _details(group, plural, name)))


def resource_unknown() -> StatusError:
    """404 of a path that nothing serves."""
    return StatusError(status(404, "NotFound", "the server could not find the requested resource"))
