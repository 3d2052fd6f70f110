"""Malformed HTTP requests, drawn from a seed: valid ones broken in every part, and plain noise."""

from __future__ import annotations

import random
from collections.abc import Iterator

import orjson

from env_core.rest.message import HttpRequest

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO", "", "get")
_PARTS = (
    "api", "apis", "v1", "apps", "batch", "namespaces", "default", "pods", "deployments", "nope", "web", "log", "exec",
    "scale", "status", "eviction", "binding", "token", "proxy", "watch", "..", ".", "", "%2e%2e", "%2f", "%00", "%zz", "%",
    "é", "🦑", "configmaps", "secrets", "nodes", "node-a", "events", "events.k8s.io", "finalize", "x" * 300, "openapi",
    "v3", "v2", "healthz", "version", "readyz", "metrics.k8s.io", "v1beta1", "serviceaccounts", "portforward", "attach",
    "customresourcedefinitions", "apiextensions.k8s.io", "rbac.authorization.k8s.io", "roles", "selfsubjectaccessreviews",
    "authorization.k8s.io", "horizontalpodautoscalers", "autoscaling", "a b", "?", "#", "\\",
)  # fmt: skip
_NAMES = (
    "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "watch",
    "timeoutSeconds", "sendInitialEvents", "allowWatchBookmarks", "dryRun", "fieldManager", "fieldValidation", "force",
    "propagationPolicy", "gracePeriodSeconds", "includeObject", "pretty", "tailLines", "sinceSeconds", "sinceTime",
    "limitBytes", "follow", "previous", "container", "command", "stdin", "tty", "orphanDependents", "verbose", "hash",
)  # fmt: skip
_VALUES = (
    "", "0", "1", "-1", "true", "false", "abc", "999999999999999999999", "a=b", "a in (b", "!", ",", "((((", "a=b=c",
    "All", "Strict", "Warn", "Exact", "NotOlderThan", "metadata.name=x", "status.phase!=Running", "%00", "é", "x" * 500,
    "2020-01-01T00:00:00Z", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0", "eyJ2IjoiIn0", "....",
    "1e9", "0x10", "٣", "Foreground", "NaN", "sh", "-c", "[", "{}", "\x7f",
)  # fmt: skip
_ACCEPTS = (
    "", "*/*", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/html", ";;;", ",,,,",
    "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v9", "application/json;q=x", "q=0.5",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "a" * 4000, "application/json;as=;v=;g=",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "é/ü",
)  # fmt: skip
_TYPES = (
    "", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain", "application/",
    "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/apply-patch+yaml", "application/json; charset=latin-1", ";", "multipart/form-data",
)  # fmt: skip
_OBJECTS = (
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    },
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}},
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
            },
        },
    },
    {"spec": {"replicas": 2}},
    {"kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": {"uid": "x"}},
    {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
    {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web"}, "spec": {"replicas": 1}},
    [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}],
    [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "test", "path": ""}],
)
_JUNK = (
    None, True, 0, -1, 1e308, 2**70, "", "x", "é\u2028", [], {}, [[]], {"": ""}, {"$patch": "delete"},
    {"$retainKeys": ["a"]}, ["\x00"], {"a": {"b": {"c": None}}}, "9" * 400, "1Gi", "2020-01-01T00:00:00Z",
)  # fmt: skip


_JSON = "application/json"
_NEAR = (
    ("GET", "/api/v1/namespaces/kube-system/pods", "", 0),
    ("GET", "/api/v1/pods", "", 0),
    ("GET", "/apis/apps/v1/deployments", "", 0),
    ("GET", "/api/v1/namespaces/kube-system/events", "", 0),
    ("GET", "/apis/events.k8s.io/v1/events", "", 0),
    ("GET", "/api/v1/namespaces/kube-system/configmaps/coredns", "", 0),
    ("POST", "/api/v1/namespaces/default/pods", _JSON, 0),
    ("POST", "/api/v1/namespaces/default/configmaps", _JSON, 1),
    ("PUT", "/api/v1/namespaces/kube-system/configmaps/coredns", _JSON, 1),
    ("POST", "/apis/apps/v1/namespaces/default/deployments", _JSON, 2),
    ("PUT", "/apis/apps/v1/namespaces/default/deployments/web", _JSON, 2),
    ("PATCH", "/apis/apps/v1/namespaces/kube-system/deployments/coredns", "application/merge-patch+json", 2),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/kube-system/deployments/coredns",
        "application/strategic-merge-patch+json",
        2,
    ),
    ("PATCH", "/apis/apps/v1/namespaces/kube-system/deployments/coredns", "application/json-patch+json", 7),
    ("PATCH", "/apis/apps/v1/namespaces/kube-system/deployments/coredns", "application/apply-patch+yaml", 2),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/kube-system/deployments/coredns/scale",
        "application/merge-patch+json",
        3,
    ),
    ("PUT", "/apis/apps/v1/namespaces/kube-system/deployments/coredns/scale", _JSON, 6),
    ("PATCH", "/api/v1/nodes/node-a", "application/strategic-merge-patch+json", 1),
    ("PATCH", "/api/v1/nodes/node-a/status", "application/merge-patch+json", 1),
    ("DELETE", "/api/v1/namespaces/kube-system/pods", _JSON, 4),
    ("DELETE", "/apis/apps/v1/namespaces/kube-system/deployments/coredns", _JSON, 4),
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", _JSON, 5),
    ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", _JSON, 5),
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", _JSON, 5),
    ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", _JSON, 5),
    ("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", _JSON, 3),
    ("POST", "/api/v1/namespaces", _JSON, 1),
    ("PUT", "/api/v1/namespaces/default/finalize", _JSON, 1),
    ("POST", "/api/v1/namespaces/default/services", _JSON, 1),
    ("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", _JSON, 1),
    ("GET", "/apis/metrics.k8s.io/v1beta1/pods", "", 0),
)


