"""The `setup` of Go's recorded TLS errors as conditions of the simulated library."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from env_core.programs import RESET
from env_core.programs import _go_http as http
from env_core.programs import _go_net as net
from env_core.programs import _go_tls as tls
from env_core.programs._go_net import GoError
from env_core.sim.timefmt import parse_ms
from tests.golden.go_world import OWN, SERVICE, T0_MS, Happened, request_in

_DAY: Final = re.compile(r"(\d{4}-\d\d-\d\d)(T[\d:]+Z)?")
_CERTIFICATE: Final = tls.Certificate(names=("cart.shop.svc", "cart.shop.svc.cluster.local"))


def _moment(text: str) -> int:
    found = _DAY.search(text)
    assert found is not None
    return parse_ms(found[0] if found[2] else f"{found[1]}T00:00:00Z")


def certificate_of(setup: str) -> tls.Certificate | None:
    """Return the certificate that a setup describes; None when it speaks of none."""
    known = _CERTIFICATE
    made: dict[str, object] = {}
    if setup.startswith("NotAfter"):
        made["not_after_ms"] = _moment(setup)
    elif setup.startswith("NotBefore"):
        made["not_before_ms"] = _moment(setup)
    elif "intermediate expired" in setup:
        made["issuer_not_after_ms"] = _moment(setup)
    elif "two other names" in setup:
        made["names"] = ("payments.shop.svc", "payments.shop.svc.cluster.local")
    elif "another name" in setup or "one other name" in setup:
        made["names"] = ("payments.shop.svc",)
    elif found := re.search(r"certificate for (\*\S+)", setup):
        made["names"] = (found[1],)
    elif "only a common name" in setup:
        made.update(names=(), common_name="cart.shop.svc")
    elif "no names at all" in setup:
        made["names"] = ()
    elif found := re.search(r"IP SANs ([\d. ]+)", setup):
        made.update(names=(), addresses=tuple(found[1].split()))
    elif "another CA" in setup:
        made.update(is_trusted=False, namesake="kubernetes" if "same subject" in setup else "")
    elif any(words in setup for words in ("self-signed", "leaves out the intermediate", "empty CA pool", "system roots")):
        made["is_trusted"] = False
    elif "clientAuth only" in setup:
        made["for_servers"] = False
    elif found := re.search(r"CA constrained to (\S+)", setup):
        made["permitted"] = (found[1],)
    elif not any(words in setup for words in ("valid certificate", "DNS SANs only", "ServerName", "by IP", "ALPN")):
        return None
    return replace(known, **made)  # type: ignore[arg-type]


_SIMPLE_TLS: Final[tuple[tuple[str, GoError], ...]] = (
    ("tls.Dial to a plain http server", tls.NOT_TLS), ("without ServerName", tls.NO_SERVER_NAME),
    ("different pairs", tls.KEY_MISMATCH), ("PRIVATE KEY with a broken body", tls.MALFORMED_KEY),
    ("PEM with a broken body", tls.MALFORMED_CERTIFICATE), ("ParseCertificate on junk", tls.MALFORMED_CERTIFICATE),
)  # fmt: skip
_CERT_PEM: Final = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
_KEY_PEM: Final = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"
_PAIRS: Final = {
    "tls.crt is not PEM": ("junk", _KEY_PEM), "tls.key is not PEM": (_CERT_PEM, "junk"),
    "tls.crt and tls.key swapped": (_KEY_PEM, _CERT_PEM), "tls.key holds a certificate": (_CERT_PEM, _CERT_PEM),
}  # fmt: skip
_UNWRAPPED: Final[tuple[tuple[str, str, str], ...]] = (
    ("server speaks TLS 1.1 at most", "version", tls.versions_log((0x304, 0x303))),
    ("client speaks TLS 1.1 at most", "version", tls.versions_log((0x302, 0x301))),
    ("no common TLS 1.2 cipher", "handshake", tls.ciphers_log((0xC02B,))),
    ("requires a client certificate", "required", tls.NO_CLIENT_CERTIFICATE),
    ("server refuses the name", "internal", "no certificate for this name"),
)  # fmt: skip


def tls_setup(setup: str, text: str) -> Happened | None:
    """Return what a client of TLS sees; None when the setup speaks of nothing of the kind."""
    for words, error in _SIMPLE_TLS:
        if words in setup:
            return Happened(error=error)
    for words, (certificate, key) in _PAIRS.items():
        if words in setup:
            return Happened(error=tls.key_pair_problem(certificate, key))
    method, url = request_in(text)
    client = f"{OWN}:<port>"
    for words, what, log in _UNWRAPPED:
        if words in setup:
            return Happened(error=http.in_request(method, url, tls.alert(what)), log=[tls.handshake_log(client, log)])
    plain = {
        "plain http server": http.HTTP_TO_HTTPS, "answers SSH": tls.NOT_TLS, "closes in the handshake": http.EOF,
        "resets in the handshake": net.stream_error("read", "tcp", OWN, f"{SERVICE}:8443", RESET),
    }  # fmt: skip
    for words, error in plain.items():
        if words in setup:
            return Happened(error=http.in_request(method, url, error))
    held = certificate_of(setup)
    if held is None:
        return None
    found = re.search(r"ServerName (\S+)", setup)
    host = found[1] if found else re.sub(r"[:/].*", "", url.partition("://")[2]) if url.startswith("https:") else "cart.shop.svc"
    problem = tls.verification_error(held, host, T0_MS)
    if problem is None:
        return Happened(status=200, body="ok")
    log = [tls.handshake_log(client, tls.BAD_CERTIFICATE)]
    return Happened(error=http.in_request(method, url, problem), log=log)
