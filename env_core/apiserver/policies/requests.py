"""The request as expressions and webhooks see it, and the variables of an expression.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/cel/{condition,activation}.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.apiserver.authz import Authorizer
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.policies.matching import request_name, request_namespace
from env_core.apiserver.request import Identity
from env_core.cel.libraries.authorizer import Authorizer as AuthorizerValue
from env_core.cel.libraries.authorizer import ResourceCheck
from env_core.world import Object

_META_VERSION: Final = "meta.k8s.io/v1"
_OPTIONS: Final = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


def user_info(identity: Identity) -> Object:
    """Return `userInfo`: who asks."""
    info: Object = {"username": identity.name}
    if identity.uid:
        info["uid"] = identity.uid
    if identity.groups:
        info["groups"] = list(identity.groups)
    return info


def admission_request(attributes: Attributes) -> Object:
    """Return an AdmissionRequest without its uid and objects."""
    kind = attributes.kind
    gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    gvr = {"group": kind.group, "version": kind.version, "resource": kind.plural}
    if attributes.subresource == "scale":
        gvk = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    optional = {"name": request_name(attributes), "namespace": request_namespace(attributes)}
    subresource = attributes.subresource
    return {
        "kind": gvk,
        "resource": gvr,
        **({"subResource": subresource} if subresource else {}),
        "requestKind": gvk,
        "requestResource": gvr,
        **({"requestSubResource": subresource} if subresource else {}),
        **{key: value for key, value in optional.items() if value},
        "operation": attributes.operation,
        "userInfo": user_info(attributes.identity),
        "dryRun": attributes.options.dry_run,
        "options": _options(attributes),
    }


def _options(attributes: Attributes) -> Object:
    options = attributes.options
    built: Object = {"kind": _OPTIONS[attributes.operation], "apiVersion": _META_VERSION}
    if options.dry_run:
        built["dryRun"] = ["All"]
    if attributes.operation == "DELETE":
        if options.grace_period_seconds is not None:
            built["gracePeriodSeconds"] = options.grace_period_seconds
        if options.propagation_policy:
            built["propagationPolicy"] = options.propagation_policy
        return built
    if options.field_manager:
        built["fieldManager"] = options.field_manager
    built["fieldValidation"] = options.field_validation
    return built


@dataclass(frozen=True, slots=True)
class UserJudge:
    """Answers `authorizer` for one identity."""

    authorizer: Authorizer
    identity: Identity

    def of_service_account(self, namespace: str, name: str) -> UserJudge:
        """Return the judge of what a service account may do."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        return UserJudge(self.authorizer, Identity(f"system:serviceaccount:{namespace}:{name}", groups))

    def path(self, verb: str, path: str) -> tuple[bool, str]:
        """Return whether a path may be used so, and why."""
        decision = self.authorizer.decide_path(self.identity, verb, path)
        return decision.is_allowed, decision.reason

    def resource(
        self, verb: str, group: str, resource: str, subresource: str, namespace: str, name: str
    ) -> tuple[bool, str]:
        """Return whether a resource may be used so, and why."""
        decision = self.authorizer.decide(self.identity, verb, group, resource, subresource, namespace, name)
        return decision.is_allowed, decision.reason


def bindings_of(attributes: Attributes, judge: UserJudge | None, params: Object | None = None) -> Object:
    """Return the values of the variables, but for `namespaceObject`, which is null."""
    bindings: Object = {
        "object": attributes.object,
        "oldObject": attributes.old,
        "request": admission_request(attributes),
        "params": params,
        "namespaceObject": None,
    }
    if judge is not None:
        kind = attributes.kind
        bindings["authorizer"] = AuthorizerValue(judge)
        bindings["authorizer.requestResource"] = ResourceCheck(
            judge,
            kind.group,
            kind.plural,
            attributes.subresource,
            request_namespace(attributes),
            request_name(attributes),
        )
    return bindings


def namespace_object(attributes: Attributes) -> Any:
    """Return what `namespaceObject` is: the namespace of the object, null for what has none."""
    namespace = attributes.namespace
    if not namespace or attributes.kind.resource == "namespaces":
        return None
    found = attributes.store.get("namespaces", "", namespace)
    if found is None:
        return None
    hidden = ("managedFields", "ownerReferences", "selfLink")
    metadata = {key: value for key, value in found["metadata"].items() if key not in hidden}
    return {"metadata": metadata, "spec": found.get("spec") or {}, "status": found.get("status") or {}}
