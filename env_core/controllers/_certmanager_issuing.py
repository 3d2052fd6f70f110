"""One Certificate after the other: whether it must be issued, its next key, its request, its Secret, its conditions.

What five loops of cert-manager do one after the other is done here at one look; what is waited for wakes it again.

Source: cert-manager pkg/controller/certificates (trigger, keymanager, issuing, readiness), internal/controller/certificates, 1.20.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.request import APPLY_PATCH, Options
from env_core.controllers import _certmanager_requests as requests
from env_core.controllers._certmanager_model import (
    CERTIFICATES,
    ISSUER_ANNOTATIONS,
    NAME_ANNOTATION,
    SECRETS,
    Wish,
    chain_of,
    condition,
    encoded,
    held,
    is_true,
    key_of,
    moment_ms,
    part,
    reference,
    revision_of,
    wish_of,
    with_condition,
    with_status,
    without_condition,
)
from env_core.controllers._certmanager_policies import (
    Given,
    key_violations,
    listed,
    must_issue,
    renewal_ms,
    unready,
    violations_of,
)
from env_core.objects import meta
from env_core.objects.x509 import name_parts
from env_core.objects.x509_keys import Key, made, read
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

TRIGGER: Final = "cert-manager-certificates-trigger"
KEYS: Final = "cert-manager-certificates-key-manager"
ISSUING: Final = "cert-manager-certificates-issuing"
NEXT_KEY: Final = "cert-manager.io/next-private-key"
OURS: Final = "controller.cert-manager.io/fao"
SHARED_MS: Final = 180_000
"""How long a Certificate waits whose Secret another one keeps."""
BACKOFF_MS: Final = 3_600_000
BACKOFF_MAX_MS: Final = 32 * BACKOFF_MS
_DOUBLINGS_MAX: Final = 6


def reconcile(component: Component, api: ApiClient, certificate: Object) -> int | None:
    """Bring a Certificate and its Secret up to date; return after how many milliseconds to look again."""
    wish, again_ms = wish_of(certificate), None
    if not is_true(certificate, "Issuing"):
        certificate, again_ms = _trigger(component, api, certificate, wish)
    certificate = _readiness(component, api, certificate, wish)
    if is_true(certificate, "Issuing"):
        certificate = _issue(component, api, certificate, wish)
        if not is_true(certificate, "Issuing"):
            certificate = _readiness(component, api, certificate, wish)
            again_ms = _until_renewal(component, certificate)
    if not is_true(certificate, "Issuing"):
        _clean(component, api, certificate)
    return again_ms


def _secret(component: Component, certificate: Object, wish: Wish) -> Object | None:
    return component.cache.get(SECRETS, meta.namespace(certificate), wish.secret)


def _given(component: Component, certificate: Object, wish: Wish) -> Given:
    revision = revision_of(certificate)
    request = requests.of_revision(component, certificate, revision) if revision else None
    return Given(certificate, _secret(component, certificate, wish), request, component.now_ms)


def _write(component: Component, api: ApiClient, before: Object, after: Object) -> Object:
    """Write a status that says something new, and return the object as it is then."""
    del component
    if part(after, "status") == part(before, "status"):
        return before
    return api.update_status(CERTIFICATES, meta.namespace(before), after)


# Whether


def _trigger(
    component: Component, api: ApiClient, certificate: Object, wish: Wish
) -> tuple[Object, int | None]:
    if not _owns_secret(component, certificate, wish):
        return certificate, SHARED_MS
    wait_ms = _backoff_ms(component, certificate)
    if wait_ms:
        return certificate, wait_ms
    found = must_issue(_given(component, certificate, wish))
    if found is None:
        return certificate, _until_renewal(component, certificate)
    changed = with_condition(certificate, "Issuing", "True", found.reason, found.message, component.now_ms)
    certificate = _write(component, api, certificate, changed)
    component.recorder_as(TRIGGER).event(certificate, "Normal", "Issuing", found.message)
    return certificate, None


def _until_renewal(component: Component, certificate: Object) -> int | None:
    planned_ms = moment_ms(part(certificate, "status").get("renewalTime"))
    return max(planned_ms - component.now_ms, 1) if planned_ms is not None else None


def _owns_secret(component: Component, certificate: Object, wish: Wish) -> bool:
    """Whether a Certificate keeps its Secret: of several that name it, the one that it says, else the oldest."""
    rivals = [
        each
        for each in component.cache.list(CERTIFICATES, meta.namespace(certificate))
        if part(each, "spec").get("secretName") == wish.secret
    ]
    if len(rivals) < 2:
        return True
    names = [
        meta.name(each) for each in sorted(rivals, key=lambda each: (meta.creation_ms(each), meta.name(each)))
    ]
    said = meta.annotations(_secret(component, certificate, wish) or {"metadata": {}}).get(NAME_ANNOTATION)
    return meta.name(certificate) == (said if said in names else names[0])


def _backoff_ms(component: Component, certificate: Object) -> int:
    """Return how long to wait after failures, 0 for not; a wish that has changed is tried at once."""
    status = part(certificate, "status")
    failed_ms = moment_ms(status.get("lastFailureTime"))
    if failed_ms is None:
        return 0
    request = requests.of_revision(component, certificate, revision_of(certificate) + 1)
    if request is not None and violations_of(request, certificate):
        return 0
    attempts = status.get("failedIssuanceAttempts")
    doublings = min(max(attempts - 1, 0), _DOUBLINGS_MAX) if isinstance(attempts, int) else 0
    delay_ms = min(BACKOFF_MS << doublings, BACKOFF_MAX_MS)
    return max(failed_ms + delay_ms - component.now_ms, 0)


# How


def _issue(component: Component, api: ApiClient, certificate: Object, wish: Wish) -> Object:
    if wish.problem:
        text = f"Failed to generate CSR: {wish.problem} - will not retry"
        component.recorder_as("cert-manager-certificates-request-manager").event(
            certificate, "Warning", "RequestFailed", text
        )
        return certificate
    secret, certificate = _next_key(component, api, certificate, wish)
    if secret is None:
        return certificate
    revision = revision_of(certificate) + 1
    request = requests.ensure(component, api, certificate, wish, revision, secret)
    if request is None:
        return certificate
    seed = f"{meta.uid(certificate)}/{revision}"
    answer = requests.answered(component, api, request, wish, secret, seed)
    if answer.failed != ("", ""):
        return _fail(component, api, certificate, *answer.failed)
    if not answer.certificate:
        return certificate
    return _store(component, api, certificate, wish, secret, answer)


def _next_key(
    component: Component, api: ApiClient, certificate: Object, wish: Wish
) -> tuple[Object | None, Object]:
    """Return the Secret with the next private key, made if need be, and the Certificate that names it."""
    namespace = meta.namespace(certificate)
    name = str(part(certificate, "status").get("nextPrivateKeySecretName") or "")
    known = component.cache.get(SECRETS, namespace, name) if name else None
    key = key_of(known)
    if known is not None and (key is None or key_violations(wish, key.algorithm, key.bits)):
        if key is not None:
            shown = listed(key_violations(wish, key.algorithm, key.bits))
            text = f"Regenerating private key due to change in fields: {shown}"
            component.recorder_as(KEYS).event(certificate, "Normal", "Deleted", text)
        api.delete(SECRETS, namespace, name)
        known = None
    if known is not None:
        return known, certificate
    chosen = _chosen_key(component, certificate, wish)
    if chosen is None:
        return None, certificate
    key, text = chosen
    body: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            **({"name": name} if name else {"generateName": f"{meta.name(certificate)}-"}),
            "namespace": namespace,
            "labels": {NEXT_KEY: "true", OURS: "true"},
            "ownerReferences": [reference(certificate)],
        },
        "data": {"tls.key": encoded(key.wrapped())},
    }
    secret = api.create(SECRETS, namespace, body)
    reason = "Reused" if text else "Generated"
    text = text or f'Stored new private key in temporary Secret resource "{meta.name(secret)}"'
    component.recorder_as(KEYS).event(certificate, "Normal", reason, text)
    changed = with_status(certificate, nextPrivateKeySecretName=meta.name(secret))
    return secret, _write(component, api, certificate, changed)


def _chosen_key(component: Component, certificate: Object, wish: Wish) -> tuple[Key, str] | None:
    """Return the next private key and what to say when it is the old one; None when there can be none."""
    old = _secret(component, certificate, wish)
    if wish.keeps_key and old is not None and part(old, "data").get("tls.key"):
        key = key_of(old)
        if key is None:
            text = f'Failed to decode private key stored in Secret "{wish.secret}" - generating new key'
            component.recorder_as(KEYS).event(certificate, "Warning", "DecodeFailed", text)
        elif violations := key_violations(wish, key.algorithm, key.bits):
            text = (
                f'User intervention required: existing private key in Secret "{wish.secret}" does not match requirements on '
                f"Certificate resource, mismatching fields: {listed(violations)}, but cert-manager cannot create new private key "
                "as the Certificate's .spec.privateKey.rotationPolicy is unset or set to Never. To allow cert-manager to create "
                "a new private key you can set .spec.privateKey.rotationPolicy to 'Always' (this will result in the private key "
                "being regenerated every time a cert is renewed) "
            )
            component.recorder_as(KEYS).event(certificate, "Warning", "CannotRegenerateKey", text)
            return None
        else:
            return key, f'Reusing private key stored in existing Secret resource "{wish.secret}"'
    if not wish.is_key_supported:
        return None
    seed = f"{meta.uid(certificate)}/{component.now_ms}"
    return made(wish.algorithm, wish.bits, seed.encode()), ""


def _fail(component: Component, api: ApiClient, certificate: Object, reason: str, message: str) -> Object:
    text = f"The certificate request has failed to complete and will be retried: {message}"
    attempts = part(certificate, "status").get("failedIssuanceAttempts")
    changed = with_condition(certificate, "Issuing", "False", reason, text, component.now_ms)
    changed = with_status(
        changed,
        lastFailureTime=rfc3339(component.now_ms),
        failedIssuanceAttempts=attempts + 1 if isinstance(attempts, int) else 1,
    )
    certificate = _write(component, api, certificate, changed)
    component.recorder_as(ISSUING).event(certificate, "Warning", reason, text)
    return certificate


def _store(
    component: Component,
    api: ApiClient,
    certificate: Object,
    wish: Wish,
    secret: Object,
    answer: requests.Answer,
) -> Object:
    """Write key and certificate into the Certificate's Secret, and say that it was issued."""
    key = read(held(secret, "tls.key"))
    assert key is not None, "the key was looked at before"
    namespace = meta.namespace(certificate)
    old = _secret(component, certificate, wish)
    template = part(part(certificate, "spec"), "secretTemplate")
    named = part(part(certificate, "spec"), "issuerRef")
    said = tuple(str(named.get(field) or "") for field in ("name", "kind", "group"))
    data = {
        "tls.key": encoded(key.wrapped() if wish.is_wrapped else key.plain()),
        "tls.crt": encoded(answer.certificate),
        **({"ca.crt": encoded(answer.authority)} if answer.authority else {}),
    }
    body: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": wish.secret,
            "namespace": namespace,
            "annotations": {
                **part(template, "annotations"),
                **_details(answer.certificate),
                NAME_ANNOTATION: meta.name(certificate),
                **dict(zip(ISSUER_ANNOTATIONS, said, strict=True)),
            },
            "labels": {**part(template, "labels"), OURS: "true"},
        },
        "data": data,
        "type": (old or {}).get("type") or "kubernetes.io/tls",
    }
    options = Options(field_manager=ISSUING, force=True)
    api.patch(SECRETS, namespace, wish.secret, body, APPLY_PATCH, options=options)
    changed = with_status(
        without_condition(certificate, "Issuing"),
        revision=revision_of(certificate) + 1,
        failedIssuanceAttempts=None,
        lastFailureTime=None,
    )
    certificate = _write(component, api, certificate, changed)
    text = "The certificate has been successfully issued"
    component.recorder_as(ISSUING).event(certificate, "Normal", "Issuing", text)
    return certificate


