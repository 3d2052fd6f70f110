"""Tokens of service accounts: issued on request, and recognised when they come back.

Source: k8s.io/kubernetes pkg/registry/core/serviceaccount/storage/token.go, pkg/serviceaccount/claims.go;
tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

import orjson

from env_core.apiserver import errors
from env_core.apiserver.decoding import decode_as
from env_core.apiserver.request import ApiRequest, ApiResponse, Identity
from env_core.objects.problems import Problem, invalid
from env_core.sim import ids
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

AUDIENCE: Final = "https://kubernetes.default.svc.cluster.local"
"""The issuer of tokens, and whom they are for unless told otherwise."""
DEFAULT_SECONDS: Final = 3600
SECONDS_MIN: Final = 600
SECONDS_MAX: Final = 1 << 32
_BOUND: Final = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_OWN: Final = "kubernetes.io"
_SECRET_ISSUER: Final = "kubernetes/serviceaccount"
_SECRET_CLAIM: Final = "kubernetes.io/serviceaccount"
_SIGNATURE_BLOCKS: Final = 8


@dataclass(frozen=True, slots=True)
class Authenticated:
    """Whose token it is, whom it was issued for, and what else it says."""

    identity: Identity
    audiences: tuple[str, ...]
    extra: tuple[tuple[str, str], ...] = ()


def request_token(server: ApiServer, request: ApiRequest) -> ApiResponse:
    """Answer a TokenRequest: the `token` subresource of a service account.

    Raises:
        StatusError: no such account or bound object, a lifetime out of bounds, an object that nothing binds to.
    """
    body = decode_as(request, "authentication.k8s.io", "v1", "TokenRequest")
    spec: Object = body.get("spec") or {}
    account = server.store.get("serviceaccounts", request.namespace, request.name)
    if account is None:
        raise errors.not_found("", "serviceaccounts", request.name)
    seconds = spec.get("expirationSeconds")
    seconds = DEFAULT_SECONDS if seconds is None else seconds
    problems = _lifetime_problems(seconds)
    if problems:
        raise errors.invalid("authentication.k8s.io", "TokenRequest", "", problems)
    bound = spec.get("boundObjectRef")
    target = None if bound is None else _bound_object(server, request.namespace, bound)
    audiences = list(spec.get("audiences") or ()) or [AUDIENCE]
    issued = server.loop.now_ms // 1000
    claims = _claims(server, account, audiences, issued, seconds)
    if target is not None:
        claims[_OWN].update(_reference(target))
        node = (target.get("spec") or {}).get("nodeName") if target["kind"] == "Pod" else ""
        found = server.store.get("nodes", "", node) if node else None
        if found is not None:
            claims[_OWN].update(_reference(found))
        claims[_OWN] = {key: claims[_OWN][key] for key in sorted(claims[_OWN])}
    answer = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {
            "creationTimestamp": rfc3339(server.loop.now_ms),
            "name": request.name,
            "namespace": request.namespace,
        },
        "spec": {"audiences": audiences, "boundObjectRef": bound, "expirationSeconds": seconds},
        "status": {
            "expirationTimestamp": rfc3339((issued + seconds) * 1000),
            "token": _signed(server, claims),
        },
    }
    return ApiResponse(201, answer)


def _lifetime_problems(seconds: int) -> list[Problem]:
    field = "spec.expirationSeconds"
    if seconds < SECONDS_MIN:
        return [invalid(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > SECONDS_MAX:
        return [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _bound_object(server: ApiServer, namespace: str, bound: Object) -> Object:
    version, kind = bound.get("apiVersion") or "", bound.get("kind") or ""
    plural = _BOUND.get(kind) if version == "v1" else None
    if plural is None:
        group, slash, short = version.rpartition("/")
        raise errors.bad_request(
            f"cannot bind token to object of type {group if slash else ''}/{short}, Kind={kind}"
        )
    name, uid = bound.get("name") or "", bound.get("uid") or ""
    found = server.store.get(plural, "" if plural == "nodes" else namespace, name)
    if found is None:
        raise errors.not_found("", plural, name)
    if uid and uid != found["metadata"]["uid"]:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict("", plural, name, why)
    return found


def _reference(obj: Object) -> Object:
    metadata = obj["metadata"]
    return {obj["kind"].lower(): {"name": metadata["name"], "uid": metadata["uid"]}}


def _claims(
    server: ApiServer, account: Object, audiences: Sequence[str], issued: int, seconds: int
) -> dict[str, Any]:
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    return {
        "aud": list(audiences),
        "exp": issued + seconds,
        "iat": issued,
        "iss": AUDIENCE,
        "jti": ids.uid(server.streams.stream("tokens")),
        _OWN: {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}},
        "nbf": issued,
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _key(server: ApiServer) -> bytes:
    """Return the cluster's signing key: it lives as long as the cluster, through forks."""
    space = server.store.get("namespaces", "", "kube-system") or {"metadata": {"uid": ""}}
    return sha256(f"service-account key {space['metadata']['uid']}".encode()).digest()


