"""NamespaceLifecycle: nothing new in missing or dying namespaces, and three that may not be deleted."""

from __future__ import annotations

from env_core.apiserver import errors
from env_core.apiserver.admission._refusal import name_of, refusal
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_IMMORTAL = ("default", "kube-system", "kube-public")


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    if attributes.operation != "CREATE" or not attributes.kind.is_namespaced:
        return body
    namespace = attributes.namespace
    found = attributes.store.get("namespaces", "", namespace)
    if found is None:
        raise errors.not_found("", "namespaces", namespace)
    if found.get("status", {}).get("phase") == "Terminating":
        raise _terminating(attributes, namespace)
    return body


def _terminating(attributes: Attributes, namespace: str) -> errors.StatusError:
    kind = attributes.kind
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = errors.forbidden(kind.group, kind.plural, name_of(attributes, is_mutating=True), why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    details = {**error.status["details"], "causes": [cause]}
    return errors.StatusError({**error.status, "details": details})


def _validate(attributes: Attributes) -> None:
    is_deleted = attributes.operation == "DELETE" and attributes.kind.resource == "namespaces"
    if is_deleted and attributes.name in _IMMORTAL:
        raise refusal(attributes, "this namespace may not be deleted")


ADMISSION = Admission(
    name="NamespaceLifecycle",
    order=30,
    operations=("CREATE", "DELETE"),
    mutate=_mutate,
    validate=_validate,
    source="tests/golden/l2/facts/errors.jsonl.gz, ids post-missing-ns, ns-term-create, del-ns-default",
)