def requests(seed: int, count: int) -> Iterator[HttpRequest]:
    """Yield `count` requests: half of them nearly valid."""
    draw = random.Random(seed)
    for _ in range(count):
        if draw.random() < 0.5:
            yield _near(draw)
        else:
            yield HttpRequest(
                method=draw.choice(METHODS),
                target=_target(draw),
                headers=tuple(_headers(draw)),
                body=_body(draw),
            )


def _near(draw: random.Random) -> HttpRequest:
    method, path, content_type, index = draw.choice(_NEAR)
    pairs = [f"{draw.choice(_NAMES)}={draw.choice(_VALUES)}" for _ in range(draw.choice((0, 0, 1, 2)))]
    headers = [("content-type", content_type)]
    if draw.random() < 0.5:
        headers.append(("accept", draw.choice(_ACCEPTS)))
    body = b""
    if content_type:
        value = _mutated(draw, _OBJECTS[index])
        body = str(value).encode() if _is_huge(value) else orjson.dumps(value, default=str)
        if draw.random() < 0.1:
            body = body[: draw.randrange(len(body) + 1)]
        elif draw.random() < 0.1 and len(body) > 1:
            at = draw.randrange(len(body))
            body = body[:at] + draw.randbytes(1) + body[at + 1 :]
    return HttpRequest(
        method=method,
        target=path + ("?" + "&".join(pairs) if pairs else ""),
        headers=tuple(headers),
        body=body,
    )


def _target(draw: random.Random) -> str:
    if draw.random() < 0.6:
        path = draw.choice(
            (
                "/api/v1/namespaces/default/{}", "/api/v1/namespaces/default/{}/web", "/api/v1/{}", "/api/v1/nodes/{}",
                "/apis/apps/v1/namespaces/default/deployments/{}", "/apis/apps/v1/namespaces/default/deployments/web/{}",
                "/api/v1/namespaces/default/pods/web/{}", "/apis/{}/v1", "/openapi/v3/{}", "/api/v1/namespaces/{}/finalize",
                "/apis/authorization.k8s.io/v1/{}", "/api/v1/watch/namespaces/default/{}",
            )
        ).format(draw.choice(_PARTS))  # fmt: skip
    else:
        path = "/" + "/".join(draw.choice(_PARTS) for _ in range(draw.randrange(9)))
    pairs = [f"{draw.choice(_NAMES)}={draw.choice(_VALUES)}" for _ in range(draw.randrange(5))]
    return path + ("?" + draw.choice(("&", "&&", ";")).join(pairs) if pairs else "")


def _headers(draw: random.Random) -> Iterator[tuple[str, str]]:
    yield "accept", draw.choice(_ACCEPTS)
    yield "content-type", draw.choice(_TYPES)
    if draw.random() < 0.1:
        yield "impersonate-user", draw.choice(("", "bob", "system:serviceaccount:a", "system:masters", "é"))
    if draw.random() < 0.1:
        yield "impersonate-group", draw.choice(("", "x", "system:masters"))
    if draw.random() < 0.2:
        yield "connection", "Upgrade"
    yield "user-agent", draw.choice(("kubectl/v1.37.1", "curl/8", "", "é" * 100))


def _body(draw: random.Random) -> bytes:
    kind = draw.random()
    if kind < 0.2:
        return b""
    if kind < 0.3:
        return draw.randbytes(draw.randrange(200))
    if kind < 0.4:
        return b"k8s\x00" + draw.randbytes(draw.randrange(120))
    if kind < 0.45:
        return draw.choice(
            (
                b"[" * 5_000,
                b'{"a":' * 3_000,
                b"- " * 4_000,
                b"a: &a [*a, *a]",
                b"\xff\xfe",
                b'{"a":1}{"b":2}',
                b"{",
                b'"',
            )
        )
    value = _mutated(draw, draw.choice(_OBJECTS))
    text = orjson.dumps(value, default=str) if not _is_huge(value) else str(value).encode()
    if draw.random() < 0.15:
        return text[: draw.randrange(len(text) + 1)]
    return text


def _is_huge(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_is_huge, value.values()))
    if isinstance(value, list):
        return any(map(_is_huge, value))
    return isinstance(value, int) and abs(value) >= 2**63


def _mutated(draw: random.Random, value: object) -> object:
    if draw.random() < 0.12:
        return draw.choice(_JUNK)
    if isinstance(value, dict):
        changed = {key: _mutated(draw, item) for key, item in value.items() if draw.random() > 0.05}
        if draw.random() < 0.1:
            changed[draw.choice(("foo", "metadata", "spec", "kind", "status", "é"))] = draw.choice(_JUNK)
        return changed
    if isinstance(value, list):
        return [_mutated(draw, item) for item in value]
    return value
