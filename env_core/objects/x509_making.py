"""Certificates and keys made up: well-formed and always the same, as real as what reads them here can tell.

Nothing is computed that only mathematics could check: signatures and the numbers of keys are drawn from what they stand
for, so that no other program accepts them. Who signed a certificate is told by names and key identifiers.

Source: RFC 5280 and RFC 8017 A.1; the order of extensions is that of Go's crypto/x509 (x509.go buildCertExtensions).
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from collections.abc import Sequence
from typing import Final, NamedTuple

from env_core.sim.timefmt import rfc3339

_INTEGER, _BITS, _OCTETS, _OID = 0x02, 0x03, 0x04, 0x06
_UTF8, _SEQUENCE, _SET, _PRINTABLE, _UTC_TIME, _LONG_TIME = 0x0C, 0x30, 0x31, 0x13, 0x17, 0x18
_SIGNED_BY_EC: Final = bytes.fromhex("300a06082a8648ce3d040302")
_SIGNED_BY_RSA: Final = bytes.fromhex("300d06092a864886f70d01010b0500")
_EXTENSION_REQUEST: Final = bytes.fromhex("2a864886f70d01090e")
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?")
_LINE: Final = 64
_BIT_USAGES: Final = {
    "signing": 0, "digital signature": 0, "content commitment": 1, "key encipherment": 2, "data encipherment": 3,
    "key agreement": 4, "cert sign": 5, "crl sign": 6, "encipher only": 7, "decipher only": 8,
}  # fmt: skip
_PURPOSES: Final = {
    "any": "551d2500", "server auth": "2b06010505070301", "client auth": "2b06010505070302",
    "code signing": "2b06010505070303", "email protection": "2b06010505070304", "s/mime": "2b06010505070304",
    "ipsec end system": "2b06010505070305", "ipsec tunnel": "2b06010505070306", "ipsec user": "2b06010505070307",
    "timestamping": "2b06010505070308", "ocsp signing": "2b06010505070309",
    "microsoft sgc": "2b0601040182370a0303", "netscape sgc": "6086480186f8420401",
}  # fmt: skip
USAGES: Final = frozenset((*_BIT_USAGES, *_PURPOSES))
"""The names of usages in the API of certificates."""


class Wanted(NamedTuple):
    """What a certificate is to say; names and the public key are in their encoded form."""

    seed: bytes
    """What tells it from all others: its serial number follows."""
    issuer: bytes
    subject: bytes
    not_before_ms: int
    not_after_ms: int
    public_key: bytes
    """A SubjectPublicKeyInfo, with its tag."""
    usages: Sequence[str] = ()
    dns_names: Sequence[str] = ()
    addresses: Sequence[str] = ()
    emails: Sequence[str] = ()
    uris: Sequence[str] = ()
    is_authority: bool = False
    key_id: bytes = b""
    authority_id: bytes = b""
    is_signed_by_rsa: bool = False


def der(tag: int, *contents: bytes) -> bytes:
    """Return one DER element."""
    content = b"".join(contents)
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def pem(kind: str, encoded: bytes) -> str:
    """Return a PEM block."""
    text = base64.b64encode(encoded).decode()
    lines = "\n".join(text[at : at + _LINE] for at in range(0, len(text), _LINE))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def name(common_name: str, organizations: Sequence[str] = (), **others: Sequence[str]) -> bytes:
    """Return an encoded name, without its own tag: each kind of attribute in a set of its own, in Go's order.

    `others` are `countries`, `units`, `localities` and `provinces`.
    """
    rows = (
        ("550406", others.get("countries", ())),
        ("55040a", organizations),
        ("55040b", others.get("units", ())),
        ("550407", others.get("localities", ())),
        ("550408", others.get("provinces", ())),
        ("550403", (common_name,) if common_name else ()),
    )
    return b"".join(
        der(_SET, *sorted(_attribute(oid, each) for each in values)) for oid, values in rows if values
    )


def _attribute(oid: str, text: str) -> bytes:
    tag = _PRINTABLE if _PLAIN.issuperset(text) else _UTF8
    return der(_SEQUENCE, der(_OID, bytes.fromhex(oid)), der(tag, text.encode("utf-8", "surrogateescape")))


def key_id(public_key: bytes) -> bytes:
    """Return the identifier of a public key, as long as those of RFC 7093 2.1 are."""
    return hashlib.sha256(public_key).digest()[:20]


def certificate(wanted: Wanted) -> str:
    """Return a certificate in PEM."""
    serial = int.from_bytes(drawn(b"serial", wanted.seed, 16), "big") >> 1
    algorithm = _SIGNED_BY_RSA if wanted.is_signed_by_rsa else _SIGNED_BY_EC
    body = der(
        _SEQUENCE,
        der(0xA0, der(_INTEGER, b"\x02")),
        integer(serial),
        algorithm,
        der(_SEQUENCE, wanted.issuer),
        der(_SEQUENCE, _moment(wanted.not_before_ms), _moment(wanted.not_after_ms)),
        der(_SEQUENCE, wanted.subject),
        wanted.public_key,
        der(0xA3, der(_SEQUENCE, *_extensions(wanted))),
    )
    signature = der(_BITS, b"\0", _signature(body, is_rsa=wanted.is_signed_by_rsa))
    return pem("CERTIFICATE", der(_SEQUENCE, body, algorithm, signature))


def request(wanted: Wanted) -> str:
    """Return a request for a certificate in PEM (PKCS #10): of what is wanted, the subject, the key, names and usages."""
    extensions = der(_SEQUENCE, *_names(wanted), *_usages(wanted))
    attribute = der(_SEQUENCE, der(_OID, _EXTENSION_REQUEST), der(_SET, extensions))
    body = der(_SEQUENCE, integer(0), der(_SEQUENCE, wanted.subject), wanted.public_key, der(0xA0, attribute))
    algorithm = _SIGNED_BY_RSA if wanted.is_signed_by_rsa else _SIGNED_BY_EC
    signature = der(_BITS, b"\0", _signature(body, is_rsa=wanted.is_signed_by_rsa))
    return pem("CERTIFICATE REQUEST", der(_SEQUENCE, body, algorithm, signature))


def drawn(what: bytes, seed: bytes, size: int) -> bytes:
    """Return bytes that follow from what they are for and what they belong to."""
    return hashlib.shake_256(what + b"\0" + seed).digest(size)


def integer(number: int) -> bytes:
    """Return an encoded number, which is not below 0."""
    return der(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _moment(at_ms: int) -> bytes:
    text = rfc3339(at_ms)
    digits = "".join(each for each in text if each.isdigit())
    if digits < "2050":
        return der(_UTC_TIME, f"{digits[2:]}Z".encode())
    return der(_LONG_TIME, f"{digits}Z".encode())


def _signature(body: bytes, *, is_rsa: bool) -> bytes:
    if is_rsa:
        return drawn(b"signature", body, 256)
    halves = (int.from_bytes(drawn(part, body, 32), "big") >> 1 for part in (b"r", b"s"))
    return der(_SEQUENCE, *(integer(half) for half in halves))


def _extension(oid: str, value: bytes, *, is_critical: bool = False) -> bytes:
    critical = (b"\x01\x01\xff",) if is_critical else ()
    return der(_SEQUENCE, der(_OID, bytes.fromhex(oid)), *critical, der(_OCTETS, value))


def _extensions(wanted: Wanted) -> list[bytes]:
    found = _usages(wanted)
    constraints = der(_SEQUENCE, b"\x01\x01\xff") if wanted.is_authority else der(_SEQUENCE)
    found.append(_extension("551d13", constraints, is_critical=True))
    if wanted.key_id:
        found.append(_extension("551d0e", der(_OCTETS, wanted.key_id)))
    if wanted.authority_id:
        found.append(_extension("551d23", der(_SEQUENCE, der(0x80, wanted.authority_id))))
    return found + _names(wanted)


def _usages(wanted: Wanted) -> list[bytes]:
    found = []
    bits = {_BIT_USAGES[usage] for usage in wanted.usages if usage in _BIT_USAGES}
    if bits:
        found.append(_extension("551d0f", _flags(bits), is_critical=True))
    purposes = dict.fromkeys(_PURPOSES[usage] for usage in _PURPOSES if usage in wanted.usages)
    if purposes:
        found.append(
            _extension("551d25", der(_SEQUENCE, *(der(_OID, bytes.fromhex(each)) for each in purposes)))
        )
    return found


def _names(wanted: Wanted) -> list[bytes]:
    names = [
        *(der(0x82, each.encode()) for each in wanted.dns_names),
        *(der(0x81, each.encode()) for each in wanted.emails),
        *(der(0x87, ipaddress.ip_address(each).packed) for each in wanted.addresses),
        *(der(0x86, each.encode()) for each in wanted.uris),
    ]
    if not names:
        return []
    return [_extension("551d11", der(_SEQUENCE, *names), is_critical=not wanted.subject)]


def _flags(bits: set[int]) -> bytes:
    size = max(bits) + 1
    number = sum(1 << (15 - bit) for bit in bits)
    content = number.to_bytes(2, "big")[: (size + 7) // 8]
    return der(_BITS, bytes((-size % 8,)), content)
