"""Why a Certificate is issued anew, and why it is not ready: cert-manager's policies in their order, with their words.

Source: cert-manager internal/controller/certificates/policies (policies.go, checks.go), pkg/util/pki/match.go and renewaltime.go, 1.20.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Any, NamedTuple

from env_core.controllers._certmanager_model import (
    GROUP,
    ISSUER_ANNOTATIONS,
    NAME_ANNOTATION,
    Wish,
    chain_of,
    duration_ms,
    held,
    issuer_of,
    key_of,
    part,
    texts,
    wish_of,
)
from env_core.objects import meta
from env_core.objects.x509 import Certificate, name_parts, subject_key
from env_core.objects.x509_requests import CertificateRequest, RequestProblem, parsed
from env_core.world import Object


class Reason(NamedTuple):
    """Reason and message of a condition."""

    reason: str
    message: str


class Given(NamedTuple):
    """What the policies look at."""

    certificate: Object
    secret: Object | None
    request: Object | None
    """The CertificateRequest of the current revision."""
    now_ms: int


def must_issue(given: Given) -> Reason | None:
    """Return why a Certificate must be issued, None when it need not."""
    return _common(given) or _nearing_expiry(given)


def unready(given: Given) -> Reason | None:
    """Return why a Certificate is not ready, None when it is."""
    return _common(given) or _expired(given)


def _common(given: Given) -> Reason | None:
    secret = given.secret
    if secret is None:
        return Reason("DoesNotExist", "Issuing certificate as Secret does not exist")
    for check in (_missing_data, _key_pair, _issuer, _owner, _key_spec, _request_key, _request_spec):
        found = check(given, secret)
        if found is not None:
            return found
    return None


def _missing_data(_given: Given, secret: Object) -> Reason | None:
    if not secret.get("data"):
        return Reason("MissingData", "Issuing certificate as Secret does not contain any data")
    for key, what in (("tls.key", "a private key"), ("tls.crt", "a certificate")):
        if not secret["data"].get(key):
            return Reason("MissingData", f"Issuing certificate as Secret does not contain {what}")
    return None


def _key_pair(_given: Given, secret: Object) -> Reason | None:
    key, chain = key_of(secret), chain_of(held(secret, "tls.crt"))
    if key is None:
        why = "error decoding private key PEM block: no PEM data was found in given input"
        return Reason(
            "InvalidKeyPair", f"Issuing certificate as Secret contains invalid private key data: {why}"
        )
    if not chain:
        why = "error decoding certificate PEM block: no valid certificates found"
        return Reason(
            "InvalidCertificate", f"Issuing certificate as Secret contains an invalid certificate: {why}"
        )
    if subject_key(chain[0].encoded) != key.public:
        text = "Issuing certificate as Secret contains a private key that does not match the certificate"
        return Reason("InvalidKeyPair", text)
    return None


def _issuer(given: Given, secret: Object) -> Reason | None:
    said = meta.annotations(secret)
    if not any(key in said for key in ISSUER_ANNOTATIONS):
        return None
    name, kind, group = (said.get(key, "") for key in ISSUER_ANNOTATIONS)
    if (name, kind or "Issuer", group or GROUP) == issuer_of(part(given.certificate, "spec")):
        return None
    shown = f"{kind or 'Issuer'}.{group or GROUP}/{name}"
    return Reason("IncorrectIssuer", f'Issuing certificate as Secret was previously issued by "{shown}"')


def _owner(given: Given, secret: Object) -> Reason | None:
    said = meta.annotations(secret).get(NAME_ANNOTATION)
    if said is None or said == meta.name(given.certificate):
        return None
    text = "If this message is not transient, you might have two conflicting Certificates pointing to the same secret."
    return Reason("IncorrectCertificate", f'Secret was issued for "{said}". {text}')


def key_violations(wish: Wish, algorithm: str, bits: int) -> list[str]:
    """Return the fields of a Certificate that its private key is not like."""
    if algorithm != wish.algorithm:
        return ["spec.privateKey.algorithm"]
    return [] if bits == wish.bits else ["spec.privateKey.size"]


def _key_spec(given: Given, secret: Object) -> Reason | None:
    key = key_of(secret)
    assert key is not None, "the pair was looked at before"
    violations = key_violations(wish_of(given.certificate), key.algorithm, key.bits)
    if not violations:
        return None
    shown = listed(violations)
    return Reason("SecretMismatch", f"Existing private key is not up to date for spec: {shown}")


def _request_key(given: Given, secret: Object) -> Reason | None:
    asked = asked_of(given.request) if given.request is not None else None
    key = key_of(secret)
    if asked is None or key is None or asked.public_key == key.public:
        return None
    text = "Secret contains a private key that does not match the current CertificateRequest"
    return Reason("SecretMismatch", text)


def _request_spec(given: Given, secret: Object) -> Reason | None:
    wish = wish_of(given.certificate)
    if given.request is None:
        violations = _fuzzy(wish, chain_of(held(secret, "tls.crt"))[0])
        if not violations:
            return None
        text = "Issuing certificate as Existing issued Secret is not up to date for spec"
        return Reason("SecretMismatch", f"{text}: {listed(violations)}")
    violations = violations_of(given.request, given.certificate)
    if not violations:
        return None
    text = "Fields on existing CertificateRequest resource not up to date"
    return Reason("RequestChanged", f"{text}: {listed(violations)}")


def asked_of(request: Object) -> CertificateRequest | None:
    """Return what a CertificateRequest asks for, None when it cannot be read."""
    try:
        return parsed(base64.b64decode(str(part(request, "spec").get("request") or ""), validate=True))
    except (binascii.Error, RequestProblem):
        return None


def violations_of(request: Object, certificate: Object) -> list[str]:
    """Return the fields of a Certificate that a CertificateRequest is not like."""
    asked = asked_of(request)
    if asked is None:
        return []
    wish, spec = wish_of(certificate), part(request, "spec")
    wanted = part(certificate, "spec")
    parts = name_parts(asked.subject)
    rows: list[tuple[str, Any, Any]] = [
        ("spec.ipAddresses", asked.addresses, wish.addresses),
        ("spec.uris", asked.uris, wish.uris),
        ("spec.emailAddresses", asked.emails, wish.emails),
        ("spec.dnsNames", asked.dns_names, wish.dns_names),
        ("spec.commonName", (asked.common_name,), (wish.common_name,)),
        ("spec.subject.organizations", asked.organizations, wish.subject["organizations"]),
    ]
    for short, field, name in (
        ("C", "countries", "countries"),
        ("L", "localities", "localities"),
        ("OU", "organizationalUnits", "units"),
        ("ST", "provinces", "provinces"),
    ):
        there = tuple(value for part, value in parts if part == short)
        rows.append((f"spec.subject.{field}", there, wish.subject[name]))
    found = [field for field, there, asked_for in rows if sorted(there) != sorted(asked_for)]
    if bool(spec.get("isCA")) != wish.is_authority:
        found.append("spec.isCA")
    if sorted(texts(spec.get("usages"))) != sorted(texts(wanted.get("usages"))):
        found.append("spec.usages")
    if spec.get("duration") and wanted.get("duration"):
        if duration_ms(spec["duration"]) != duration_ms(wanted["duration"]):
            found.append("spec.duration")
    if issuer_of(spec) != wish.issuer:
        found.append("spec.issuerRef")
    return found


def _fuzzy(wish: Wish, issued: Certificate) -> list[str]:
    expected = {*wish.dns_names, *((wish.common_name,) if wish.common_name else ())}
    there = {*issued.dns_names, *((issued.common_name,) if issued.common_name else ())}
    found = []
    if expected != there:
        if (wish.common_name and wish.common_name not in there) or (
            issued.common_name and issued.common_name not in expected
        ):
            found.append("spec.commonName")
        if not there.issuperset(wish.dns_names) or not expected.issuperset(issued.dns_names):
            found.append("spec.dnsNames")
    if sorted(issued.addresses) != sorted(wish.addresses):
        found.append("spec.ipAddresses")
    return found


def listed(names: list[str]) -> str:
    """Return names as Go prints a list of them."""
    return f"[{' '.join(names)}]"


# Times


def renewal_ms(certificate: Object, issued: Certificate) -> int | None:
    """Return when an issued certificate is to be renewed, on the whole second; None for never."""
    spec = part(certificate, "spec")
    if part(spec, "renewal").get("policy") == "Disabled":
        return None
    lasts_ms = issued.not_after_ms - issued.not_before_ms
    before_ms = duration_ms(spec.get("renewBefore"))
    percentage = spec.get("renewBeforePercentage")
    if before_ms is None or before_ms >= lasts_ms:
        before_ms = lasts_ms // 3
        if isinstance(percentage, int) and 0 < percentage < 100:
            before_ms = lasts_ms * percentage // 100
    return (issued.not_after_ms - before_ms) // 1_000 * 1_000


def _nearing_expiry(given: Given) -> Reason | None:
    issued = chain_of(held(given.secret, "tls.crt"))[0]
    at_ms = renewal_ms(given.certificate, issued)
    if at_ms is None or given.now_ms < at_ms:
        return None
    planned = part(given.certificate, "status").get("renewalTime")
    shown = f"{str(planned).replace('T', ' ').removesuffix('Z')} +0000 UTC" if planned else "<nil>"
    return Reason("Renewing", f"Renewing certificate as renewal was scheduled at {shown}")


def _expired(given: Given) -> Reason | None:
    issued = chain_of(held(given.secret, "tls.crt"))[0]
    if given.now_ms <= issued.not_after_ms:
        return None
    at = datetime.fromtimestamp(issued.not_after_ms // 1_000, tz=UTC)
    days, months = (
        ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    )
    shown = f"{days[at.weekday()]}, {at.day:02d} {months[at.month - 1]} {at.year} {at:%H:%M:%S} UTC"
    return Reason("Expired", f"Certificate expired on {shown}")
