"""Resources that are computed when asked for, not stored: access reviews and metrics.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.apiserver import errors, reading
from env_core.apiserver.decoding import decode_body
from env_core.apiserver.kind import Column, Kind
from env_core.apiserver.request import ApiRequest, Identity
from env_core.apiserver.server import ApiServer, Virtual
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

_AUTHZ = "authorization.k8s.io"
_AUTHN = "authentication.k8s.io"
_METRICS = "metrics.k8s.io"


def _review(group: str, kind: str, *, is_namespaced: bool = False) -> Kind:
    return Kind(
        group=group,
        version="v1",
        kind=kind,
        plural=kind.lower() + "s",
        is_namespaced=is_namespaced,
        verbs=("create",),
        subresources=(),
        source=f"{group}/v1 {kind}; answers recorded in tests/golden/l2/facts/errors.jsonl.gz",
    )


_AGE = Column("Age", lambda _obj, _now_ms: "<unknown>")


def _metrics_kind(kind: str, plural: str, *, is_namespaced: bool) -> Kind:
    return Kind(
        group=_METRICS,
        version="v1beta1",
        kind=kind,
        plural=plural,
        is_namespaced=is_namespaced,
        verbs=("get", "list"),
        subresources=(),
        columns=(Column("Name", lambda obj, _now_ms: obj["metadata"]["name"]), _AGE),
        source="k8s.io/metrics v1beta1",
    )


KINDS = (
    _review(_AUTHZ, "SelfSubjectAccessReview"),
    _review(_AUTHZ, "SelfSubjectRulesReview"),
    _review(_AUTHZ, "SubjectAccessReview"),
    _review(_AUTHZ, "LocalSubjectAccessReview", is_namespaced=True),
    _review(_AUTHN, "SelfSubjectReview"),
    _metrics_kind("PodMetrics", "pods", is_namespaced=True),
    _metrics_kind("NodeMetrics", "nodes", is_namespaced=False),
)


def _body(request: ApiRequest, kind: Kind) -> Object:
    return decode_body(request, kind, request.body)[0]


def _self_access(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    body = _body(request, kind)
    spec = body.get("spec") or {}
    return _decided(server, kind, body, spec, request.identity)


def _subject_access(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    body = _body(request, kind)
    spec = body.get("spec") or {}
    identity = Identity(spec.get("user", ""), tuple(spec.get("groups", ())), spec.get("uid", ""))
    return _decided(server, kind, body, spec, identity)


def _decided(server: ApiServer, kind: Kind, body: Object, spec: Object, identity: Identity) -> Object:
    path = spec.get("nonResourceAttributes")
    if path is not None:
        decision = server.authorizer.decide_path(identity, path.get("verb", ""), path.get("path", ""))
    else:
        what = spec.get("resourceAttributes") or {}
        decision = server.authorizer.decide(
            identity,
            what.get("verb", ""),
            what.get("group", ""),
            what.get("resource", ""),
            what.get("subresource", ""),
            what.get("namespace", ""),
            what.get("name", ""),
        )
    status: Object = {"allowed": decision.is_allowed}
    if decision.reason:
        status["reason"] = decision.reason
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": body.get("metadata") or {},
        "spec": spec,
        "status": status,
    }


def _self_rules(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    spec = _body(request, kind).get("spec") or {}
    status = server.authorizer.rules_for(request.identity, spec.get("namespace", ""))
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}, "spec": {}, "status": status}


def _self_subject(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    identity = request.identity
    user: Object = {"username": identity.name, "groups": list(identity.groups)}
    if identity.uid:
        user["uid"] = identity.uid
    metadata = {"creationTimestamp": rfc3339(server.loop.now_ms)}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "status": {"userInfo": user},
    }


def _usage(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    items = server.metrics(kind.plural, request.namespace)
    if request.verb == "list":
        matches = reading.matcher(kind, request.options.label_selector, request.options.field_selector)
        kept = [item for item in items if matches is None or matches(item)]
        return {"apiVersion": kind.api_version, "kind": f"{kind.kind}List", "metadata": {}, "items": kept}
    for item in items:
        if item["metadata"]["name"] == request.name:
            return item
    # metrics-server names what it does not find by kind, and pods with their namespace.
    name = f"{request.namespace}/{request.name}" if kind.is_namespaced else request.name
    raise errors.not_found(kind.group, kind.kind.lower(), name)


VIRTUAL: Mapping[str, Virtual] = {
    f"selfsubjectaccessreviews.{_AUTHZ}": _self_access,
    f"selfsubjectrulesreviews.{_AUTHZ}": _self_rules,
    f"subjectaccessreviews.{_AUTHZ}": _subject_access,
    f"localsubjectaccessreviews.{_AUTHZ}": _subject_access,
    f"selfsubjectreviews.{_AUTHN}": _self_subject,
    f"pods.{_METRICS}": _usage,
    f"nodes.{_METRICS}": _usage,
}
