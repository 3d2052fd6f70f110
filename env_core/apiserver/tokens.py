"""Tokens for service accounts: the `token` subresource.

Source: k8s.io/kubernetes pkg/registry/core/serviceaccount/storage/token.go; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import TYPE_CHECKING

from env_core.apiserver import errors, reading
from env_core.apiserver.decoding import decode_part
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.objects.problems import Problem, invalid
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

AUDIENCE = "https://kubernetes.default.svc.cluster.local"
SECONDS_DEFAULT = 3_600
SECONDS_MIN = 600
SECONDS_MAX = 1 << 32
_GROUP, _KIND = "authentication.k8s.io", "TokenRequest"
_BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


def issue(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a TokenRequest with a token; it is a JWT whose signature nobody checks.

    Raises:
        StatusError: NotFound for the account or what the token is bound to, Invalid for its duration.
    """
    if request.verb != "create":
        raise errors.method_not_supported(kind.group, kind.plural, request.verb)
    wanted = decode_part(request, _GROUP, "v1", _KIND)
    account = reading.existing(server, request, kind)
    spec = wanted.get("spec") or {}
    seconds = spec.get("expirationSeconds") or SECONDS_DEFAULT
    problems = _problems(seconds)
    if problems:
        raise errors.invalid(_GROUP, _KIND, "", problems)
    bound = spec.get("boundObjectRef")
    if bound:
        _check_bound(server, request.namespace, bound)
    audiences = spec.get("audiences") or [AUDIENCE]
    now_s = server.loop.now_ms // 1000
    metadata = account["metadata"]
    answer = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": _KIND,
        "metadata": {
            "name": metadata["name"],
            "namespace": request.namespace,
            "creationTimestamp": rfc3339(server.loop.now_ms),
        },
        "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": bound},
        "status": {
            "token": _token(metadata, request.namespace, audiences, now_s, seconds),
            "expirationTimestamp": rfc3339((now_s + seconds) * 1000),
        },
    }
    return ApiResponse(201, answer)


def _problems(seconds: int) -> list[Problem]:
    if seconds < SECONDS_MIN:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > SECONDS_MAX:
        why = "may not specify a duration larger than 2^32 seconds"
    else:
        return []
    return [invalid("spec.expirationSeconds", seconds, why)]


def _check_bound(server: ApiServer, namespace: str, bound: Object) -> None:
    name, kind = bound.get("name", ""), bound.get("kind", "")
    resource = _BOUND.get(kind) if bound.get("apiVersion") == "v1" else None
    if resource is None:
        group, _, version = str(bound.get("apiVersion", "")).rpartition("/")
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    found = server.store.get(resource, "" if resource == "nodes" else namespace, name)
    if found is None:
        raise errors.not_found("", resource, name)
    uid = bound.get("uid")
    if uid and uid != found["metadata"]["uid"]:
        why = f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        raise errors.conflict("", resource, name, why)


def _token(metadata: Object, namespace: str, audiences: list[str], issued: int, seconds: int) -> str:
    name = metadata["name"]
    claims = {
        "aud": audiences,
        "exp": issued + seconds,
        "iat": issued,
        "iss": AUDIENCE,
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": metadata["uid"]},
        },
        "nbf": issued,
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    head = _part(json.dumps({"alg": "RS256", "kid": "simulated"}, separators=(",", ":")).encode())
    body = _part(json.dumps(claims, separators=(",", ":")).encode())
    seed = sha256(f"{head}.{body}".encode()).digest()
    signature = _part(b"".join(sha256(seed + bytes((index,))).digest() for index in range(8)))
    return f"{head}.{body}.{signature}"


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
