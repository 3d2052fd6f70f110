"""`authorizer`: asks what the user of a request, or a service account, may do.

Source: k8s.io/apiserver v0.37 pkg/cel/library/authz.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member
from env_core.cel._types import BOOL, STRING, Type
from env_core.cel._values import CelError, Opaque
from env_core.objects import names

AUTHORIZER: Final = _types.struct("kubernetes.authorization.Authorizer")
PATH_CHECK: Final = _types.struct("kubernetes.authorization.PathCheck")
GROUP_CHECK: Final = _types.struct("kubernetes.authorization.GroupCheck")
RESOURCE_CHECK: Final = _types.struct("kubernetes.authorization.ResourceCheck")
DECISION: Final = _types.struct("kubernetes.authorization.Decision")


class Judge(Protocol):
    """Whoever decides what a user may do."""

    def of_service_account(self, namespace: str, name: str) -> Judge:
        """Return the judge of what a service account may do."""

    def path(self, verb: str, path: str) -> tuple[bool, str]:
        """Return whether a path may be used so, and why."""

    def resource(
        self, verb: str, group: str, resource: str, subresource: str, namespace: str, name: str
    ) -> tuple[bool, str]:
        """Return whether a resource may be used so, and why."""


@dataclass(frozen=True, slots=True)
class Authorizer(Opaque):
    """The variable `authorizer`."""

    judge: Judge
    cel_type = AUTHORIZER


@dataclass(frozen=True, slots=True)
class _PathCheck(Opaque):
    judge: Judge
    path: str
    cel_type = PATH_CHECK


@dataclass(frozen=True, slots=True)
class _GroupCheck(Opaque):
    judge: Judge
    group: str
    cel_type = GROUP_CHECK


@dataclass(frozen=True, slots=True)
class ResourceCheck(Opaque):
    """A question about a resource; `authorizer.requestResource` is the one about the request's own."""

    judge: Judge
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    cel_type = RESOURCE_CHECK


@dataclass(frozen=True, slots=True)
class _Decision(Opaque):
    is_allowed: bool
    reason: str
    cel_type = DECISION


def _path(authorizer: Authorizer, path: str) -> Any:
    return _PathCheck(authorizer.judge, path) if path.strip() else CelError("path must not be empty")


def _service_account(authorizer: Authorizer, namespace: str, name: str) -> Any:
    if names.is_dns1123_subdomain(name):
        return CelError("Invalid service account name")
    if names.is_dns1123_label(namespace):
        return CelError("Invalid service account namespace")
    return Authorizer(authorizer.judge.of_service_account(namespace, name))


def _resource(check: _GroupCheck, resource: str) -> Any:
    if not resource.strip():
        return CelError("resource must not be empty")
    return ResourceCheck(check.judge, check.group, resource)


def _selected(check: ResourceCheck, _selector: str) -> ResourceCheck:
    # RBAC, the only authorizer here, does not look at selectors.
    return check


def _check_path(check: _PathCheck, verb: str) -> _Decision:
    return _Decision(*check.judge.path(verb, check.path))


def _check_resource(check: ResourceCheck, verb: str) -> _Decision:
    answer = check.judge.resource(
        verb, check.group, check.resource, check.subresource, check.namespace, check.name
    )
    return _Decision(*answer)


def _one(id_: str, arguments: tuple[Type, ...], result: Type, run: Callable[..., Any]) -> Function:
    return Function((member(id_, arguments, result, run),))


def _refinement(id_: str, run: Callable[..., Any]) -> Function:
    return _one(id_, (RESOURCE_CHECK, STRING), RESOURCE_CHECK, run)


LIBRARY = Library(
    order=12,
    functions={
        "path": _one("authorizer_path", (AUTHORIZER, STRING), PATH_CHECK, _path),
        "group": _one(
            "authorizer_group", (AUTHORIZER, STRING), GROUP_CHECK,
            lambda authorizer, group: _GroupCheck(authorizer.judge, group),
        ),
        "serviceAccount": _one(
            "authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account
        ),
        "resource": _one("groupcheck_resource", (GROUP_CHECK, STRING), RESOURCE_CHECK, _resource),
        "subresource": _refinement("resourcecheck_subresource", lambda check, value: replace(check, subresource=value)),
        "namespace": _refinement("resourcecheck_namespace", lambda check, value: replace(check, namespace=value)),
        "name": _refinement("resourcecheck_name", lambda check, value: replace(check, name=value)),
        "fieldSelector": _refinement("authorizer_fieldselector", _selected),
        "labelSelector": _refinement("authorizer_labelselector", _selected),
        "check": Function(
            (
                member("pathcheck_check", (PATH_CHECK, STRING), DECISION, _check_path),
                member("resourcecheck_check", (RESOURCE_CHECK, STRING), DECISION, _check_resource),
            )
        ),
        "errored": _one("decision_errored", (DECISION,), BOOL, lambda _decision: False),
        "error": _one("decision_error", (DECISION,), STRING, lambda _decision: ""),
        "allowed": _one("decision_allowed", (DECISION,), BOOL, lambda decision: decision.is_allowed),
        "reason": _one("decision_reason", (DECISION,), STRING, lambda decision: decision.reason),
    },
    types=(AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION),
    source="k8s.io/apiserver v0.37 pkg/cel/library/authz.go",
)  # fmt: skip