def _details(pem: str) -> dict[str, str]:
    """Return the annotations that tell what is in a certificate."""
    issued = chain_of(pem)[0]
    organizations = [value for part, value in name_parts(issued.subject) if part == "O"]
    rows = {
        "common-name": issued.common_name,
        "alt-names": ",".join(issued.dns_names),
        "ip-sans": ",".join(issued.addresses),
        "uri-sans": "",
    }
    if organizations:
        rows["subject-organizations"] = ",".join(organizations)
    return {f"cert-manager.io/{name}": text for name, text in rows.items()}


def _clean(component: Component, api: ApiClient, certificate: Object) -> None:
    """Delete what only the issuance needed."""
    name = part(certificate, "status").get("nextPrivateKeySecretName")
    if not name:
        return
    namespace = meta.namespace(certificate)
    known = component.cache.get(SECRETS, namespace, str(name))
    if known is not None and meta.controller_uid(known) == meta.uid(certificate):
        api.delete(SECRETS, namespace, str(name))
    _write(component, api, certificate, with_status(certificate, nextPrivateKeySecretName=None))


def _readiness(component: Component, api: ApiClient, certificate: Object, wish: Wish) -> Object:
    """Say whether a Certificate is ready, and until when its Secret's certificate lives."""
    given = _given(component, certificate, wish)
    found = unready(given)
    status = (
        ("False", *found)
        if found is not None
        else ("True", "Ready", "Certificate is up to date and has not expired")
    )
    known = condition(certificate, "Ready")
    changed = certificate
    if (
        known is None
        or (known.get("status"), known.get("reason"), known.get("message")) != status
        or (known.get("observedGeneration", 0) != meta.generation(certificate))
    ):
        changed = with_condition(certificate, "Ready", *status, component.now_ms)
    chain = chain_of(held(given.secret, "tls.crt"))
    if not chain:
        times: dict[str, str | None] = {"notBefore": None, "notAfter": None, "renewalTime": None}
    else:
        renewed_ms = renewal_ms(certificate, chain[0])
        times = {
            "notBefore": rfc3339(chain[0].not_before_ms),
            "notAfter": rfc3339(chain[0].not_after_ms),
            "renewalTime": rfc3339(renewed_ms) if renewed_ms is not None else None,
        }
    return _write(component, api, certificate, with_status(changed, **times))
