"""Resources that are computed when asked for, not stored: reviews, bindings and metrics.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.apiserver import errors, reading
from env_core.apiserver.decoding import decode_as
from env_core.apiserver.kind import Column, Kind
from env_core.apiserver.podwrites import POD_SUBRESOURCES
from env_core.apiserver.request import ApiRequest, Identity
from env_core.apiserver.server import ApiServer, Virtual
from env_core.apiserver.tokens import AUDIENCE, authenticate
from env_core.objects.problems import Problem, invalid
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
    Kind(
        group="",
        version="v1",
        kind="Binding",
        plural="bindings",
        verbs=("create",),
        subresources=(),
        source="core/v1 Binding; tests/golden/l2/facts/errors.jsonl.gz",
    ),
    _review(_AUTHZ, "SelfSubjectAccessReview"),
    _review(_AUTHZ, "SelfSubjectRulesReview"),
    _review(_AUTHZ, "SubjectAccessReview"),
    _review(_AUTHZ, "LocalSubjectAccessReview", is_namespaced=True),
    _review(_AUTHN, "SelfSubjectReview"),
    _review(_AUTHN, "TokenReview"),
    _metrics_kind("PodMetrics", "pods", is_namespaced=True),
    _metrics_kind("NodeMetrics", "nodes", is_namespaced=False),
)


def _body(request: ApiRequest, kind: Kind) -> Object:
    return decode_as(request, kind.group, kind.version, kind.kind)


def _one_kind_of_attributes(spec: Object) -> list[Problem]:
    """Check that a review asks for either a resource or a URL.

    Source: k8s.io/kubernetes pkg/apis/authorization/validation; tests/golden/l2/defaults.jsonl.gz.
    """
    given = [spec.get(field) is not None for field in ("resourceAttributes", "nonResourceAttributes")]
    if all(given):
        text = "cannot be specified in combination with resourceAttributes"
        return [invalid("spec.nonResourceAttributes", spec["nonResourceAttributes"], text)]
    if any(given):
        return []
    text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    return [invalid("spec", None, text)]


def _check(problems: list[Problem]) -> None:
    """Raise Invalid; reviews are refused without a kind or a name."""
    if problems:
        raise errors.invalid(_AUTHZ, "", "", problems)


def _self_access(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    body = _body(request, kind)
    spec = body.get("spec") or {}
    _check(_one_kind_of_attributes(spec))
    return _decided(server, kind, body, spec, request.identity)


def _subject_access(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    body = _body(request, kind)
    spec = body.get("spec") or {}
    problems = _one_kind_of_attributes(spec)
    if not spec.get("user") and not spec.get("groups"):
        text = "at least one of user or group must be specified"
        problems.append(invalid("spec.user", spec.get("user") or "", text))
    _check(problems)
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


def _token_review(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    """Say whose token it is.

    Source: k8s.io/kubernetes pkg/registry/authentication/tokenreview; tests/golden/l2/defaults.jsonl.gz.
    """
    body = _body(request, kind)
    spec = body.get("spec") or {}
    token = spec.get("token") or ""
    if not token:
        raise errors.bad_request("token is required for TokenReview in authentication")
    found = authenticate(server, token)
    wanted = tuple(spec.get("audiences") or (AUDIENCE,))
    # Tokens that name no audience are good for any.
    shared = () if found is None else tuple(each for each in wanted if each in (found.audiences or wanted))
    if found is None or not shared:
        status: Object = {"user": {}, "error": "invalid bearer token"}
    else:
        identity = found.identity
        user: Object = {"username": identity.name, "uid": identity.uid, "groups": list(identity.groups)}
        if found.extra:
            user["extra"] = {key: [value] for key, value in found.extra}
        user = {key: value for key, value in user.items() if value}
        status = {"authenticated": True, "user": user, "audiences": list(shared)}
    metadata = body.get("metadata") or {}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def _binding(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    """Bind a pod to a node, by the old way: the pod is named in the body."""
    name = (_body(request, kind).get("metadata") or {}).get("name") or ""
    pods = server.registry.by_resource("pods")
    assert pods is not None
    return POD_SUBRESOURCES["binding"](server, request._replace(resource="pods", name=name), pods).object


def _usage(server: ApiServer, request: ApiRequest, kind: Kind) -> Object:
    # What is measured has the name, the namespace and the labels of its measurement.
    if request.verb == "list":
        matches = reading.matcher(kind, request.options.label_selector, request.options.field_selector)
        items = server.metrics(kind.plural, request.namespace, matches)
        return {"apiVersion": kind.api_version, "kind": f"{kind.kind}List", "metadata": {}, "items": items}
    for item in server.metrics(
        kind.plural, request.namespace, lambda obj: bool(obj["metadata"]["name"] == request.name)
    ):
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
    f"tokenreviews.{_AUTHN}": _token_review,
    "bindings": _binding,
    f"pods.{_METRICS}": _usage,
    f"nodes.{_METRICS}": _usage,
}
