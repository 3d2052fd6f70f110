"""cert-manager's issuers of types SelfSigned and CA: whether they are ready, and how they sign.

Issuers of other types are left as the world declares them, and what asks them waits.

Source: cert-manager pkg/controller/issuers/sync.go, pkg/issuer/{ca,selfsigned}/setup.go, pkg/controller/certificaterequests
(sync.go, ca, selfsigned, util/reporter.go), pkg/util/kube/pki.go, 1.20.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.controllers._certmanager_model import (
    CLUSTER_ISSUERS,
    GROUP,
    ISSUERS,
    NAMESPACE,
    SECRETS,
    Wish,
    chain_of,
    conditions_of,
    held,
    is_true,
    issuer_of,
    key_of,
    part,
    with_condition,
)
from env_core.controllers._certmanager_policies import asked_of
from env_core.objects import meta, x509_making
from env_core.objects.x509_keys import RSA, Key
from env_core.objects.x509_requests import CertificateRequest
from env_core.world import Object

_RESOURCES: Final = {"Issuer": ISSUERS, "ClusterIssuer": CLUSTER_ISSUERS}
SOURCE: Final = "cert-manager-issuers"
_PAIR: Final = "Error getting keypair for CA issuer: "


class Verdict(NamedTuple):
    """What an issuer makes of a request: a certificate and its authority, or why it waits, or why it has failed."""

    certificate: str = ""
    authority: str = ""
    pending: tuple[str, str] = ("", "")
    """Reason of the event and message of the condition."""
    failed: tuple[str, str] = ("", "")


def is_handled(issuer: Object) -> bool:
    """Whether it is an issuer of a type that signs here."""
    spec = part(issuer, "spec")
    return spec.get("selfSigned") is not None or bool(part(spec, "ca").get("secretName"))


def secret_of(issuer: Object) -> tuple[str, str]:
    """Return namespace and name of the Secret with an issuer's keys."""
    namespace = meta.namespace(issuer) or NAMESPACE
    return namespace, str(part(part(issuer, "spec"), "ca").get("secretName") or "")


def reconcile(component: Component, api: ApiClient, issuer: Object) -> bool:
    """Bring an issuer's condition up to date; return whether it must be looked at again."""
    resource = CLUSTER_ISSUERS if issuer["kind"] == "ClusterIssuer" else ISSUERS
    if not is_handled(issuer):
        return False
    status, reason, message, is_error = _setup(component, issuer)
    if status == "True" and message:
        _event(component, issuer, "Normal", reason, message)
    elif status == "False":
        event = "ErrInvalidKeyPair" if not is_error else reason
        component.recorder_as(SOURCE).event(issuer, "Warning", event, message)
    if is_error:
        text = f"Error initializing issuer: {message.removeprefix(_PAIR)}"
        component.recorder_as(SOURCE).event(issuer, "Warning", "ErrInitIssuer", text)
    changed = with_condition(issuer, "Ready", status, reason, message, component.now_ms)
    if changed != issuer:
        api.update_status(resource, meta.namespace(issuer), changed)
    return is_error


def _event(component: Component, issuer: Object, kind: str, reason: str, message: str) -> None:
    """Record an event unless the condition says it already: a look that finds nothing new is not told again."""
    rows = conditions_of(issuer)
    if not any(row.get("type") == "Ready" and row.get("reason") == reason for row in rows):
        component.recorder_as(SOURCE).event(issuer, kind, reason, message)


def _setup(component: Component, issuer: Object) -> tuple[str, str, str, bool]:
    """Return status, reason and message of the condition, and whether it is an error that is tried again."""
    if part(issuer, "spec").get("selfSigned") is not None:
        return "True", "IsReady", "", False
    secret, (namespace, name) = _secret(component, issuer), secret_of(issuer)
    problem = ""
    if secret is None:
        problem = f'secrets "{name}" not found'
    elif not part(secret, "data").get("tls.crt"):
        problem = f"no data for \"tls.crt\" in secret '{namespace}/{name}'"
    elif not chain_of(held(secret, "tls.crt")):
        problem = "error decoding certificate PEM block: no valid certificates found"
    elif not part(secret, "data").get("tls.key"):
        problem = f"no data for \"tls.key\" in secret '{namespace}/{name}'"
    elif key_of(secret) is None:
        problem = "error decoding private key PEM block: no PEM data was found in given input"
    if problem:
        return "False", "ErrGetKeyPair", f"{_PAIR}{problem}", True
    if not chain_of(held(secret, "tls.crt"))[0].is_authority:
        return "False", "ErrInvalidKeyPair", f"{_PAIR}certificate is not a CA", False
    return "True", "KeyPairVerified", "Signing CA verified", False


