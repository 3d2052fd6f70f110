"""From HTTP to the API server and back: paths, queries, headers and bodies as `ApiRequest`, tokens as identities.

A request that no resource answers (health checks, discovery, unknown paths) is a `Plain` one: it is for the facade
around the API server. What HTTP itself refuses is a `Translated.refusal`, to be given to who is authorised only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from env_core.apiserver import errors
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import (
    ADMIN,
    MERGE_PATCH,
    ApiRequest,
    ExecOptions,
    Identity,
    LogOptions,
    Options,
)
from tests.golden.http_refusals import (
    accept_problem,
    body_type_problem,
    delete_options_problem,
    list_options_problem,
    method_not_allowed,
    method_problem,
    number_of,
    write_options_problem,
)

AUTHENTICATED = "system:authenticated"
TOKENS: Mapping[str, Identity] = {
    "tok-admin": ADMIN,
    "tok-dev": Identity("dev", ("dev-team", AUTHENTICATED)),
    "tok-node0": Identity("system:node:node-0", ("system:nodes", AUTHENTICATED)),
}
"""The static tokens of the recorded control plane (l2 README: `tok-admin`, `tok-dev`, `tok-node0`)."""

_VERBS = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "GET": "get",
    "HEAD": "get",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What a resource path names; `version` is the one in the path."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Plain:
    """A request that no resource answers; `target` is set when the path has the form of a resource's."""

    method: str
    path: str
    identity: Identity
    target: Target | None = None

    @property
    def verb(self) -> str:
        """What is asked, as authorisation sees it."""
        verb = _VERBS.get(self.method, self.method.lower())
        return "list" if verb == "get" and self.target is not None and not self.target.name else verb


@dataclass(frozen=True, slots=True)
class Translated:
    """A request to a resource, and why HTTP refuses it, if it does."""

    request: ApiRequest
    kind: Kind
    refusal: StatusError | None = None


