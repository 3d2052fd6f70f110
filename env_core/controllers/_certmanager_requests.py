"""The CertificateRequests of a Certificate: made, approved, and answered by the issuer that they name.

Where the API serves no CertificateRequests, the same happens without objects.

Source: cert-manager pkg/controller/certificates/requestmanager, pkg/controller/certificaterequests (approver/sync.go, sync.go,
util/reporter.go), 1.20 (feature StableCertificateRequestName: the name is the Certificate's and its revision).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.controllers import _certmanager_issuers as issuers
from env_core.controllers._certmanager_model import (
    NAME_ANNOTATION,
    REQUESTS,
    REVISION,
    Wish,
    condition,
    encoded,
    held,
    is_served,
    is_true,
    key_of,
    moment_ms,
    part,
    reference,
    with_condition,
    with_status,
)
from env_core.controllers._certmanager_policies import asked_of, violations_of
from env_core.objects import meta, x509_making
from env_core.objects.x509_keys import RSA, Key
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

_MANAGER: Final = "cert-manager-certificates-request-manager"
_APPROVER: Final = "cert-manager-certificaterequests-approver"
_ISSUED: Final = "Certificate fetched from issuer successfully"
_APPROVED: Final = "Certificate request has been approved by cert-manager.io"
_NAME_MAX: Final = 233


class Answer(NamedTuple):
    """What has become of a request: it goes on when neither a certificate is there nor a failure is told."""

    request: Object
    failed: tuple[str, str] = ("", "")
    """Reason and message of the condition that ends it."""

    @property
    def certificate(self) -> str:
        """The issued certificate and what follows it, as PEM."""
        return held({"data": part(self.request, "status")}, "certificate")

    @property
    def authority(self) -> str:
        """The certificate of the authority, as PEM."""
        return held({"data": part(self.request, "status")}, "ca")


def name_of(certificate: Object, revision: int) -> str:
    """Return the name of the request of a revision; very long names are cut."""
    return f"{meta.name(certificate)[:_NAME_MAX]}-{revision}"


def of_revision(component: Component, certificate: Object, revision: int) -> Object | None:
    """Return a Certificate's request of a revision, None when there is none."""
    found = component.cache.get(REQUESTS, meta.namespace(certificate), name_of(certificate, revision))
    return found if found is not None and meta.controller_uid(found) == meta.uid(certificate) else None


def ensure(
    component: Component, api: ApiClient, certificate: Object, wish: Wish, revision: int, secret: Object
) -> Object | None:
    """Return the request of the next revision, made now if need be; None when it cannot be had yet."""
    key = key_of(secret)
    assert key is not None, "the key was looked at before"
    if not is_served(component, REQUESTS):
        return {
            **_body(certificate, wish, revision, key, meta.name(secret)),
            "status": {"conditions": [{"type": "Approved", "status": "True"}]},
        }
    namespace, name = meta.namespace(certificate), name_of(certificate, revision)
    known = component.cache.get(REQUESTS, namespace, name)
    if known is not None and _is_stale(known, certificate, key):
        api.delete(REQUESTS, namespace, name)
        known = component.cache.get(REQUESTS, namespace, name)
    if known is not None:
        return known if "deletionTimestamp" not in known["metadata"] else None
    made = api.create(REQUESTS, namespace, _body(certificate, wish, revision, key, meta.name(secret)))
    text = f'Created new CertificateRequest resource "{name}"'
    component.recorder_as(_MANAGER).event(certificate, "Normal", "Requested", text)
    return made


def _is_stale(request: Object, certificate: Object, key: Key) -> bool:
    """Whether a request is of another wish or key, or has failed before this issuance began."""
    if meta.controller_uid(request) != meta.uid(certificate) or violations_of(request, certificate):
        return True
    asked = asked_of(request)
    if asked is None or asked.public_key != key.public:
        return True
    ready, since = condition(request, "Ready"), condition(certificate, "Issuing")
    failed_ms = moment_ms(part(request, "status").get("failureTime"))
    if ready is None or ready.get("reason") != "Failed" or since is None or failed_ms is None:
        return False
    return failed_ms < (moment_ms(since.get("lastTransitionTime")) or 0)


