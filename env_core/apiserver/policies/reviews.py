"""AdmissionReviews: what webhooks are asked, and which of their answers count.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/request/admissionreview.go and webhook/errors.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from env_core.apiserver.errors import StatusError
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.policies.requests import admission_request
from env_core.objects.gojson import syntax_problem
from env_core.objects.problems import quoted
from env_core.world import Object

GROUP: Final = "admission.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")


class InvalidReview(Exception):
    """The answer is none that the API server accepts; the text is its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A webhook's answer."""

    is_allowed: bool
    result: Object
    patch: str = ""
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] | None = None


def version_for(accepted: Sequence[str]) -> str:
    """Return the version of the review that a webhook gets, "" when it takes none that the server has."""
    return next((version for version in accepted if version in VERSIONS), "")


def review_of(attributes: Attributes, uid: str, version: str) -> Object:
    """Return the review to send."""
    request = admission_request(attributes)
    options = request.pop("options")
    dry_run = request.pop("dryRun")
    return {
        "kind": "AdmissionReview",
        "apiVersion": f"{GROUP}/{version}",
        "request": {
            "uid": uid,
            **request,
            "object": attributes.object,
            "oldObject": attributes.old,
            "dryRun": dry_run,
            "options": options,
        },
    }


def verdict_of(body: str, uid: str, version: str, *, is_mutating: bool) -> Verdict:
    """Read the review that a webhook sent back.

    Raises:
        InvalidReview: it is not what a webhook may answer.
    """
    review = orjson.loads(body)
    response = review.get("response")
    if response is None:
        raise InvalidReview("webhook response was absent")
    patch = response.get("patch") or ""
    if version == "v1":
        _check(review, response, uid, is_mutating=is_mutating)
    elif not is_mutating:
        patch = ""
    return Verdict(
        is_allowed=response.get("allowed") is True,
        result=response.get("status") or {},
        patch=_decoded(patch),
        warnings=tuple(response.get("warnings") or ()),
        annotations=response.get("auditAnnotations"),
    )


def decode_problem(body: str) -> str:
    """Return why a body is no JSON object, "" if it is one."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return f"couldn't get version/kind; json parse error: {syntax_problem(body)}"
    if isinstance(value, dict):
        return ""
    kind = "array" if isinstance(value, list) else "string" if isinstance(value, str) else "number"
    return (
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {kind} into Go value of type struct "
        '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    )


def _check(review: Object, response: Object, uid: str, *, is_mutating: bool) -> None:
    given = response.get("uid") or ""
    if given != uid:
        raise InvalidReview(f"expected response.uid={quoted(uid)}, got {quoted(given)}")
    group, _, version = (review.get("apiVersion") or "").rpartition("/")
    shown = f"{group}/{version}, Kind={review.get('kind') or ''}"
    if shown != f"{GROUP}/v1, Kind=AdmissionReview":
        raise InvalidReview(f"expected webhook response of {GROUP}/v1, Kind=AdmissionReview, got {shown}")
    patch, patch_type = response.get("patch"), response.get("patchType")
    if not is_mutating:
        for field, value in (("patch", patch), ("patchType", patch_type)):
            if value:
                raise InvalidReview(f"validating webhook may not return response.{field}")
    elif patch and patch_type is None:
        raise InvalidReview("webhook returned response.patch but not response.patchType")
    elif not patch and patch_type is not None:
        raise InvalidReview("webhook returned response.patchType but not response.patch")
    elif patch and patch_type != "JSONPatch":
        raise InvalidReview(f"unsupported patch type {quoted(str(patch_type))}")


def _decoded(patch: str) -> str:
    try:
        return base64.b64decode(patch, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise InvalidReview(f"received undecodable patch in webhook response: {problem}") from None


def rejection(name: str, result: Mapping[str, Any]) -> StatusError:
    """Return the error of a request that a webhook does not allow."""
    denied = f"admission webhook {quoted(name)} denied the request"
    why = result.get("message") or result.get("reason")
    code = result.get("code") or 0
    status: Object = {
        **result,
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": result.get("metadata") or {},
        "status": "Failure" if result.get("status") in (None, "", "Success") else result["status"],
        "message": f"{denied}: {why}" if why else f"{denied} without explanation",
        "code": code if code >= 400 else 400,
    }
    return StatusError(status)
