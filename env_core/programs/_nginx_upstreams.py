"""Who stands behind an upstream of nginx: names that its own resolver looks up, certificates that it believes.

Source: nginx src/core/ngx_resolver.c, src/http/ngx_http_upstream.c; tests/golden/programs/nginx (nginx.502.*).
"""

from __future__ import annotations

from typing import Final

from env_core.objects.x509 import CertificateProblem, certificates, distrust
from env_core.programs._model import DNS_TIMEOUT, NXDOMAIN, SERVFAIL
from env_core.programs._nginx_exchange import Exchange, error
from env_core.programs._nginx_model import milliseconds

UNRESOLVED: Final = {
    NXDOMAIN: "3: Host not found",
    DNS_TIMEOUT: "110: Operation timed out",
    SERVFAIL: "2: Server failure",
}
"""What is said of a name without an address."""
_PATIENCE: Final = "30s"
"""The default of resolver_timeout."""


def resolved(exchange: Exchange, host: str) -> str:
    """Return the address of a name that is known with the request only; "" after having said why there is none.

    nginx asks the name servers of its `resolver` directive itself, without the search list of the container.
    """
    words = exchange.one("resolver")
    if words is None:
        error(exchange, f"no resolver defined to resolve {host}")
        return ""
    server = words[0].partition(":")[0]
    if not server.replace(".", "").isdigit():
        server = exchange.upstream.resolve(server).body
    found = exchange.upstream.ask(host, server)
    if not found.failure:
        exchange.elapsed_ms += found.latency_ms
        return found.body
    if found.failure == DNS_TIMEOUT:
        exchange.elapsed_ms += milliseconds((exchange.one("resolver_timeout") or (_PATIENCE,))[0])
    error(exchange, f"{host} could not be resolved ({UNRESOLVED.get(found.failure, UNRESOLVED[SERVFAIL])})")
    return ""


def distrusted(exchange: Exchange, host: str, port: int, authority: str) -> str:
    """Return why nginx does not believe an upstream's certificate, "" when it does, or does not look.

    Source: tests/golden/programs/nginx (nginx.502.tls*); X509_verify_cert_error_string(3).
    """
    if exchange.one("proxy_ssl_verify") != ("on",):
        return ""
    try:
        chain = certificates(exchange.upstream.certificate(host, port))
        path = (exchange.one("proxy_ssl_trusted_certificate") or ("",))[0]
        roots = certificates(exchange.site.files.get(path, ""))
    except CertificateProblem:
        return ""
    if not chain:
        return ""
    own, _, digits = authority.rpartition(":")
    name = (exchange.one("proxy_ssl_name") or (own if digits.isdigit() else authority,))[0]
    problem = distrust(chain, roots, name, exchange.upstream.clock_ms)
    if "unknown authority" in problem:
        is_own = chain[0].issuer == chain[0].subject
        return f"upstream SSL certificate verify error: ({'18:self-signed certificate' if is_own else _UNKNOWN_ISSUER})"
    if "has expired" in problem:
        what = "9:certificate is not yet valid" if " is before " in problem else "10:certificate has expired"
        return f"upstream SSL certificate verify error: ({what})"
    return f'upstream SSL certificate does not match "{name}"' if problem else ""


_UNKNOWN_ISSUER: Final = "20:unable to get local issuer certificate"
