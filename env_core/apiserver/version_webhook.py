"""Conversion webhooks: objects of custom resources brought from one version into another by a service.

Calls take no time here, as those to admission webhooks.

Source: k8s.io/apiextensions-apiserver v0.37 pkg/apiserver/conversion/webhook_converter.go; the texts are not recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from env_core.apiserver import errors
from env_core.apiserver.kind import Kind
from env_core.apiserver.policies.webhooks import ClientProblem, call_to, problem_of
from env_core.objects.problems import quoted
from env_core.sim import ids
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

GROUP: Final = "apiextensions.k8s.io"
TIMEOUT_S: Final = 30
_VERSIONS: Final = ("v1", "v1beta1")
_IDENTITY: Final = ("name", "namespace", "uid")
_CHANGEABLE: Final = ("labels", "annotations")


class _Unusable(Exception):
    """The answer is none that the API server accepts; the text is its own."""


def converted(
    server: ApiServer, kind: Kind, objects: Sequence[Object], api_version: str = ""
) -> list[Object]:
    """Return objects in the kind's version, or in `api_version`; the webhook is asked once about all that are in another.

    Without a webhook, objects come back as they are: their version is all that differs.

    Raises:
        StatusError: 500, when the webhook cannot be asked or its answer cannot be used.
    """
    client = kind.conversion_client
    wanted = api_version or kind.api_version
    others = [index for index, obj in enumerate(objects) if obj.get("apiVersion") != wanted]
    if client is None or not others:
        return list(objects)
    sent = [objects[index] for index in others]
    try:
        answered = _asked(server, client, sent, wanted)
    except _Unusable as problem:
        raise errors.plain(f"conversion webhook for {_shown(sent[0])} {problem}") from None
    result = list(objects)
    for index, obj in zip(others, answered, strict=True):
        result[index] = obj
    return result


def _shown(obj: Object) -> str:
    return f"{obj.get('apiVersion', '')}, Kind={obj.get('kind', '')}"


def _asked(server: ApiServer, client: Object, objects: list[Object], wanted: str) -> list[Object]:
    version = next((each for each in client.get("conversionReviewVersions") or () if each in _VERSIONS), "")
    if not version:
        raise _Unusable("failed: no compatible ConversionReview version")
    uid = ids.uid(server.streams.stream("reviews"))
    review = {
        "kind": "ConversionReview",
        "apiVersion": f"{GROUP}/{version}",
        "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
        "response": None,
    }
    try:
        call = call_to(client.get("clientConfig") or {}, TIMEOUT_S, orjson.dumps(review).decode())
    except ClientProblem as problem:
        raise _Unusable(f"failed: {problem}") from None
    if server.webhooks is None:
        raise _Unusable("failed: the network is not there")
    answer = server.webhooks.call(call)
    problem_text = problem_of(call, answer)
    if problem_text:
        raise _Unusable(f"failed: {problem_text}")
    found = _objects_of(orjson.loads(answer.body), uid, version)
    if len(found) != len(objects):
        raise _Unusable(f"returned {len(found)} objects, expected {len(objects)}")
    return [
        _restored(old, new, index, wanted)
        for index, (old, new) in enumerate(zip(objects, found, strict=True))
    ]


def _objects_of(review: Object, uid: str, version: str) -> list[Any]:
    expected = f"{GROUP}/{version}, Kind=ConversionReview"
    if _shown(review) != expected:
        raise _Unusable(f"failed: expected webhook response of {expected}, got {_shown(review)}")
    response = review.get("response")
    if response is None:
        raise _Unusable("failed: no response provided")
    if (response.get("uid") or "") != uid:
        raise _Unusable(
            f"failed: expected response.uid={quoted(uid)}, got {quoted(response.get('uid') or '')}"
        )
    result = response.get("result") or {}
    if result.get("status") != "Success":
        unexplained = f"response.result.status was '{result.get('status') or ''}', not 'Success'"
        raise _Unusable(f"failed: {result.get('message') or result.get('reason') or unexplained}")
    return list(response.get("convertedObjects") or ())


def _restored(old: Object, new: Any, index: int, wanted: str) -> Object:
    """Return a converted object with the metadata that it had: only labels and annotations are the webhook's to change."""
    at = f"returned invalid converted object at index {index}: "
    new = new if isinstance(new, dict) else {}
    if new.get("apiVersion") != wanted:
        raise _Unusable(f"{at}invalid groupVersion (expected {wanted}, received {new.get('apiVersion', '')})")
    if new.get("kind") != old.get("kind"):
        raise _Unusable(f"{at}must have the same kind: {old.get('kind')} != {new.get('kind', '')}")
    metadata = new.get("metadata")
    if metadata is None:
        raise _Unusable(f"{at}missing metadata in converted object")
    for field in _IDENTITY:
        before, after = old["metadata"].get(field) or "", metadata.get(field) or ""
        if before != after:
            name = "UID" if field == "uid" else field
            raise _Unusable(f"{at}must have the same {name}: {before} != {after}")
    kept = {key: value for key, value in old["metadata"].items() if key not in _CHANGEABLE}
    changed = {key: metadata[key] for key in _CHANGEABLE if metadata.get(key)}
    return {**new, "metadata": {**kept, **changed}}
