"""What GNU wget (built with GnuTLS) says of a server's certificate.

Source: tests/golden/programs/wget (wget.tls.*).
"""

from __future__ import annotations

from env_core.shell._clients import _tls
from env_core.shell._clients._tls import Handshake
from env_core.shell._clients._wire import EMPTY
from env_core.shell.context import Process

_NO_ISSUER = (18, 19, 20)


def handshake_problem(made: Handshake) -> str:
    """Return the lines for a handshake that got no certificate, "" for one that did."""
    if not made.failure:
        return ""
    told = ""
    if made.failure == EMPTY:
        told = "GnuTLS: The TLS connection was non-properly terminated.\n"
    elif made.failure == _tls.WRONG_VERSION:
        told = "GnuTLS: An unexpected TLS packet was received.\n"
    elif made.failure == _tls.ALERT_VERSION:
        told = "GnuTLS: A TLS fatal alert has been received.\nGnuTLS: received alert [70]: Error in protocol version\n"
    return told + "Unable to establish SSL connection.\n"


def complaints(process: Process, made: Handshake, host: str, authorities: str, *, is_lenient: bool) -> str:
    """Return what wget says of the certificates, "" if it believes them; `is_lenient` makes warnings of it."""
    mark = "WARNING" if is_lenient else "ERROR"
    leaf = made.chain[0]
    now_ms = process.now_ms()
    roots = _tls.authorities(process, authorities) or ()
    code = _tls.verify(made.chain, roots, now_ms).code
    said = []
    late = now_ms > leaf.not_after_ms
    early = now_ms < leaf.not_before_ms
    if code:
        said.append(f"{mark}: The certificate of '{host}' is not trusted.\n")
    if code in _NO_ISSUER:
        said.append(f"{mark}: The certificate of '{host}' doesn't have a known issuer.\n")
    if code and early:
        said.append(f"{mark}: The certificate of '{host}' is not yet activated.\n")
    if code and late:
        said.append(f"{mark}: The certificate of '{host}' has expired.\n")
    if early:
        said.append("The certificate has not yet been activated\n")
    if late:
        said.append("The certificate has expired\n")
    if _tls.covering_name(leaf, host) is None:
        said.append(f"The certificate's owner does not match hostname '{host}'\n")
    return "".join(said)