def _signature(key: bytes, text: str) -> str:
    seed = sha256(key + text.encode()).digest()
    return _encoded(b"".join(sha256(seed + bytes((index,))).digest() for index in range(_SIGNATURE_BLOCKS)))


def _signed(server: ApiServer, claims: Object) -> str:
    """Return a JWT of the form that RS256 gives; its signature is a hash that only this cluster can make."""
    key = _key(server)
    head = _encoded(orjson.dumps({"alg": "RS256", "kid": _encoded(sha256(key).digest())}))
    text = f"{head}.{_encoded(orjson.dumps(claims))}"
    return f"{text}.{_signature(key, text)}"


def authenticate(server: ApiServer, token: str) -> Authenticated | None:
    """Return whose token it is, None for one that is not from here, expired, or whose account or object is gone."""
    static = server.tokens.get(token)
    if static is not None:
        return Authenticated(static, ())
    claims = _verified(server, token)
    if claims is not None and claims["iss"] == _SECRET_ISSUER:
        return _of_secret(server, token, claims)
    if claims is None or not claims["nbf"] <= server.loop.now_ms // 1000 < claims["exp"]:
        return None
    own = claims[_OWN]
    account = own["serviceaccount"]
    namespace = own["namespace"]
    places = [("serviceaccounts", namespace, account)]
    places += [
        (plural, "" if plural == "nodes" else namespace, own[kind.lower()])
        for kind, plural in _BOUND.items()
        if kind.lower() in own
    ]
    for resource, space, reference in places:
        found = server.store.get(resource, space, reference["name"])
        if found is None or found["metadata"]["uid"] != reference["uid"]:
            return None
    extra = [("authentication.kubernetes.io/credential-id", f"JTI={claims['jti']}")]
    for kind in ("node", "pod"):
        if kind in own:
            extra += [
                (f"authentication.kubernetes.io/{kind}-{key}", own[kind][key]) for key in ("name", "uid")
            ]
    identity = Identity(claims["sub"], account_groups(namespace), account["uid"])
    return Authenticated(identity, tuple(claims["aud"]), tuple(extra))


def secret_token(server: ApiServer, account: Object, secret: Object) -> str:
    """Return the token that a Secret of type `kubernetes.io/service-account-token` holds: it does not expire.

    Source: k8s.io/kubernetes pkg/serviceaccount/legacy.go.
    """
    metadata = account["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    claims = {
        "iss": _SECRET_ISSUER,
        f"{_SECRET_CLAIM}/namespace": namespace,
        f"{_SECRET_CLAIM}/secret.name": secret["metadata"]["name"],
        f"{_SECRET_CLAIM}/service-account.name": name,
        f"{_SECRET_CLAIM}/service-account.uid": metadata["uid"],
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    return _signed(server, claims)


def _of_secret(server: ApiServer, token: str, claims: Object) -> Authenticated | None:
    """Return whose token a Secret's is; None when the Secret no longer holds it, or the account is gone."""
    namespace = claims[f"{_SECRET_CLAIM}/namespace"]
    uid = claims[f"{_SECRET_CLAIM}/service-account.uid"]
    account = server.store.get("serviceaccounts", namespace, claims[f"{_SECRET_CLAIM}/service-account.name"])
    secret = server.store.get("secrets", namespace, claims[f"{_SECRET_CLAIM}/secret.name"])
    if account is None or secret is None or account["metadata"]["uid"] != uid:
        return None
    held = (secret.get("data") or {}).get("token") or ""
    if "deletionTimestamp" in secret["metadata"] or held != base64.b64encode(token.encode()).decode():
        return None
    return Authenticated(Identity(claims["sub"], account_groups(namespace), uid), (AUDIENCE,))


def account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups of every service account of a namespace."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")


def _verified(server: ApiServer, token: str) -> dict[str, Any] | None:
    text, _, signature = token.rpartition(".")
    if not compare_digest(signature.encode(), _signature(_key(server), text).encode()):
        return None
    part = text.partition(".")[2]
    try:
        claims: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, orjson.JSONDecodeError):
        return None
    return claims
