"""What a path names: a resource with its namespace, name and subresource, or something that is no resource.

Source: k8s.io/apiserver pkg/endpoints/request/requestinfo.go; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

VERBS: Mapping[str, str] = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "GET": "get",
    "HEAD": "get",
}
_OF_A_NAMESPACE = ("status", "finalize")
"""Subresources of namespaces themselves, which look like resources in one."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a resource path names; `version` is the one in the path, `rest` what follows a proxy subresource."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    is_watch: bool = False
    """Whether the path is of the old form that watches, /api/v1/watch/…."""

    @property
    def resource(self) -> str:
        """The group-qualified plural."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def target_of(path: str) -> Target | None:
    """Return what a path like "/apis/apps/v1/namespaces/shop/deployments/web/scale" names, None for other paths."""
    parts = unquote(path).strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    is_watch = rest[0] == "watch" and len(rest) > 1
    if is_watch:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _OF_A_NAMESPACE:
        namespace, rest = rest[1], rest[2:]
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Target(
        group, version, rest[0], namespace, name, subresource, "/".join(rest[3:]), is_watch=is_watch
    )


def verb_of(method: str, target: Target, *, is_watch: bool) -> str:
    """Return what is asked, as authorisation sees it."""
    if method in ("GET", "HEAD"):
        if is_watch or target.is_watch:
            return "watch"
        return "get" if target.name else "list"
    if method == "DELETE" and not target.name:
        return "deletecollection"
    return VERBS.get(method, method.lower())