def _secret(component: Component, issuer: Object) -> Object | None:
    return component.cache.get(SECRETS, *secret_of(issuer))


def verdict(component: Component, request: Object, wish: Wish, key_secret: Object | None) -> Verdict | None:
    """Return what the issuer of a CertificateRequest makes of it, None where that is no issuer of ours.

    `key_secret` is the Secret with the private key of who asks, which a self-signed certificate is signed with.
    """
    name, kind, group = issuer_of(part(request, "spec"))
    if group != GROUP or kind not in _RESOURCES:
        return None
    namespace = "" if kind == "ClusterIssuer" else meta.namespace(request)
    issuer = component.cache.get(_RESOURCES[kind], namespace, name)
    if issuer is None:
        plural = "clusterissuer" if kind == "ClusterIssuer" else "issuer"
        message = f'Referenced "{kind}" not found: {plural}.{GROUP} "{name}" not found'
        return Verdict(pending=("IssuerNotFound", message))
    if not is_handled(issuer) and not (set(part(issuer, "spec")) & {"acme", "vault", "venafi"}):
        why = f'no issuer specified for Issuer "{meta.namespace(issuer)}/{name}"'
        return Verdict(pending=("IssuerTypeMissing", f"Missing issuer type: {why}"))
    if not is_true(issuer, "Ready"):
        return Verdict(pending=("IssuerNotReady", "Referenced issuer does not have a Ready status condition"))
    if not is_handled(issuer):
        return None
    asked = asked_of(request)
    if asked is None:
        return Verdict(failed=("SigningError", "Error generating certificate template"))
    if part(issuer, "spec").get("selfSigned") is not None:
        return _self_signed(component, request, asked, wish, key_of(key_secret))
    return _signed(component, request, asked, wish, issuer)


def _self_signed(
    component: Component, request: Object, asked: CertificateRequest, wish: Wish, key: Key | None
) -> Verdict:
    if key is None or key.public != asked.public_key:
        text = "Error generating certificate template: CSR not signed by referenced private key"
        return Verdict(failed=("ErrorKeyMatch", text))
    wanted = _wanted(component, request, asked, wish)
    pem = x509_making.certificate(
        wanted._replace(issuer=asked.subject, is_signed_by_rsa=key.algorithm == RSA)
    )
    return Verdict(pem, pem)


def _signed(
    component: Component, request: Object, asked: CertificateRequest, wish: Wish, issuer: Object
) -> Verdict:
    namespace, name = secret_of(issuer)
    secret = _secret(component, issuer)
    if secret is None:
        text = f'Referenced secret {namespace}/{name} not found: secrets "{name}" not found'
        return Verdict(pending=("SecretMissing", text))
    authority, key = chain_of(held(secret, "tls.crt")), key_of(secret)
    if not authority or key is None:
        text = f"Failed to parse signing CA keypair from secret {namespace}/{name}"
        return Verdict(pending=("SecretInvalidData", text))
    signer = authority[0]
    wanted = _wanted(component, request, asked, wish)
    pem = x509_making.certificate(
        wanted._replace(
            issuer=signer.subject, authority_id=signer.key_id, is_signed_by_rsa=key.algorithm == RSA
        )
    )
    held_chain = held(secret, "tls.crt")
    is_root = signer.issuer == signer.subject
    root = held(secret, "ca.crt") or held_chain
    return Verdict(pem if is_root else pem + held_chain, held_chain if is_root else root)


def _wanted(
    component: Component, request: Object, asked: CertificateRequest, wish: Wish
) -> x509_making.Wanted:
    usages = (*wish.usages, "cert sign") if wish.is_authority else wish.usages
    return x509_making.Wanted(
        seed=meta.uid(request).encode(),
        issuer=b"",
        subject=asked.subject,
        not_before_ms=component.now_ms,
        not_after_ms=component.now_ms + wish.lasts_ms,
        public_key=asked.public_key,
        usages=usages,
        dns_names=asked.dns_names,
        addresses=asked.addresses,
        emails=asked.emails,
        uris=asked.uris,
        is_authority=wish.is_authority,
        key_id=x509_making.key_id(asked.public_key) if wish.is_authority else b"",
    )
