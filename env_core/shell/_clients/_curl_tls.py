"""How curl starts TLS: what it says of the handshake, and why it gives up.

Source: tests/golden/programs/curl (curl.tls.*). The lines of a TLS 1.3 handshake are not recorded; they are those of
curl's own documentation (https://everything.curl.dev/usingcurl/verbose).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from env_core.objects.x509 import Certificate, CertificateProblem, certificates
from env_core.programs._http import moment, month_name
from env_core.shell._clients import _curl_output as meter
from env_core.shell._clients import _tls
from env_core.shell._clients._curl_connect import Connecting
from env_core.shell._clients._tls import Handshake, Verification
from env_core.shell._clients._wire import EMPTY, RESET, TIMEOUT, Connection, Request
from env_core.shell.filesystem import ShellFileError
from env_core.sim.timefmt import time_of_day

ADVICE: Final = (
    "More details here: https://curl.se/docs/sslcerts.html\n\n"
    "curl failed to verify the legitimacy of the server and therefore could not\n"
    "establish a secure connection to it. To learn more about this situation and\n"
    "how to fix it, please visit the web page mentioned above.\n"
)
_CODES: Final = {
    _tls.WRONG_VERSION: "0A00010B",
    _tls.ALERT_VERSION: "0A00042E",
    _tls.LEGACY: "0A00014D",
}
_ALERTS: Final = {9: ("bad certificate", 554), 10: ("certificate expired", 557)}
_UNKNOWN_AUTHORITY: Final = ("unknown CA", 560)
_TLS_12: Final = (
    ("{", "IN", "TLS handshake, Server key exchange (12)", 300),
    ("{", "IN", "TLS handshake, Server finished (14)", 4),
    ("}", "OUT", "TLS handshake, Client key exchange (16)", 37),
    ("}", "OUT", "TLS change cipher, Change cipher spec (1)", 1),
    ("}", "OUT", "TLS handshake, Finished (20)", 16),
    ("{", "IN", "TLS handshake, Finished (20)", 16),
)
_TLS_13: Final = (
    ("{", "IN", "TLS handshake, CERT verify (15)", 264),
    ("{", "IN", "TLS handshake, Finished (20)", 52),
    ("}", "OUT", "TLS change cipher, Change cipher spec (1)", 1),
    ("}", "OUT", "TLS handshake, Finished (20)", 52),
)


class Securing(Connecting):
    """Shakes hands."""

    __slots__ = ()

    def _handshake(self, number: int, connection: Connection, request: Request) -> bool:
        """Shake hands over a new connection; return whether that worked."""
        session = self.session
        if number in session.secured:
            return True
        if self._is_unprepared(number):
            return False
        offered = ("http/1.1",) if session.options.has("http1.1") else ("h2", "http/1.1")
        session.tell(f"ALPN: offers {','.join(offered)}")
        self._data("}", 5)
        self._message("}", "TLSv1.3 (OUT), TLS handshake, Client hello (1)", 512)
        is_trusting = session.options.has("insecure")
        if session.is_verbose and not is_trusting:
            path = session.options.text("cacert", _tls.SYSTEM_AUTHORITIES)
            session.err.append(f"*  CAfile: {path}\n*  CApath: /etc/ssl/certs\n")
        made = _tls.shake_hands(
            session.wire, connection, request, versions=self._versions(), protocols=offered
        )
        if made.failure:
            session.open_connections.clear()
            self._broken(number, made)
            return False
        return self._secured(number, made, is_trusting=is_trusting)

    def _versions(self) -> tuple[str, ...]:
        options = self.session.options
        most = options.text("tls-max")
        least = "1.3" if options.has("tlsv1.3") else "1.2"
        return tuple(each for each in ("TLSv1.2", "TLSv1.3") if least <= each[4:] <= (most or "1.3"))

    def _is_unprepared(self, number: int) -> bool:
        """Read the files that options name; return whether that failed."""
        options = self.session.options
        process = self.session.process
        authorities = options.text("cacert")
        if authorities and not options.has("insecure") and _tls.authorities(process, authorities) is None:
            self.fail(77, f"error setting certificate file: {authorities}", number=number)
            return True
        own = options.text("cert")
        if not own:
            return False
        own = own.partition(":")[0]
        try:
            text = process.fs.read(process.path(own))
            found = certificates(text)
            problem = "" if found else "error:0480006C:PEM routines::no start line"
        except (ShellFileError, CertificateProblem):
            problem = "error:80000002:system library::No such file or directory"
            text = ""
        if problem:
            told = (
                f"could not load PEM client certificate from {own}, OpenSSL error {problem}, "
                "(no key found, wrong pass phrase, or wrong file format?)"
            )
            self.fail(58, told, number=number)
            return True
        key = options.text("key") or own
        try:
            has_key = "PRIVATE KEY-----" in process.fs.read(process.path(key))
        except ShellFileError:
            has_key = False
        if not has_key:
            self.fail(58, f"unable to set private key file: '{key}' type PEM", number=number)
        return not has_key

    def _broken(self, number: int, made: Handshake) -> None:
        """Tell of a handshake that did not get as far as a certificate."""
        session = self.session
        options = session.options
        where = f"{self.url.host}:{self.url.port}"
        if made.failure == TIMEOUT:
            limit, connect_ms = self.limit_ms(), options.milliseconds("connect-timeout")
            if connect_ms and (not limit or connect_ms <= limit):
                self.wait(max(connect_ms - self.elapsed_ms, 1), is_last=True)
                self.fail(28, "SSL connection timeout", number=number)
            else:
                self.wait(limit or 300_000, is_last=True)
                timed = f"Connection timed out after {self.elapsed_ms} milliseconds"
                self.fail(28, timed if limit else "SSL connection timeout", number=number)
        elif made.failure == EMPTY:
            self.fail(35, f"OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to {where} ", number=number)
        elif made.failure == RESET:
            session.tell("Recv failure: Connection reset by peer")
            session.tell(f"OpenSSL SSL_connect: Connection reset by peer in connection to {where} ")
            self.fail(35, "Recv failure: Connection reset by peer", is_told=False, number=number)
        else:
            self._data("{", 5)
            code = _CODES[made.failure]
            self.fail(35, f"OpenSSL/3.0.19: error:{code}:SSL routines::{made.failure}", number=number)

    def _secured(self, number: int, made: Handshake, *, is_trusting: bool) -> bool:
        session = self.session
        if session.has_meter and session.is_verbose:
            session.err.append(meter.START)
        if not is_trusting:
            self._data("{", 5)
        is_new = made.version == "TLSv1.3"
        alpn = 5 + len(made.protocol) if made.protocol else -4
        hello = 122 if is_new else 67 + alpn
        self._message("{", "TLSv1.3 (IN), TLS handshake, Server hello (2)", hello)
        if is_new:
            self._message("{", "TLSv1.3 (IN), TLS handshake, Encrypted Extensions (8)", 10 + max(alpn, 0) + 2)
        size = _tls.message_bytes(made.chain, made.version)
        self._message("{", f"{made.version} (IN), TLS handshake, Certificate (11)", size)
        roots = _tls.authorities(session.process, session.options.text("cacert")) or ()
        found = _tls.verify(made.chain, roots, session.process.now_ms())
        if found.code and not is_trusting:
            alert, code = _ALERTS.get(found.code, _UNKNOWN_AUTHORITY)
            self._message("}", f"{made.version} (OUT), TLS alert, {alert} ({code})", 2)
            self.fail(60, f"SSL certificate problem: {_tls.REASONS[found.code]}", number=number)
            session.open_connections.clear()
            return False
        for mark, way, what, length in _TLS_13 if is_new else _TLS_12:
            self._message(mark, f"{made.version} ({way}), {what}", length)
        session.tell(f"SSL connection using {made.version} / {_tls.CIPHERS[made.version]}")
        told = (
            f"ALPN: server accepted {made.protocol}"
            if made.protocol
            else "ALPN: server did not agree on a protocol. Uses default."
        )
        session.tell(told)
        if not self._is_named(number, made, found, is_trusting=is_trusting):
            return False
        session.secured[number] = made.protocol
        return True

    def _is_named(self, number: int, made: Handshake, found: Verification, *, is_trusting: bool) -> bool:
        """Look at the server's certificate; return whether it is the host's (or nobody asks)."""
        session = self.session
        leaf = made.chain[0]
        host = self.url.host.strip("[]")
        session.tell("Server certificate:")
        self._certificate(leaf)
        if not is_trusting:
            name = _tls.covering_name(leaf, host)
            if name is None:
                if leaf.has_names:
                    self._detail(f"subjectAltName does not match {host}")
                    told = f"SSL: no alternative certificate subject name matches target host name '{host}'"
                else:
                    told = f"SSL: certificate subject name '{leaf.common_name}' does not match target host name '{host}'"
                self.fail(60, told, number=number)
                session.open_connections.clear()
                self._data("}", 5)
                self._message("}", f"{made.version} (OUT), TLS alert, close notify (256)", 2)
                return False
            if leaf.has_names:
                self._detail(f'subjectAltName: host "{host}" matched cert\'s "{name}"')
            else:
                self._detail(f"common name: {leaf.common_name} (matched)")
        self._detail(f"issuer: {_tls.shown_name(leaf.issuer, '=', '; ')}")
        if found.code:
            reason = f"{_tls.REASONS[found.code]} ({found.code})"
            self._detail(f"SSL certificate verify result: {reason}, continuing anyway.")
        else:
            self._detail("SSL certificate verify ok.")
        return True

    def _certificate(self, leaf: Certificate) -> None:
        self._detail(f"subject: {_tls.shown_name(leaf.subject, '=', '; ')}")
        self._detail(f"start date: {certificate_date(leaf.not_before_ms)}")
        self._detail(f"expire date: {certificate_date(leaf.not_after_ms)}")

    def _tell_protocol(self, headers: Sequence[tuple[str, str]], number: int) -> bool:
        """Say which HTTP a secured connection speaks; return whether it is HTTP/2."""
        session = self.session
        protocol = session.secured.get(number)
        if protocol is None:
            return False
        if protocol != "h2":
            session.tell("using HTTP/1.1" if protocol else "using HTTP/1.x")
            self._data("}", 5)
            return False
        self._data("}", 5)
        session.tell("using HTTP/2")
        pairs = [
            (":method", self.method),
            (":path", self._path()),
            (":scheme", "https"),
            (":authority", self.url.authority),
            *((name.lower(), value) for name, value in headers if name != "Host"),
        ]
        for name, value in pairs:
            session.tell(f"h2h3 [{name}: {value}]")
        session.tell(
            f"Using Stream ID: {1 + 2 * session.streams.get(number, 0)} (easy handle 0x55d5c9bdd440)"
        )
        session.streams[number] = session.streams.get(number, 0) + 1
        self._data("}", 5)
        return True

    def _data(self, mark: str, size: int) -> None:
        if self.session.is_verbose:
            self.session.err.append(f"{mark} [{size} bytes data]\n")

    def _message(self, mark: str, what: str, size: int) -> None:
        self.session.tell(f"{what}:")
        self._data(mark, size)

    def _detail(self, text: str) -> None:
        self.session.tell(f" {text}")


def certificate_date(at_ms: int) -> str:
    """Return a date as OpenSSL shows those of certificates."""
    at = moment(at_ms)
    return f"{month_name(at.month)} {at.day:2d} {time_of_day(at_ms // 1000)} {at.year} GMT"
