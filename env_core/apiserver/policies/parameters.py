"""The parameters of a policy: the objects that a binding's `paramRef` names.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.policies.matching import request_namespace
from env_core.apiserver.registry import ServedKinds
from env_core.objects import selectors
from env_core.world import Object


class Misconfigured(Exception):
    """The parameters cannot be had; the text says why."""


def parameter_kind(param_kind: Mapping[str, Any] | None, registry: ServedKinds) -> Kind | None:
    """Return the kind of a policy's parameters, None where it has none.

    Raises:
        Misconfigured: nothing serves such a kind.
    """
    if param_kind is None:
        return None
    kind = registry.by_gvk(param_kind["apiVersion"], param_kind["kind"])
    if kind is None:
        group, _, version = param_kind["apiVersion"].rpartition("/")
        gvk = f"{group}/{version}, Kind={param_kind['kind']}"
        raise Misconfigured(f"failed to find resource referenced by paramKind: '{gvk}'")
    return kind


def parameters_of(
    kind: Kind | None, reference: Mapping[str, Any] | None, attributes: Attributes
) -> Sequence[Object | None]:
    """Return the objects to evaluate a policy with, one after another; None stands for "no parameters".

    Raises:
        Misconfigured: the namespace is wrong, or objects that must be there are not.
    """
    if kind is None or reference is None:
        return (None,)
    namespace = ""
    if kind.is_namespaced:
        namespace = reference.get("namespace") or request_namespace(attributes)
        if not namespace:
            raise Misconfigured(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            )
    elif reference.get("namespace"):
        raise Misconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    found = _named_or_selected(attributes, kind.resource, namespace, reference)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise Misconfigured("no params found for policy binding with `Deny` parameterNotFoundAction")
    return found


def _named_or_selected(
    attributes: Attributes, resource: str, namespace: str, reference: Mapping[str, Any]
) -> list[Object]:
    store = attributes.store
    if reference.get("name"):
        obj = store.get(resource, namespace, reference["name"])
        return [] if obj is None else [obj]
    selector = selectors.from_object(reference.get("selector") or {})
    return [
        obj
        for obj in store.list(resource, namespace)
        if selector.matches(obj["metadata"].get("labels") or {})
    ]