def _body(certificate: Object, wish: Wish, revision: int, key: Key, secret: str) -> Object:
    spec = part(certificate, "spec")
    text = x509_making.request(
        x509_making.Wanted(
            seed=meta.uid(certificate).encode(),
            issuer=b"",
            subject=x509_making.name(wish.common_name, **wish.subject),
            not_before_ms=0,
            not_after_ms=0,
            public_key=key.public,
            usages=wish.usages,
            dns_names=wish.dns_names,
            addresses=wish.addresses,
            emails=wish.emails,
            uris=wish.uris,
            is_signed_by_rsa=key.algorithm == RSA,
        )
    )
    asked: Object = {"issuerRef": part(spec, "issuerRef"), "request": encoded(text)}
    asked |= {name: spec[name] for name in ("duration", "isCA", "usages") if name in spec}
    return {
        "apiVersion": certificate["apiVersion"],
        "kind": "CertificateRequest",
        "metadata": {
            "name": name_of(certificate, revision),
            "namespace": meta.namespace(certificate),
            "annotations": {
                NAME_ANNOTATION: meta.name(certificate),
                REVISION: str(revision),
                "cert-manager.io/private-key-secret-name": secret,
            },
            **({"labels": dict(meta.labels(certificate))} if meta.labels(certificate) else {}),
            "ownerReferences": [reference(certificate)],
        },
        "spec": asked,
    }


def answered(
    component: Component, api: ApiClient, request: Object, wish: Wish, secret: Object, seed: str
) -> Answer:
    """Approve a request, let its issuer answer it, and return what has become of it.

    `seed` tells a request without an object from all others.
    """
    ended = _ended(request)
    if ended is not None:
        return ended
    is_stored = bool(meta.uid(request)) if "uid" in request["metadata"] else False
    if is_stored and not is_true(request, "Approved"):
        changed = with_condition(
            request, "Approved", "True", "cert-manager.io", _APPROVED, component.now_ms, observes=False
        )
        request = api.update_status(REQUESTS, meta.namespace(request), changed)
        component.recorder_as(_APPROVER).event(request, "Normal", "cert-manager.io", _APPROVED)
    told = request if is_stored else meta.with_metadata(request, uid=seed)
    found = issuers.verdict(component, told, wish, secret)
    if found is None:
        return Answer(request)
    changed = _marked(component, request, found, is_stored=is_stored)
    if is_stored and changed != request:
        changed = api.update_status(REQUESTS, meta.namespace(request), changed)
    return _ended(changed) or Answer(changed)


def _ended(request: Object) -> Answer | None:
    """Return the answer of a request that needs no more looking at."""
    denied = condition(request, "Denied")
    if denied is not None and denied.get("status") == "True":
        return Answer(request, (str(denied.get("reason") or ""), str(denied.get("message") or "")))
    ready = condition(request, "Ready")
    if ready is not None and ready.get("reason") == "Failed":
        return Answer(request, ("Failed", str(ready.get("message") or "")))
    return Answer(request) if ready is not None and ready.get("reason") == "Issued" else None


def _marked(component: Component, request: Object, found: issuers.Verdict, *, is_stored: bool) -> Object:
    """Return a request with what its issuer says of it, and record that."""
    now_ms = component.now_ms
    reason, message = found.failed if found.failed[0] else found.pending
    ready = condition(request, "Ready")
    if found.certificate:
        kind, reason, message, state = "Normal", "CertificateIssued", _ISSUED, "Issued"
        data = {"certificate": encoded(found.certificate), "ca": encoded(found.authority)}
        request = with_status(request, **data)
    elif found.failed[0]:
        kind, state = "Warning", "Failed"
        request = with_status(request, failureTime=rfc3339(now_ms))
    else:
        kind, state = "Normal", "Pending"
    if is_stored and (state != "Pending" or ready is None or ready.get("reason") != "Pending"):
        component.recorder_as("cert-manager-certificaterequests-issuer").event(request, kind, reason, message)
    status = "True" if state == "Issued" else "False"
    return with_condition(request, "Ready", status, state, message, now_ms, observes=False)
