"""Private keys: made up, like the certificates of `x509_making`, or read as far as telling which public key is theirs.

Source: RFC 8017 A.1, RFC 5915, RFC 5958.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.objects.x509 import elements
from env_core.objects.x509_making import der, drawn, integer, pem

_BITS, _OCTETS, _OID, _SEQUENCE = 0x03, 0x04, 0x06, 0x30
_PEM: Final = re.compile(
    r"-----BEGIN (RSA |EC |)PRIVATE KEY-----\s(.*?)-----END \1PRIVATE KEY-----", re.DOTALL
)
_RSA: Final = bytes.fromhex("300d06092a864886f70d0101010500")
_EC_KEY: Final = bytes.fromhex("2a8648ce3d0201")
_CURVES: Final = {
    256: bytes.fromhex("2a8648ce3d030107"),
    384: bytes.fromhex("2b81040022"),
    521: bytes.fromhex("2b81040023"),
}
_EXPONENT: Final = 65_537
RSA, ECDSA = "RSA", "ECDSA"
SIZES: Final = {RSA: (2048, 3072, 4096, 8192), ECDSA: tuple(_CURVES)}


class Key(NamedTuple):
    """A private key, as far as it is looked at."""

    algorithm: str
    bits: int
    public: bytes
    """The public key that goes with it: a SubjectPublicKeyInfo, with its tag."""
    encoded: bytes
    """The key in its own form (PKCS #1 or SEC 1)."""

    def plain(self) -> str:
        """Return it in PEM, in its own form."""
        return pem(f"{'EC' if self.algorithm == ECDSA else 'RSA'} PRIVATE KEY", self.encoded)

    def wrapped(self) -> str:
        """Return it in PEM as PKCS #8."""
        algorithm = _RSA if self.algorithm == RSA else _curve_of(self.bits)
        return pem("PRIVATE KEY", der(_SEQUENCE, integer(0), algorithm, der(_OCTETS, self.encoded)))


def made(algorithm: str, bits: int, seed: bytes) -> Key:
    """Return what looks like a new private key of one of SIZES."""
    return _rsa(bits, seed) if algorithm == RSA else _ec(bits, seed)


@lru_cache(maxsize=64)
def read(text: str) -> Key | None:
    """Return the first private key of a PEM text, None when there is none that can be read."""
    found = _PEM.search(text)
    if found is None:
        return None
    try:
        encoded = base64.b64decode("".join(found[2].split()), validate=True)
        if found[1]:
            return _of(encoded, found[1].strip(), b"")
        ((_, outer),) = elements(encoded)
        (_, _version), (_, algorithm), (_, inner), *_ = elements(outer)
        parts = [content for _, content in elements(algorithm)]
        is_ec = parts[0] == _EC_KEY
        return _of(inner, "EC" if is_ec else "RSA", parts[1] if is_ec else b"")
    except (binascii.Error, IndexError, ValueError, StopIteration):
        return None


def _of(encoded: bytes, kind: str, curve: bytes) -> Key:
    ((_, outer),) = elements(encoded)
    parts = list(elements(outer))
    if kind == "RSA":
        modulus, exponent = (int.from_bytes(content, "big") for _, content in parts[1:3])
        return Key(RSA, modulus.bit_length(), _rsa_public(modulus, exponent), encoded)
    held = {tag: content for tag, content in parts if tag in (0xA0, 0xA1)}
    curve = next(elements(held[0xA0]))[1] if 0xA0 in held else curve
    bits = next(size for size, each in _CURVES.items() if each == curve)
    return Key(ECDSA, bits, der(_SEQUENCE, _curve_of(bits), held.get(0xA1, b"")), encoded)


def _curve_of(bits: int) -> bytes:
    return der(_SEQUENCE, der(_OID, _EC_KEY), der(_OID, _CURVES[bits]))


def _rsa_public(modulus: int, exponent: int) -> bytes:
    public = der(_SEQUENCE, integer(modulus), integer(exponent))
    return der(_SEQUENCE, _RSA, der(_BITS, b"\0", public))


def _rsa(bits: int, seed: bytes) -> Key:
    size = bits // 8
    modulus = _odd(drawn(b"modulus", seed, size))
    halves = [_odd(drawn(part, seed, size // 2)) for part in (b"p", b"q", b"dp", b"dq", b"inverse")]
    secret = int.from_bytes(drawn(b"secret", seed, size), "big") >> 2
    numbers = (0, modulus, _EXPONENT, secret, *halves)
    encoded = der(_SEQUENCE, *(integer(number) for number in numbers))
    return Key(RSA, bits, _rsa_public(modulus, _EXPONENT), encoded)


def _ec(bits: int, seed: bytes) -> Key:
    size = (bits + 7) // 8
    point = der(_BITS, b"\0\x04", drawn(b"point", seed, 2 * size))
    secret = drawn(b"secret", seed, size)
    encoded = der(
        _SEQUENCE,
        integer(1),
        der(_OCTETS, secret),
        der(0xA0, der(_OID, _CURVES[bits])),
        der(0xA1, point),
    )
    return Key(ECDSA, bits, der(_SEQUENCE, _curve_of(bits), point), encoded)


def _odd(some: bytes) -> int:
    return int.from_bytes(bytes((some[0] | 0xC0,)) + some[1:-1] + bytes((some[-1] | 1,)), "big")
