"""What goes into the API server and what comes out: requests, responses, identities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from env_core.world import Object, Output

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class Identity(NamedTuple):
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ("system:authenticated",)
    uid: str = ""


ADMIN = Identity("kubernetes-admin", ("system:masters", "system:authenticated"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The query parameters and delete options that Kubernetes defines, with their defaults."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool = False
    propagation_policy: str = ""
    grace_period_seconds: int | None = None
    precondition_uid: str = ""
    precondition_resource_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """The query parameters of the `log` subresource."""

    container: str = ""
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    since_seconds: int | None = None
    since_time: str = ""
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOptions:
    """The query parameters of the `exec` subresource."""

    command: tuple[str, ...]
    container: str = ""
    stdin: str = ""


NO_OPTIONS = Options()


class ApiRequest(NamedTuple):
    """One request to the API server.

    `resource` is a plural ("pods") or a group-qualified plural ("deployments.apps"). `body` is a
    decoded object for create and update, a patch (object, or a list for JSON patch) for patch, or raw
    text where the client's bytes matter (strict decoding). `log` and `exec` go with the subresources
    of those names. `sees_managed_fields` is for those who look at `metadata.managedFields`, as every client of the REST
    API may: working them out costs, so that answers to others leave them out.
    """

    verb: str
    resource: str
    identity: Identity
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    body: Any = None
    content_type: str = ""
    options: Options = NO_OPTIONS
    log: LogOptions | None = None
    exec: ExecOptions | None = None
    user_agent: str = ""
    sees_managed_fields: bool = False


class ApiResponse(NamedTuple):
    """The answer: an object, a list, or a Status; `output` for log and exec."""

    code: int
    object: Object
    warnings: tuple[str, ...] = ()
    output: Output | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the request succeeded."""
        return self.code < 400
