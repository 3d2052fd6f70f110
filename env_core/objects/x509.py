"""Certificates: what PEM files hold, and whether a client believes them.

Signatures are not computed: who signed a certificate is told by names and key identifiers.

Source: Go's crypto/x509 (parser.go, verify.go), whose texts these are (tests/golden/promql/go_net.jsonl.gz, tls/…).
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from env_core.objects.x509_making import der
from env_core.sim.timefmt import rfc3339

_PEM: Final = re.compile(r"-----BEGIN CERTIFICATE-----\s(.*?)-----END CERTIFICATE-----", re.DOTALL)
_KEY: Final = re.compile(r"-----BEGIN (RSA |EC |)PRIVATE KEY-----\s(.*?)-----END", re.DOTALL)
_COMMON_NAME: Final = bytes.fromhex("550403")
_ATTRIBUTES: Final = {
    bytes.fromhex(f"5504{code}"): name
    for code, name in (
        ("03", "CN"),
        ("05", "serialNumber"),
        ("06", "C"),
        ("07", "L"),
        ("08", "ST"),
        ("0a", "O"),
        ("0b", "OU"),
    )
}
_ALTERNATIVES: Final = bytes.fromhex("551d11")
_KEY_ID: Final = bytes.fromhex("551d0e")
_AUTHORITY_ID: Final = bytes.fromhex("551d23")
_CONSTRAINTS: Final = bytes.fromhex("551d13")
_USAGES: Final = bytes.fromhex("551d25")
_SERVER_AUTH: Final = bytes.fromhex("2b06010505070301")
_ANY_USAGE: Final = bytes.fromhex("551d2500")
_RSA: Final = bytes.fromhex("2a864886f70d01")
_SEQUENCE, _SET, _OID, _UTC_TIME = 0x30, 0x31, 0x06, 0x17
_DNS, _IP = 0x82, 0x87
_CHAIN_MAX: Final = 5


class CertificateProblem(Exception):
    """The text is no certificate; says so as Go does."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The parts of a certificate that clients look at; names are in their encoded form."""

    encoded: bytes
    issuer: bytes
    subject: bytes
    common_name: str
    not_before_ms: int
    not_after_ms: int
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    has_names: bool = False
    key_id: bytes = b""
    authority_id: bytes = b""
    is_authority: bool = False
    usages: tuple[bytes, ...] = ()
    is_rsa: bool = False


@lru_cache(maxsize=64)
def certificates(pem: str) -> tuple[Certificate, ...]:
    """Return the certificates of a PEM text, in order.

    Raises:
        CertificateProblem: a block does not hold a certificate.
    """
    found = []
    for block in _PEM.finditer(pem):
        try:
            found.append(_parsed(base64.b64decode("".join(block.group(1).split()), validate=True)))
        except (binascii.Error, IndexError, ValueError, StopIteration):
            raise CertificateProblem("x509: malformed certificate") from None
    return tuple(found)


def elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each DER element."""
    at = 0
    while at < len(data):
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[at : at + count], "big")
            at += count
        if at + length > len(data):
            raise ValueError("cut short")
        yield tag, data[at : at + length]
        at += length


def _parsed(encoded: bytes) -> Certificate:
    ((_, outer),) = elements(encoded)
    (_, body), (_, algorithm), *_ = elements(outer)
    fields = [(tag, content) for tag, content in elements(body) if tag != 0xA0]
    issuer, validity, subject = (content for _, content in fields[2:5])
    start, end = (_moment(tag, content) for tag, content in elements(validity))
    made = Certificate(encoded, issuer, subject, _common_name(subject), start, end, is_rsa=_RSA in algorithm)
    extensions = {}
    for tag, content in fields[6:]:
        if tag == 0xA3:
            ((_, rows),) = elements(content)
            for _, row in elements(rows):
                parts = list(elements(row))
                extensions[parts[0][1]] = parts[-1][1]
    return _extended(made, extensions)


def _extended(made: Certificate, extensions: dict[bytes, bytes]) -> Certificate:
    names: list[str] = []
    addresses: list[str] = []
    for tag, content in _inner(extensions.get(_ALTERNATIVES)):
        if tag == _DNS:
            names.append(content.decode("ascii"))
        elif tag == _IP:
            addresses.append(str(ipaddress.ip_address(content)))
    authority = [content for tag, content in _inner(extensions.get(_AUTHORITY_ID)) if tag == 0x80]
    key_id = extensions.get(_KEY_ID)
    return Certificate(
        encoded=made.encoded,
        issuer=made.issuer,
        subject=made.subject,
        common_name=made.common_name,
        not_before_ms=made.not_before_ms,
        not_after_ms=made.not_after_ms,
        dns_names=tuple(names),
        addresses=tuple(addresses),
        has_names=_ALTERNATIVES in extensions,
        key_id=next(elements(key_id))[1] if key_id else b"",
        authority_id=authority[0] if authority else b"",
        is_authority=any(
            tag == 0x01 and content != b"\0" for tag, content in _inner(extensions.get(_CONSTRAINTS))
        ),
        usages=tuple(content for _, content in _inner(extensions.get(_USAGES))),
        is_rsa=made.is_rsa,
    )


def _inner(value: bytes | None) -> Iterator[tuple[int, bytes]]:
    """Yield the elements of the sequence that an extension consists of."""
    if value:
        ((_, content),) = elements(value)
        yield from elements(content)


def name_parts(name: bytes) -> tuple[tuple[str, str], ...]:
    """Return the attributes of an encoded name, as (short name, value); unknown kinds by their hexadecimal code."""
    found = []
    for _, group in elements(name):
        for _, pair in elements(group):
            (_, kind), (_, value) = elements(pair)
            found.append((_ATTRIBUTES.get(kind, kind.hex()), value.decode("utf-8", "replace")))
    return tuple(found)


def _common_name(name: bytes) -> str:
    for _, group in elements(name):
        for _, pair in elements(group):
            (_, kind), (_, value) = elements(pair)
            if kind == _COMMON_NAME:
                return value.decode()
    return ""


def _moment(tag: int, content: bytes) -> int:
    text = content.decode("ascii")
    if tag == _UTC_TIME:
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    at = datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    return int(at.timestamp()) * 1000


@lru_cache(maxsize=64)
def is_key_of(pem: str, certificate: Certificate) -> bool:
    """Whether a private key in PEM is the one of a certificate; true, too, where it does not tell.

    Source: RFC 8017 A.1.2, RFC 5915 and RFC 5958: RSA keys are told by their modulus, others by the public part they hold.
    """
    found = _KEY.search(pem)
    if found is None:
        return True
    try:
        public = public_key(certificate.encoded)
        ((_, outer),) = elements(base64.b64decode("".join(found[2].split()), validate=True))
        if not found[1]:
            ((_, outer),) = elements(list(elements(outer))[2][1])
        parts = list(elements(outer))
        if certificate.is_rsa:
            ((_, numbers),) = elements(public)
            return parts[1] == next(elements(numbers))
        held = [content for tag, content in parts if tag == 0xA1]
        return not held or next(elements(held[0]))[1][1:] == public
    except (binascii.Error, IndexError, ValueError, StopIteration):
        return True


def public_key(encoded: bytes) -> bytes:
    """Return the public key of an encoded certificate, encoded."""
    ((_, outer),) = elements(encoded)
    (_, body), *_ = elements(outer)
    fields = [content for tag, content in elements(body) if tag != 0xA0]
    return list(elements(fields[5]))[1][1][1:]


def subject_key(encoded: bytes) -> bytes:
    """Return the SubjectPublicKeyInfo of an encoded certificate, with its tag."""
    ((_, outer),) = elements(encoded)
    body = next(elements(outer))[1]
    content = [content for tag, content in elements(body) if tag != 0xA0][5]
    return der(_SEQUENCE, content)


def distrust(chain: Sequence[Certificate], roots: Sequence[Certificate], host: str, now_ms: int) -> str:
    """Return why a client does not believe what a server called `host` shows, "" if it does."""
    leaf = chain[0]
    problem = _time_problem(leaf, now_ms) or _name_problem(leaf, host)
    if not problem:
        problem = _authority_problem(leaf, chain[1:], roots, now_ms, 0)
    if not problem and leaf.usages and not {_SERVER_AUTH, _ANY_USAGE} & {*leaf.usages}:
        problem = "certificate specifies an incompatible key usage"
    return f"tls: failed to verify certificate: x509: {problem}" if problem else ""


def _time_problem(certificate: Certificate, now_ms: int) -> str:
    bounds = ((certificate.not_before_ms, "before"), (certificate.not_after_ms, "after"))
    for bound_ms, word in bounds:
        if (now_ms < bound_ms) if word == "before" else (now_ms > bound_ms):
            return (
                f"certificate has expired or is not yet valid: current time {rfc3339(now_ms)} "
                f"is {word} {rfc3339(bound_ms)}"
            )
    return ""


def _name_problem(leaf: Certificate, host: str) -> str:
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:
        address = ""
    names = leaf.addresses if address else leaf.dns_names
    if address in names if address else any(_covers(name, host) for name in names):
        return ""
    if not leaf.has_names and _covers(leaf.common_name, host):
        return "certificate relies on legacy Common Name field, use SANs instead"
    if address and not names:
        return f"cannot validate certificate for {host} because it doesn't contain any IP SANs"
    if not names:
        return f"certificate is not valid for any names, but wanted to match {host}"
    return f"certificate is valid for {', '.join(names)}, not {host}"


def _covers(pattern: str, host: str) -> bool:
    wanted, given = pattern.lower().split("."), host.lower().rstrip(".").split(".")
    if len(wanted) != len(given) or not pattern:
        return False
    return wanted[1:] == given[1:] and wanted[0] in ("*", given[0])


def _authority_problem(
    certificate: Certificate,
    between: Sequence[Certificate],
    roots: Sequence[Certificate],
    now_ms: int,
    depth: int,
) -> str:
    """Look for a chain to a root; return why there is none."""
    if any(root.encoded == certificate.encoded for root in roots):
        return ""
    unknown = "certificate signed by unknown authority"
    problem = ""
    for candidate in (*roots, *between):
        if candidate.subject != certificate.issuer or depth >= _CHAIN_MAX:
            continue
        if certificate.authority_id and candidate.key_id and certificate.authority_id != candidate.key_id:
            failure = (
                "crypto/rsa: verification error" if certificate.is_rsa else "x509: ECDSA verification failure"
            )
            problem = problem or (
                f'{unknown} (possibly because of "{failure}" while trying to verify candidate authority '
                f'certificate "{candidate.common_name}")'
            )
            continue
        found = _time_problem(candidate, now_ms)
        if not found and candidate not in roots:
            found = _authority_problem(candidate, between, roots, now_ms, depth + 1)
        if not found:
            return ""
        problem = found
    return problem or unknown
