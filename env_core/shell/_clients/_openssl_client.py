"""`openssl s_client`: a TLS connection looked at from the client's side.

Counts of bytes follow from the certificates' sizes and the length of the server's name.

Source: tests/golden/programs/nettools (openssl.s_client.*).
"""

from __future__ import annotations

from typing import Final

from env_core.objects.x509 import Certificate
from env_core.shell._clients import _tls
from env_core.shell._clients._curl_tls import certificate_date
from env_core.shell._clients._openssl_certificate import pem
from env_core.shell._clients._tls import Handshake, Verification
from env_core.shell._clients._wire import EMPTY, ERRORS, RESET, RESOLVER_ERRORS, TIMEOUT, Request, Wire, sleep
from env_core.shell.context import Process
from env_core.world import Output

THREAD: Final = "407721C9F07F0000"
_ERRNO: Final = {
    "Connection refused": 111,
    "No route to host": 113,
    "Network is unreachable": 101,
    "Connection timed out": 110,
}
_CONNECT_TIMEOUT_MS: Final = 130_000
_ALERTS: Final = {
    _tls.ALERT_VERSION: (
        "0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../ssl/record/rec_layer_s3.c:1601:SSL alert number 70",
        7,
    ),
    _tls.WRONG_VERSION: (
        "0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl/record/ssl3_record.c:350:",
        5,
    ),
    _tls.LEGACY: (
        "0A00014D:SSL routines:tls12_check_peer_sigalg:legacy sigalg disallowed or unsupported:../ssl/t1_lib.c:1572:",
        0,
    ),
    EMPTY: (
        "0A000126:SSL routines:ssl3_read_n:unexpected eof while reading:../ssl/record/rec_layer_s3.c:318:",
        0,
    ),
}
"""What ends a handshake, and how many bytes had come by then."""
_HELLO: Final = 306
"""The first message without the server's name, and with it less of it when only TLS 1.2 is offered."""
_HELLO_12: Final = 197
_ALERT: Final = 7
_SIGNATURES: Final = (
    "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448:rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512:"
    "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512"
)


def run(process: Process, words: list[str], wire: Wire) -> Output:
    """Run s_client with its options."""
    target = _value(words, "-connect") or next(
        (word for word in words if not word.startswith("-")), "localhost:4433"
    )
    host, colon, text = target.rpartition(":")
    if not colon:
        # Without a port it means 4433 of that host.
        host, text = target, "4433"
    found = wire.resolve(host)
    sleep(process, found.latency_ms)
    if not found.addresses:
        reason = RESOLVER_ERRORS.get(found.failure, "Temporary failure in name resolution")
        lines = f"{THREAD}:error:10080002:BIO routines:BIO_lookup_ex:system lib:../crypto/bio/bio_addr.c:746:{reason}\n"
        return Output("", f"{lines}connect:errno=0\n", 1)
    connection = wire.connect(found.addresses[0], int(text) if text.isdecimal() else 443)
    if connection.failure:
        return _unconnected(process, connection.failure)
    versions = tuple(
        name for option, name in (("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")) if option in words
    )
    made = _tls.shake_hands(
        wire,
        connection,
        Request(protocol="tls", host=host),
        versions=versions or ("TLSv1.2", "TLSv1.3"),
        protocols=tuple(_value(words, "-alpn").split(",")),
    )
    name = _value(words, "-servername") or ("" if "-noservername" in words else host)
    if made.failure:
        return _broken(process, made, name, versions)
    return _established(process, words, made, name)


def _value(words: list[str], name: str) -> str:
    at = words.index(name) if name in words else -1
    return words[at + 1] if 0 <= at < len(words) - 1 else ""


def _unconnected(process: Process, failure: str) -> Output:
    sleep(process, _CONNECT_TIMEOUT_MS if failure == TIMEOUT else 1)
    reason = ERRORS.get(failure, failure)
    number = _ERRNO.get(reason, 111)
    lines = (
        f"{THREAD}:error:800000{number:02X}:system library:BIO_connect:{reason}:../crypto/bio/bio_sock2.c:117:"
        f"calling connect()\n{THREAD}:error:10000067:BIO routines:BIO_connect:connect error:"
        "../crypto/bio/bio_sock2.c:119:\n"
    )
    return Output("", f"{lines}connect:errno={number}\n", 1)


def _hello(name: str, versions: tuple[str, ...]) -> int:
    base = _HELLO_12 if versions == ("TLSv1.2",) else _HELLO
    return base + len(name)


