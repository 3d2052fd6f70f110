"""What cert-manager's loops share: its objects, their conditions, what a Certificate wishes, what a Secret holds.

Source: cert-manager pkg/apis/certmanager/v1 (types_certificate.go, const.go) and pkg/api/util/conditions.go, 1.20.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from typing import Any, Final, NamedTuple

from env_core.apiserver.component import Component
from env_core.objects import meta
from env_core.objects.x509 import Certificate, CertificateProblem, certificates
from env_core.objects.x509_keys import RSA, SIZES, Key, read
from env_core.objects.x509_making import USAGES
from env_core.sim.timefmt import parse_go_duration, parse_ms, rfc3339
from env_core.world import Object

GROUP: Final = "cert-manager.io"
CERTIFICATES: Final = f"certificates.{GROUP}"
REQUESTS: Final = f"certificaterequests.{GROUP}"
ISSUERS: Final = f"issuers.{GROUP}"
CLUSTER_ISSUERS: Final = f"clusterissuers.{GROUP}"
SECRETS: Final = "secrets"
NAMESPACE: Final = "cert-manager"
"""Where it runs, and where it looks for the Secrets of ClusterIssuers (--cluster-resource-namespace)."""
NAME_ANNOTATION: Final = "cert-manager.io/certificate-name"
REVISION: Final = "cert-manager.io/certificate-revision"
ISSUER_ANNOTATIONS: Final = tuple(f"cert-manager.io/issuer-{part}" for part in ("name", "kind", "group"))
DEFAULT_MS: Final = 90 * 86_400_000
_DEFAULT_USAGES: Final = ("digital signature", "key encipherment")
_NAMES_MAX: Final = 1_000


class Wish(NamedTuple):
    """What a Certificate wishes, in plain words; what cannot be is left out, and told in `problem`."""

    secret: str
    common_name: str
    dns_names: tuple[str, ...]
    addresses: tuple[str, ...]
    emails: tuple[str, ...]
    uris: tuple[str, ...]
    subject: dict[str, tuple[str, ...]]
    usages: tuple[str, ...]
    is_authority: bool
    lasts_ms: int
    algorithm: str
    bits: int
    is_wrapped: bool
    keeps_key: bool
    issuer: tuple[str, str, str]
    """Name, kind and group."""
    problem: str = ""

    @property
    def is_key_supported(self) -> bool:
        """Whether such a key can be made here; Ed25519 cannot."""
        return self.bits in SIZES.get(self.algorithm, ())


def part(obj: Object, name: str) -> Object:
    """Return a part of an object, an empty one when somebody wrote there something else."""
    found = obj.get(name)
    return found if isinstance(found, dict) else {}


def moment_ms(text: Any) -> int | None:
    """Return the time that somebody wrote, None when it is none."""
    try:
        return parse_ms(str(text)) if text else None
    except ValueError:
        return None


def conditions_of(obj: Object) -> list[Object]:
    """Return an object's conditions, without what is none."""
    found = part(obj, "status").get("conditions")
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def texts(found: Any) -> tuple[str, ...]:
    """Return a list of texts as far as it is one."""
    return tuple(str(each) for each in found or ())[:_NAMES_MAX] if isinstance(found, list) else ()


def wish_of(certificate: Object) -> Wish:
    """Return what a Certificate wishes."""
    spec = part(certificate, "spec")
    key = part(spec, "privateKey")
    algorithm = str(key.get("algorithm") or RSA)
    size = key.get("size")
    subject = part(spec, "subject")
    wish = Wish(
        secret=str(spec.get("secretName") or ""),
        common_name=str(spec.get("commonName") or ""),
        dns_names=texts(spec.get("dnsNames")),
        addresses=texts(spec.get("ipAddresses")),
        emails=texts(spec.get("emailAddresses")),
        uris=texts(spec.get("uris")),
        subject={
            name: texts(subject.get(field))
            for name, field in (
                ("organizations", "organizations"),
                ("units", "organizationalUnits"),
                ("countries", "countries"),
                ("localities", "localities"),
                ("provinces", "provinces"),
            )
        },
        usages=tuple(each for each in texts(spec.get("usages")) if each in USAGES) or _DEFAULT_USAGES,
        is_authority=bool(spec.get("isCA")),
        lasts_ms=duration_ms(spec.get("duration")) or DEFAULT_MS,
        algorithm=algorithm,
        bits=size if isinstance(size, int) and size else SIZES.get(algorithm, (0,))[0],
        is_wrapped=key.get("encoding") == "PKCS8",
        keeps_key=key.get("rotationPolicy") == "Never",
        issuer=issuer_of(spec),
    )
    return wish._replace(problem=_problem(wish))


