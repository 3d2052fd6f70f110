"""TLS as OpenSSL's clients see it: the handshake, and whether the certificates are believed.

Signatures are not computed: who signed a certificate is told by names and key identifiers.

Source: tests/golden/programs/nettools (openssl.*), curl (curl.tls.*), wget; X509_verify_cert(3) for the order of checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from env_core.objects.x509 import Certificate, CertificateProblem, certificates, name_parts
from env_core.shell._clients._wire import EMPTY, RESET, TIMEOUT, Connection, Listener, Request, Wire
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError

SYSTEM_AUTHORITIES: Final = "/etc/ssl/certs/ca-certificates.crt"
REASONS: Final = {
    0: "ok",
    9: "certificate is not yet valid",
    10: "certificate has expired",
    18: "self-signed certificate",
    19: "self-signed certificate in certificate chain",
    20: "unable to get local issuer certificate",
    21: "unable to verify the first certificate",
}
"""OpenSSL's texts by its codes."""
CIPHERS: Final = {"TLSv1.2": "ECDHE-RSA-AES256-GCM-SHA384", "TLSv1.3": "TLS_AES_256_GCM_SHA384"}
WRONG_VERSION: Final = "wrong version number"
ALERT_VERSION: Final = "tlsv1 alert protocol version"
LEGACY: Final = "legacy sigalg disallowed or unsupported"
_OFFERED: Final = ("TLSv1.2", "TLSv1.3")
_CHAIN_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Handshake:
    """What became of a handshake up to the server's certificate."""

    failure: str = ""
    """RESET, EMPTY, TIMEOUT, or OpenSSL's text."""
    version: str = ""
    chain: tuple[Certificate, ...] = ()
    protocol: str = ""
    """What ALPN chose."""
    client_authorities: tuple[Certificate, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What OpenSSL thinks of a chain: its first error, and the certificates from the leaf upwards."""

    code: int
    depth: int
    path: tuple[Certificate, ...]


def shake_hands(
    wire: Wire,
    connection: Connection,
    request: Request,
    *,
    versions: tuple[str, ...] = _OFFERED,
    protocols: tuple[str, ...] = (),
) -> Handshake:
    """Begin TLS over a connection; `protocols` are offered by ALPN."""
    listener = wire.listener(connection)
    if listener is None or listener.protocol != "https":
        reply = wire.exchange(connection, request)
        if reply.failure in (TIMEOUT, EMPTY, RESET):
            return Handshake(reply.failure)
        return Handshake(RESET if reply.failure else WRONG_VERSION)
    return _negotiated(listener, versions, protocols)


def _negotiated(listener: Listener, versions: tuple[str, ...], protocols: tuple[str, ...]) -> Handshake:
    known = [each for each in listener.tls.versions if each in versions]
    if not known:
        return Handshake(LEGACY if listener.tls.versions[-1] < min(versions) else ALERT_VERSION)
    try:
        chain = certificates(listener.certificate)
        authorities = certificates(listener.tls.client_authorities)
    except CertificateProblem:
        chain, authorities = (), ()
    if not chain:
        return Handshake(EMPTY)
    chosen = next((each for each in listener.tls.protocols if each in protocols), "")
    return Handshake(version=known[-1], chain=chain, protocol=chosen, client_authorities=authorities)


def authorities(process: Process, path: str = "") -> tuple[Certificate, ...] | None:
    """Return the certificates of a file (the system's when none is named); None when it holds none.

    The system's file may be missing.
    """
    try:
        found = certificates(process.fs.read(process.path(path or SYSTEM_AUTHORITIES)))
    except (ShellFileError, CertificateProblem):
        found = ()
    return found if found or not path else None


def is_self_signed(certificate: Certificate) -> bool:
    """Whether a certificate names itself as its issuer."""
    if certificate.issuer != certificate.subject:
        return False
    return not certificate.authority_id or certificate.authority_id == certificate.key_id


def verify(chain: Sequence[Certificate], roots: Sequence[Certificate], now_ms: int) -> Verification:
    """Return the first error that OpenSSL finds: first the way to a root, then dates from the root down."""
    path = [chain[0]]
    while len(path) < _CHAIN_MAX:
        last = path[-1]
        if any(root.encoded == last.encoded for root in roots):
            break
        if is_self_signed(last):
            code = 18 if len(path) == 1 else 19
            return Verification(code, len(path) - 1, tuple(path))
        issuer = _issuer_of(last, roots) or _issuer_of(last, chain[1:])
        if issuer is None:
            return Verification(20, len(path) - 1, tuple(path))
        path.append(issuer)
    for depth in range(len(path) - 1, -1, -1):
        if now_ms < path[depth].not_before_ms:
            return Verification(9, depth, tuple(path))
        if now_ms > path[depth].not_after_ms:
            return Verification(10, depth, tuple(path))
    return Verification(0, 0, tuple(path))


def _issuer_of(certificate: Certificate, candidates: Sequence[Certificate]) -> Certificate | None:
    for each in candidates:
        if each.subject != certificate.issuer:
            continue
        if not certificate.authority_id or not each.key_id or certificate.authority_id == each.key_id:
            return each
    return None


def covering_name(leaf: Certificate, host: str) -> str | None:
    """Return the name of a certificate that covers a host, None if there is none."""
    if host.replace(".", "").isdigit():
        return host if host in leaf.addresses else None
    names = leaf.dns_names if leaf.has_names else (leaf.common_name,)
    wanted = host.lower().rstrip(".").split(".")
    for name in names:
        parts = name.lower().split(".")
        if parts[1:] == wanted[1:] and len(parts) == len(wanted) and parts[0] in ("*", wanted[0]):
            return name
    return None


def shown_name(name: bytes, equals: str = " = ", comma: str = ", ") -> str:
    """Return an encoded name as OpenSSL shows it."""
    return comma.join(f"{kind}{equals}{value}" for kind, value in name_parts(name))


def message_bytes(chain: Sequence[Certificate], version: str) -> int:
    """Return the size of the message that carries a chain (RFC 5246 7.4.2, RFC 8446 4.4.2)."""
    each = 5 if version == "TLSv1.3" else 3
    return (8 if version == "TLSv1.3" else 7) + sum(len(one.encoded) + each for one in chain)
