"""Requests for certificates: what a PEM block of PKCS #10 asks for. Signatures are not looked at.

Source: RFC 2986, RFC 5280 4.2.1.6; k8s.io/kubernetes pkg/apis/certificates helpers.go (ParseCSR).
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.objects.x509 import elements, name_parts
from env_core.objects.x509_making import der
from env_core.world import Object

_PEM: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\s(.*?)-----END \1-----", re.DOTALL)
_TYPE: Final = b"CERTIFICATE REQUEST"
_EXTENSIONS: Final = bytes.fromhex("2a864886f70d01090e")
_ALTERNATIVES: Final = bytes.fromhex("551d11")
_SEQUENCE: Final = 0x30
_EMAIL, _DNS, _URI, _IP = 0x81, 0x82, 0x86, 0x87


class RequestProblem(Exception):
    """The bytes are no request for a certificate; says so as Go does, where that is known."""


class CertificateRequest(NamedTuple):
    """What a request asks for; the subject and the public key are in their encoded form."""

    subject: bytes
    common_name: str
    organizations: tuple[str, ...]
    public_key: bytes
    """A SubjectPublicKeyInfo, with its tag."""
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def parsed(pem: bytes) -> CertificateRequest:
    """Return what the first block of a PEM text asks for.

    Raises:
        RequestProblem: when it is no request.
    """
    block = _PEM.search(pem)
    if block is None or block[1] != _TYPE:
        raise RequestProblem("PEM block type must be CERTIFICATE REQUEST")
    try:
        return _read(base64.b64decode(b"".join(block[2].split()), validate=True))
    except (binascii.Error, IndexError, ValueError, StopIteration):
        raise RequestProblem("asn1: syntax error: data truncated") from None


def of_object(obj: Object) -> CertificateRequest:
    """Return what a CertificateSigningRequest asks for.

    Raises:
        RequestProblem: when it holds no request.
    """
    try:
        pem = base64.b64decode(str((obj.get("spec") or {}).get("request") or ""), validate=True)
    except binascii.Error:
        pem = b""
    return parsed(pem)


def _read(encoded: bytes) -> CertificateRequest:
    ((_, outer),) = elements(encoded)
    (_, info), *_ = elements(outer)
    (_, _version), (_, subject), (kind, key), *rest = elements(info)
    if kind != _SEQUENCE:
        raise ValueError("no public key")
    parts = name_parts(subject)
    names = list(_alternatives(rest))
    return CertificateRequest(
        subject=subject,
        common_name=next((value for part, value in reversed(parts) if part == "CN"), ""),
        organizations=tuple(value for part, value in parts if part == "O"),
        public_key=der(_SEQUENCE, key),
        dns_names=tuple(value.decode("ascii") for tag, value in names if tag == _DNS),
        addresses=tuple(str(ipaddress.ip_address(value)) for tag, value in names if tag == _IP),
        emails=tuple(value.decode("ascii") for tag, value in names if tag == _EMAIL),
        uris=tuple(value.decode("ascii") for tag, value in names if tag == _URI),
    )


def _alternatives(attributes: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    for tag, content in attributes:
        for _, attribute in elements(content) if tag == 0xA0 else ():
            (_, oid), (_, values) = elements(attribute)
            if oid != _EXTENSIONS:
                continue
            ((_, extensions),) = elements(values)
            for _, extension in elements(extensions):
                fields = list(elements(extension))
                if fields[0][1] == _ALTERNATIVES:
                    ((_, names),) = elements(fields[-1][1])
                    yield from elements(names)