def target_of(path: str) -> Target | None:
    """Return what a path like "/apis/apps/v1/namespaces/shop/deployments/web/scale" names, None for other paths."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Target(group, version, rest[0], namespace, name, subresource)


def authenticate(token: str | None) -> Identity:
    """Return who holds a token.

    Raises:
        StatusError: 401 for an unknown token.
    """
    identity = TOKENS.get(token or "")
    if identity is None:
        raise StatusError(errors.status(401, "Unauthorized", "Unauthorized"))
    return identity


def impersonated(headers: Mapping[str, Any]) -> Identity | None:
    """Return the identity that the Impersonate- headers ask for, None without any.

    Raises:
        StatusError: 400 for groups without a user.
    """
    given = {name.lower(): value for name, value in headers.items()}
    user, groups = given.get("impersonate-user", ""), given.get("impersonate-group") or ()
    wanted = (groups,) if isinstance(groups, str) else tuple(groups)
    if not user:
        if not wanted:
            return None
        listed = ", ".join(f'"{group}"' for group in wanted)
        raise errors.bad_request(
            f'requested &user.DefaultInfo{{Name:"", UID:"", Groups:[]string{{{listed}}}, '
            "Extra:map[string][]string(nil)} without impersonating a user name"
        )
    if user.startswith("system:serviceaccount:") and not wanted:
        wanted = ("system:serviceaccounts", f"system:serviceaccounts:{user.split(':')[2]}")
    return Identity(user, tuple(dict.fromkeys((*wanted, AUTHENTICATED))))


def translate(
    method: str,
    url: str,
    *,
    identity: Identity,
    registry: Registry,
    headers: Mapping[str, str] | None = None,
    content_type: str = "",
    accept: str = "",
    body: Any = None,
) -> Translated | Plain:
    """Translate one HTTP request.

    Args:
        method: "GET", "POST" and so on.
        url: path and query.
        identity: who asks, already authenticated.
        registry: the kinds that are served, to find a resource's group and scope.
        headers: the request's headers.
        content_type: of the body; JSON, or a merge patch, without one.
        accept: what the client reads; anything without it.
        body: a decoded JSON value, or text where the client's bytes matter; None without a body.
    """
    parts = urlsplit(url)
    target = target_of(parts.path)
    if target is None:
        return Plain(method, parts.path, identity)
    resource = f"{target.plural}.{target.group}" if target.group else target.plural
    kind = registry.by_resource(resource)
    if kind is None or not _serves(kind, target):
        return Plain(method, parts.path, identity, target)
    query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    verb = _verb(method, target, query)
    content_type = content_type or (MERGE_PATCH if method == "PATCH" else "")
    refusal = (
        method_problem(method, kind, target.name, target.subresource)
        or body_type_problem(method, content_type)
        or accept_problem(accept, is_list=not target.name)
    )
    options, log = Options(), None
    if refusal is None:
        try:
            options, refusal = _options(verb, query, body, content_type)
            log = _log_options(query) if target.subresource == "log" else None
        except StatusError as error:
            refusal = error
    request = ApiRequest(
        verb=verb,
        resource=resource,
        namespace=target.namespace,
        name=target.name,
        subresource=target.subresource,
        body=None if verb in ("delete", "deletecollection") else body,
        content_type=content_type,
        identity=identity,
        options=options,
        log=log,
        exec=_exec_options(parts.query) if target.subresource == "exec" else None,
        user_agent=(headers or {}).get("User-Agent", ""),
    )
    return Translated(request, kind, refusal)


def _serves(kind: Kind, target: Target) -> bool:
    if (kind.plural, kind.group) != (target.plural, target.group):
        return False
    version = f"{target.group}/{target.version}" if target.group else target.version
    return kind.version == target.version or any(version == alias for alias, _ in kind.aliases)


def _verb(method: str, target: Target, query: Mapping[str, str]) -> str:
    if method in ("GET", "HEAD") and not target.name:
        return "watch" if _flag(query, "watch") else "list"
    if method == "DELETE" and not target.name:
        return "deletecollection"
    return _VERBS.get(method, method.lower())


def _flag(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "").lower() in ("1", "true", "t")


def _options(
    verb: str, query: Mapping[str, str], body: Any, content_type: str
) -> tuple[Options, StatusError | None]:
    deletes = verb in ("delete", "deletecollection")
    # The options in a DELETE's body hide those of the query.
    given = body if deletes and isinstance(body, dict) else None
    policy = (given or {}).get("propagationPolicy") or ("" if given else query.get("propagationPolicy", ""))
    dry_run = (given.get("dryRun") or []) if given else [query["dryRun"]] if query.get("dryRun") else []
    preconditions = (given or {}).get("preconditions") or {}
    options = Options(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        resource_version=query.get("resourceVersion", ""),
        limit=max(number_of(query, "limit") or 0, 0),
        continue_token=query.get("continue", ""),
        dry_run=bool(dry_run),
        field_manager=query.get("fieldManager", ""),
        field_validation=query.get("fieldValidation", "") or "Warn",
        force=_flag(query, "force"),
        propagation_policy=policy,
        grace_period_seconds=given.get("gracePeriodSeconds")
        if given
        else number_of(query, "gracePeriodSeconds"),
        precondition_uid=preconditions.get("uid", ""),
        precondition_resource_version=preconditions.get("resourceVersion", ""),
    )
    if deletes:
        return options, delete_options_problem(policy, given or {}, dry_run)
    if verb in ("list", "watch"):
        return options, list_options_problem(query, is_watch=verb == "watch")
    if verb in ("create", "update", "patch"):
        return options, write_options_problem(verb, query, content_type)
    return options, None


def _log_options(query: Mapping[str, str]) -> LogOptions:
    return LogOptions(
        container=query.get("container", ""),
        previous=_flag(query, "previous"),
        timestamps=_flag(query, "timestamps"),
        tail_lines=number_of(query, "tailLines"),
        since_seconds=number_of(query, "sinceSeconds"),
        since_time=query.get("sinceTime", ""),
        limit_bytes=number_of(query, "limitBytes"),
    )


def _exec_options(query: str) -> ExecOptions:
    values = parse_qs(query)
    return ExecOptions(command=tuple(values.get("command", ())), container=values.get("container", [""])[-1])


def answered_body(kind: Kind, body: Any) -> Any:
    """Return a body as the wire carries it: the items of a typed list do not say what they are."""
    items = body.get("items") if isinstance(body, dict) else None
    if not isinstance(items, list) or body.get("kind") != f"{kind.kind}List":
        return body
    plain = [
        {key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items
    ]
    return {**body, "items": plain}


__all__ = [
    "TOKENS", "Plain", "Target", "Translated", "answered_body", "authenticate", "impersonated", "method_not_allowed",
    "target_of", "translate",
]  # fmt: skip
