"""Webhooks: which of them a write concerns, calling them, and what becomes of it when a call fails.

Calls take no time here: the write answers at once, whatever a webhook's latency; only its time-out counts.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/webhook/{generic,validating,mutating}; texts in
tests/golden/l2/facts/errors.jsonl.gz and flows/webhook-*.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from env_core.apiserver import errors
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.policies.calls import Answer, Call
from env_core.apiserver.policies.conditions import Conditions
from env_core.apiserver.policies.expressions import admission_environment
from env_core.apiserver.policies.matching import matches_rules, matches_selectors, request_name
from env_core.apiserver.policies.requests import UserJudge, bindings_of
from env_core.apiserver.policies.reviews import (
    InvalidReview,
    Verdict,
    decode_problem,
    review_of,
    verdict_of,
    version_for,
)
from env_core.objects.problems import quoted
from env_core.sim import ids
from env_core.world import Object

_STATUSES: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    503: "the server is currently unable to handle the request",
}
"""Source: k8s.io/apimachinery pkg/api/errors NewGenericServerResponse."""


class CallFailed(Exception):
    """A webhook could not be asked, or gave no answer that counts; its failure policy says what follows."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"failed calling webhook {quoted(name)}: {why}")


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook of a configuration."""

    configuration: str
    index: int
    spec: Object

    @property
    def name(self) -> str:
        """The webhook's own name."""
        name: str = self.spec["name"]
        return name

    @property
    def is_ignored_on_failure(self) -> bool:
        """Whether the write goes on when the call fails."""
        return self.spec.get("failurePolicy") == "Ignore"


def hooks_of(attributes: Attributes, resource: str) -> Iterator[Hook]:
    """Yield all webhooks of the configurations of a kind, sorted by the configurations' names."""
    for configuration in attributes.store.list(resource):
        name = configuration["metadata"]["name"]
        for index, spec in enumerate(configuration.get("webhooks") or ()):
            yield Hook(name, index, spec)


def concerns(hook: Hook, attributes: Attributes) -> bool:
    """Whether a webhook is to be asked about a write.

    Raises:
        StatusError: its match conditions fail, and failures are not ignored.
    """
    spec = hook.spec
    if not matches_selectors(spec, attributes) or not matches_rules(spec.get("rules") or (), attributes):
        return False
    if not spec.get("matchConditions"):
        return True
    server = attributes.server
    assert server is not None
    judge = UserJudge(server.authorizer, attributes.identity)
    matched = _conditions(orjson.dumps(spec["matchConditions"]), spec.get("failurePolicy")).outcome(
        bindings_of(attributes, judge)
    )
    if matched.error:
        kind = attributes.kind
        raise errors.forbidden(kind.group, kind.plural, request_name(attributes), matched.error)
    return matched.is_met


@lru_cache(maxsize=128)
def _conditions(conditions_json: bytes, failure_policy: str | None) -> Conditions:
    environment = admission_environment(has_params=False, has_authorizer=True)
    return Conditions.of(orjson.loads(conditions_json), environment, failure_policy)


def ask(hook: Hook, attributes: Attributes, *, is_mutating: bool) -> Verdict:
    """Call a webhook and take note of its warnings and annotations.

    Raises:
        CallFailed: there is no answer, or none that counts.
        StatusError: the webhook does not support a dry run.
    """
    spec, server = hook.spec, attributes.server
    assert server is not None
    assert server.webhooks is not None
    if attributes.options.dry_run and spec.get("sideEffects") not in ("None", "NoneOnDryRun"):
        raise errors.bad_request(f"admission webhook {quoted(hook.name)} does not support dry run")
    version = version_for(spec.get("admissionReviewVersions") or ())
    if not version:
        why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        raise CallFailed(hook.name, f"could not create admission objects: {why}")
    uid = ids.uid(attributes.streams.stream("reviews"))
    body = orjson.dumps(review_of(attributes, uid, version)).decode()
    try:
        call = call_to(spec.get("clientConfig") or {}, spec.get("timeoutSeconds") or 10, body)
    except ClientProblem as why:
        raise CallFailed(hook.name, f"could not get REST client: {why}") from None
    answer = server.webhooks.call(call)
    problem = problem_of(call, answer)
    if problem:
        raise CallFailed(hook.name, f"failed to call webhook: {problem}")
    try:
        verdict = verdict_of(answer.body, uid, version, is_mutating=is_mutating)
    except InvalidReview as invalid:
        raise CallFailed(hook.name, f"received invalid webhook response: {invalid}") from None
    for text in verdict.warnings:
        server.remarks.warn(text)
    for key, value in (verdict.annotations or {}).items():
        server.remarks.annotations[f"{hook.name}/{key}"] = value
    return verdict


class ClientProblem(Exception):
    """A webhook's client configuration cannot be used; the text is the API server's own."""


def call_to(client: Object, timeout_s: int, body: str) -> Call:
    """Return the call that a webhook's client configuration asks for.

    Raises:
        ClientProblem: its certificates are none.
    """
    service = client.get("service")
    if service is None:
        base, target = client.get("url") or "", None
    else:
        port = service.get("port") or 443
        path = service.get("path") or "/"
        target = (service["namespace"], service["name"], port)
        base = f"https://{service['name']}.{service['namespace']}.svc:{port}{path if path.startswith('/') else f'/{path}'}"
    try:
        authorities = base64.b64decode(client.get("caBundle") or "").decode()
    except (binascii.Error, UnicodeDecodeError):
        authorities = ""
    if client.get("caBundle") and "-----BEGIN CERTIFICATE-----" not in authorities:
        raise ClientProblem("unable to load root certificates: unable to parse bytes as PEM block")
    return Call(
        url=f"{base}?timeout={timeout_s}s",
        service=target,
        authorities=authorities,
        body=body,
        timeout_ms=timeout_s * 1000,
    )


def problem_of(call: Call, answer: Answer) -> str:
    """Return why an answer to a call is of no use, "" if it is a JSON object."""
    if answer.error:
        return f"Post {quoted(call.url)}: {answer.error}"
    if 200 <= answer.status <= 206:
        return decode_problem(answer.body)
    if answer.status in _STATUSES:
        return _STATUSES[answer.status]
    text = answer.body.strip()
    if answer.status >= 500:
        return (
            f"an error on the server ({quoted(text or 'unknown')}) has prevented the request from succeeding"
        )
    if answer.status == 403:
        return text
    return f"the server responded with the status code {answer.status} but did not return more information"