def _nothing(read: int, written: int, version: str, *, epoch: int, is_renegotiable: bool = False) -> str:
    """Return the end of the report of a connection without a session."""
    text = (
        f"---\nSSL handshake has read {read} bytes and written {written} bytes\nVerification: OK\n---\n"
        f"New, (NONE), Cipher is (NONE)\nSecure Renegotiation IS{'' if is_renegotiable else ' NOT'} supported\n"
        "Compression: NONE\nExpansion: NONE\nNo ALPN negotiated\n"
    )
    if version == "TLSv1.2":
        return text + (
            "SSL-Session:\n    Protocol  : TLSv1.2\n    Cipher    : 0000\n    Session-ID: \n    Session-ID-ctx: \n"
            "    Master-Key: \n    PSK identity: None\n    PSK identity hint: None\n    SRP username: None\n"
            f"    Start Time: {epoch}\n    Timeout   : 7200 (sec)\n    Verify return code: 0 (ok)\n"
            f"    Extended master secret: {'yes' if is_renegotiable else 'no'}\n---\n"
        )
    return text + "Early data was not sent\nVerify return code: 0 (ok)\n---\n"


def _broken(process: Process, made: Handshake, name: str, versions: tuple[str, ...]) -> Output:
    if made.failure == TIMEOUT:
        sleep(process, _CONNECT_TIMEOUT_MS)
        return Output("CONNECTED(00000003)\n", "", 124)
    told, read = _ALERTS.get(made.failure, ("", 0))
    err = "write:errno=104\n" if made.failure == RESET else f"{THREAD}:error:{told}\n"
    written = _hello(name, versions)
    if made.failure in (EMPTY, _tls.LEGACY):
        written += _ALERT
    only_12 = "TLSv1.2" if versions == ("TLSv1.2",) else ""
    out = (
        "CONNECTED(00000003)\n---\nno peer certificate available\n---\nNo client certificate CA names sent\n"
    )
    return Output(out + _nothing(read, written, only_12, epoch=process.now_ms() // 1000), err, 1)


def _established(process: Process, words: list[str], made: Handshake, name: str) -> Output:
    roots = _tls.authorities(process, _value(words, "-CAfile")) or ()
    found = _tls.verify(made.chain, roots, process.now_ms())
    is_strict = "-verify_return_error" in words
    err = _told(found, is_strict=is_strict)
    if "-brief" in words:
        return _brief(made, found, err)
    out = "CONNECTED(00000003)\n---\nCertificate chain\n" + "".join(
        _chain_entry(depth, one) for depth, one in enumerate(made.chain)
    )
    if "-showcerts" in words:
        out = "CONNECTED(00000003)\n---\nCertificate chain\n" + "".join(
            _chain_entry(depth, one) + pem(one) for depth, one in enumerate(made.chain)
        )
    written = _hello(name, ())
    if found.code and is_strict:
        out += "---\nno peer certificate available\n---\nNo client certificate CA names sent\n"
        read = 79 + _tls.message_bytes(made.chain, made.version)
        tail = _nothing(
            read, written + _ALERT, made.version, epoch=process.now_ms() // 1000, is_renegotiable=True
        )
        why = f"Verification error: {_tls.REASONS[found.code]}"
        err += (
            f"{THREAD}:error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify failed:"
            "../ssl/statem/statem_clnt.c:1889:\n"
        )
        return Output(out + tail.replace("Verification: OK", why), err, 1)
    leaf = made.chain[0]
    out += (
        f"---\nServer certificate\n{pem(leaf)}subject={_tls.shown_name(leaf.subject)}\n"
        f"issuer={_tls.shown_name(leaf.issuer)}\n---\n{_client_names(made)}Peer signing digest: SHA256\n"
        "Peer signature type: RSA-PSS\nServer Temp Key: X25519, 253 bits\n"
    )
    out += _session(process, made, found, written)
    return Output(out, err + "DONE\n", 0)


def _client_names(made: Handshake) -> str:
    if not made.client_authorities:
        return "No client certificate CA names sent\n"
    names = "".join(f"{_tls.shown_name(each.subject)}\n" for each in made.client_authorities)
    return (
        f"Acceptable client certificate CA names\n{names}"
        f"Requested Signature Algorithms: {_SIGNATURES}:ECDSA+SHA224:RSA+SHA224\n"
        f"Shared Requested Signature Algorithms: {_SIGNATURES}\n"
    )


def _last_code(found: Verification) -> int:
    """Return the code that stays at the end: OpenSSL goes on after the first error when nobody stops it."""
    return 21 if found.code == 20 and len(found.path) == 1 else found.code


def _told(found: Verification, *, is_strict: bool) -> str:
    """Return what the verification says as it goes, from the root down."""
    lines: list[str] = []
    path = found.path

    def at(depth: int) -> str:
        return f"depth={depth} {_tls.shown_name(path[depth].subject)}\n"

    def dates(depth: int) -> str:
        if found.code == 10:
            return f"notAfter={certificate_date(path[depth].not_after_ms)}\n"
        return f"notBefore={certificate_date(path[depth].not_before_ms)}\n" if found.code == 9 else ""

    first = len(path) - 1
    if found.code in (9, 10):
        lines += [f"{at(depth)}verify return:1\n" for depth in range(first, found.depth, -1)]
        lines.append(
            f"{at(found.depth)}verify error:num={found.code}:{_tls.REASONS[found.code]}\n{dates(found.depth)}"
        )
        if is_strict:
            return "".join(lines)
        lines.append("verify return:1\n")
        first = found.depth
    elif found.code:
        codes = [20, 21] if _last_code(found) == 21 else [found.code]
        for code in codes:
            lines.append(f"{at(found.depth)}verify error:num={code}:{_tls.REASONS[code]}\n")
            if is_strict:
                return "".join(lines)
            lines.append("verify return:1\n")
        first = found.depth
    lines += [f"{at(depth)}{dates(depth)}verify return:1\n" for depth in range(first, -1, -1)]
    return "".join(lines)


def _chain_entry(depth: int, one: Certificate) -> str:
    kind = "rsaEncryption, 2048 (bit); sigalg: RSA-SHA256"
    if not one.is_rsa:
        kind = "id-ecPublicKey, 256 (bit); sigalg: ecdsa-with-SHA256"
    return (
        f" {depth} s:{_tls.shown_name(one.subject)}\n   i:{_tls.shown_name(one.issuer)}\n   a:PKEY: {kind}\n"
        f"   v:NotBefore: {certificate_date(one.not_before_ms)}; NotAfter: {certificate_date(one.not_after_ms)}\n"
    )


def _brief(made: Handshake, found: Verification, err: str) -> Output:
    leaf = made.chain[0]
    code = _last_code(found)
    verified = f"Verification error: {_tls.REASONS[code]}" if code else "Verification: OK"
    points = "Supported Elliptic Curve Point Formats: uncompressed:ansiX962_compressed_prime:ansiX962_compressed_char2\n"
    told = err if code else ""
    return Output(
        "",
        f"{told}CONNECTION ESTABLISHED\nProtocol version: {made.version}\nCiphersuite: {_tls.CIPHERS[made.version]}\n"
        f"Peer certificate: {_tls.shown_name(leaf.subject)}\nHash used: SHA256\nSignature type: RSA-PSS\n{verified}\n"
        f"{points if made.version == 'TLSv1.2' else ''}Server Temp Key: X25519, 253 bits\nDONE\n",
        0,
    )


def _session(process: Process, made: Handshake, found: Verification, written: int) -> str:
    is_new = made.version == "TLSv1.3"
    code = _last_code(found)
    size = _tls.message_bytes(made.chain, made.version)
    read = size + (547 if is_new else 683)
    written += 80 if is_new else 93
    if made.client_authorities:
        read, written = read + 130, written + 30
    verified = f"Verification error: {_tls.REASONS[code]}" if code else "Verification: OK"
    alpn = f"ALPN protocol: {made.protocol}" if made.protocol else "No ALPN negotiated"
    head = (
        f"---\nSSL handshake has read {read} bytes and written {written} bytes\n{verified}\n---\n"
        f"New, {made.version}, Cipher is {_tls.CIPHERS[made.version]}\nServer public key is 2048 bit\n"
        f"Secure Renegotiation IS{' NOT' if is_new else ''} supported\nCompression: NONE\nExpansion: NONE\n{alpn}\n"
    )
    tail = f"Verify return code: {code} ({_tls.REASONS[code]})\n"
    epoch = process.now_ms() // 1000
    if not is_new:
        secret = f"    Session-ID: {_SOME * 4}\n    Session-ID-ctx: \n    Master-Key: {_SOME * 6}\n"
        return (
            head
            + _session_block(made, secret, 14, epoch, f"    {tail}    Extended master secret: yes\n")
            + "---\n"
        )
    head += f"Early data was not sent\n{tail}---\n"
    if not made.client_authorities:
        return head
    secret = f"    Session-ID: {_SOME * 4}\n    Session-ID-ctx: \n    Resumption PSK: {_SOME * 6}\n"
    rest = f"    {tail}    Extended master secret: no\n    Max Early Data: 0\n"
    ticket = "---\nPost-Handshake New Session Ticket arrived:\n" + _session_block(
        made, secret, 16, epoch, rest
    )
    return head + f"{ticket}---\nread R BLOCK\n" * 2


_SOME: Final = "5F1C0A77D2B94E36"


def _session_block(made: Handshake, secret: str, rows: int, epoch: int, rest: str) -> str:
    dump = "".join(
        f"    {row * 16:04x} - 5f 1c 0a 77 d2 b9 4e 36-5f 1c 0a 77 d2 b9 4e 36   _..w..N6_..w..N6\n"
        for row in range(rows)
    )
    return (
        f"SSL-Session:\n    Protocol  : {made.version}\n    Cipher    : {_tls.CIPHERS[made.version]}\n{secret}"
        "    PSK identity: None\n    PSK identity hint: None\n    SRP username: None\n"
        f"    TLS session ticket lifetime hint: 300 (seconds)\n    TLS session ticket:\n{dump}\n"
        f"    Start Time: {epoch}\n    Timeout   : 7200 (sec)\n{rest}"
    )
