"""What Go's crypto/tls and crypto/x509 say of handshakes and certificates, at both ends.

Source: tests/golden/promql/go_net (go1.26: tls); Go crypto/x509 verify.go, crypto/tls handshake_server.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.programs._go_net import GoError
from env_core.sim.timefmt import rfc3339

_VERIFICATION: Final = "*tls.CertificateVerificationError"
_INVALID: Final = "x509.CertificateInvalidError"
_ALERTS: Final = {
    "bad certificate": "bad certificate", "unknown authority": "unknown certificate authority", "expired": "expired certificate",
    "required": "certificate required", "version": "protocol version not supported", "handshake": "handshake failure",
    "internal": "internal error", "unrecognized name": "unrecognized name",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What of a server's certificate and its chain decides whether a client trusts it."""

    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    common_name: str = ""
    not_before_ms: int = 0
    not_after_ms: int = 1 << 62
    is_trusted: bool = True
    """Whether the chain leads to one of the client's authorities."""
    namesake: str = ""
    """An authority of the client with the issuer's name that did not sign it ("kubernetes")."""
    namesake_failure: str = "x509: ECDSA verification failure"
    issuer_not_after_ms: int = 1 << 62
    for_servers: bool = True
    permitted: tuple[str, ...] = ()
    """Domains that the authority may sign for; none for all."""


def _refused(text: str, kind: str) -> GoError:
    return GoError(
        f"tls: failed to verify certificate: x509: {text}", (_VERIFICATION, kind), is_timeout=False
    )


def verification_error(certificate: Certificate, host: str, now_ms: int) -> GoError | None:
    """Return why a client does not trust a server's certificate, or None.

    The order is that of crypto/x509 Verify: times of the leaf, then the host name, then the chain.
    """
    expired = _times(certificate.not_before_ms, certificate.not_after_ms, now_ms)
    if expired is not None:
        return expired
    problem = _host_problem(certificate, host)
    if problem:
        return _refused(problem, "x509.HostnameError")
    if certificate.permitted and not any(
        host == each or host.endswith(f".{each}") for each in certificate.permitted
    ):
        text = (
            "a root or intermediate certificate is not authorized to sign for this name: DNS name"
            f' "{host}" is not permitted by any constraint'
        )
        return _refused(text, _INVALID)
    if not certificate.is_trusted:
        text = "certificate signed by unknown authority"
        if certificate.namesake:
            text += (
                f' (possibly because of "{certificate.namesake_failure}" while trying to verify candidate authority'
                f' certificate "{certificate.namesake}")'
            )
        return _refused(text, "x509.UnknownAuthorityError")
    expired = _times(0, certificate.issuer_not_after_ms, now_ms)
    if expired is not None:
        return expired
    if not certificate.for_servers:
        return _refused("certificate specifies an incompatible key usage", _INVALID)
    return None


def _times(from_ms: int, to_ms: int, now_ms: int) -> GoError | None:
    now = rfc3339(now_ms)
    text = "certificate has expired or is not yet valid: current time"
    if now_ms < from_ms:
        return _refused(f"{text} {now} is before {rfc3339(from_ms)}", _INVALID)
    if now_ms > to_ms:
        return _refused(f"{text} {now} is after {rfc3339(to_ms)}", _INVALID)
    return None


def _host_problem(certificate: Certificate, host: str) -> str:
    if host.replace(".", "").isdigit():
        if host in certificate.addresses:
            return ""
        if not certificate.addresses:
            return f"cannot validate certificate for {host} because it doesn't contain any IP SANs"
        return f"certificate is valid for {', '.join(certificate.addresses)}, not {host}"
    if any(_covers(name, host) for name in certificate.names):
        return ""
    if certificate.names:
        return f"certificate is valid for {', '.join(certificate.names)}, not {host}"
    if certificate.common_name and not certificate.addresses:
        return "certificate relies on legacy Common Name field, use SANs instead"
    return f"certificate is not valid for any names, but wanted to match {host}"


def _covers(pattern: str, host: str) -> bool:
    pattern, host = pattern.lower(), host.lower().removesuffix(".")
    if pattern.startswith("*."):
        return host.partition(".")[2] == pattern[2:] and not host.startswith(".")
    return pattern == host


def alert(what: str) -> GoError:
    """Return the error of an end that was sent an alert."""
    return GoError(
        f"remote error: tls: {_ALERTS[what]}",
        ("*tls.permanentError", "*net.OpError", "tls.alert"),
        is_timeout=False,
    )


NOT_TLS: Final = GoError("tls: first record does not look like a TLS handshake", ("tls.RecordHeaderError",))
NO_SERVER_NAME: Final = GoError(
    "tls: either ServerName or InsecureSkipVerify must be specified in the tls.Config",
    ("*errors.errorString",),
)


def handshake_log(client: str, text: str) -> str:
    """Return what net/http's server logs of a handshake that failed."""
    return f"http: TLS handshake error from {client}: {text}"


BAD_CERTIFICATE: Final = f"remote error: tls: {_ALERTS['bad certificate']}"
NO_CLIENT_CERTIFICATE: Final = "tls: client didn't provide a certificate"


def versions_log(versions: tuple[int, ...]) -> str:
    """Return the server's words for a client that offers only versions it does not speak."""
    return f"tls: client offered only unsupported versions: [{' '.join(f'{each:x}' for each in versions)}]"


def ciphers_log(ciphers: tuple[int, ...]) -> str:
    """Return the server's words for a client without a common cipher suite."""
    shown = " ".join(f"{each:x}" for each in ciphers)
    return f"tls: no cipher suite supported by both client and server; client offered: [{shown}]"


def key_pair_problem(certificate: str, key: str) -> GoError | None:
    """Return why two PEM texts are no key pair, or None. Bodies are read as far as their armour only.

    Source: Go crypto/tls X509KeyPair.
    """
    found = _blocks(certificate)
    if "CERTIFICATE" not in found:
        if not found:
            return _simple("tls: failed to find any PEM data in certificate input")
        if len(found) == 1 and found[0].endswith("PRIVATE KEY"):
            return _simple(
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may"
                " have been switched"
            )
        return _simple(
            f'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the'
            f" following types: [{' '.join(found)}]"
        )
    keys = _blocks(key)
    if not any(each == "PRIVATE KEY" or each.endswith(" PRIVATE KEY") for each in keys):
        if not keys:
            return _simple("tls: failed to find any PEM data in key input")
        if keys == ["CERTIFICATE"]:
            return _simple("tls: found a certificate rather than a key in the PEM for the private key")
        return _simple(
            f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of'
            f" the following types: [{' '.join(keys)}]"
        )
    return None


def _blocks(text: str) -> list[str]:
    return [
        line.removeprefix("-----BEGIN ").removesuffix("-----")
        for line in text.splitlines()
        if line.startswith("-----BEGIN ") and line.endswith("-----")
    ]


def _simple(text: str) -> GoError:
    return GoError(text, ("*errors.errorString",))


KEY_MISMATCH: Final = _simple("tls: private key does not match public key")
MALFORMED_CERTIFICATE: Final = _simple("x509: malformed certificate")
MALFORMED_KEY: Final = _simple("tls: failed to parse private key")