def _problem(wish: Wish) -> str:
    """Return what keeps a request from being made, as Go's encoding of it says."""
    for address in wish.addresses:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return f'failed to parse IP address "{address}"'
    for text in (*wish.dns_names, *wish.emails, *wish.uris):
        if not text.isascii():
            return f'x509: "{text}" cannot be encoded as an IA5String'
    return ""


def issuer_of(spec: Object) -> tuple[str, str, str]:
    """Return name, kind and group of the issuer that a spec names, with their defaults."""
    found = part(spec, "issuerRef")
    return (
        str(found.get("name") or ""),
        str(found.get("kind") or "Issuer"),
        str(found.get("group") or GROUP),
    )


def duration_ms(text: Any) -> int | None:
    """Return a Go duration in milliseconds, None for none that can be used."""
    try:
        found = parse_go_duration(str(text)) if text else None
    except ValueError:
        return None
    return found if found and found > 0 else None


# Conditions


def condition(obj: Object, kind: str) -> Object | None:
    """Return an object's condition of a type."""
    return next((row for row in conditions_of(obj) if row.get("type") == kind), None)


def is_true(obj: Object, kind: str) -> bool:
    """Whether a condition is there and holds."""
    row = condition(obj, kind)
    return row is not None and row.get("status") == "True"


def with_condition(
    obj: Object, kind: str, status: str, reason: str, message: str, now_ms: int, *, observes: bool = True
) -> Object:
    """Return an object in which a condition says so; its time is kept while its status is the same."""
    known = condition(obj, kind)
    is_same = known is not None and known.get("status") == status
    row: Object = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": known["lastTransitionTime"]
        if is_same and known is not None and known.get("lastTransitionTime")
        else rfc3339(now_ms),
    }
    if observes and meta.generation(obj):
        row["observedGeneration"] = meta.generation(obj)
    rows = conditions_of(obj)
    changed = [row if each is known else each for each in rows] if known is not None else [*rows, row]
    return with_status(obj, conditions=changed)


def without_condition(obj: Object, kind: str) -> Object:
    """Return an object without a condition."""
    return with_status(obj, conditions=[row for row in conditions_of(obj) if row.get("type") != kind])


def with_status(obj: Object, **fields: Any) -> Object:
    """Return an object in whose status fields are set; None takes one away."""
    status = {**part(obj, "status"), **fields}
    return {**obj, "status": {key: value for key, value in status.items() if value is not None}}


def revision_of(certificate: Object) -> int:
    """Return the number of the last issuance, 0 before the first."""
    found = part(certificate, "status").get("revision")
    return found if isinstance(found, int) else 0


# Secrets


def held(secret: Object | None, key: str) -> str:
    """Return what a Secret holds under a key, as text; "" for nothing."""
    data = part(secret or {}, "data")
    try:
        return base64.b64decode(str(data.get(key) or ""), validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def encoded(text: str) -> str:
    """Return text as a Secret holds it."""
    return base64.b64encode(text.encode()).decode()


def chain_of(text: str) -> tuple[Certificate, ...]:
    """Return the certificates of a PEM text, none where it is broken."""
    try:
        return certificates(text)
    except CertificateProblem:
        return ()


def key_of(secret: Object | None) -> Key | None:
    """Return the private key that a Secret holds."""
    return read(held(secret, "tls.key"))


# Objects


def is_served(component: Component, resource: str) -> bool:
    """Whether the API serves a resource."""
    return component.kinds.find(resource) is not None


def reference(obj: Object) -> Object:
    """Return a controlling owner's reference to an object."""
    metadata = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
