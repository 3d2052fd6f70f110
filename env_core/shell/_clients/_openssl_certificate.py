"""What `openssl x509` prints of a certificate.

Source: tests/golden/programs/nettools (openssl.x509.*).
"""

from __future__ import annotations

import base64
from hashlib import sha1, sha256
from typing import Final

from env_core.objects.x509 import Certificate, elements
from env_core.shell._clients._curl_tls import certificate_date
from env_core.shell._clients._tls import shown_name

_EXTENSIONS: Final = {"subjectAltName": "X509v3 Subject Alternative Name"}
_LINE: Final = 64


def pem(certificate: Certificate) -> str:
    """Return a certificate as PEM."""
    text = base64.b64encode(certificate.encoded).decode()
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return "-----BEGIN CERTIFICATE-----\n" + "\n".join(lines) + "\n-----END CERTIFICATE-----\n"


def serial(certificate: Certificate) -> str:
    """Return the serial number in hexadecimal digits."""
    ((_, outer),) = elements(certificate.encoded)
    (_, body), *_ = elements(outer)
    number = next(content for tag, content in elements(body) if tag == 0x02)
    return number.lstrip(b"\0").hex().upper() or "00"


def alternative_names(certificate: Certificate) -> str:
    """Return the alternative names on one line, "" if there are none."""
    names = [f"DNS:{name}" for name in certificate.dns_names]
    return ", ".join([*names, *(f"IP Address:{each}" for each in certificate.addresses)])


def printed(one: Certificate, words: list[str]) -> tuple[str, str]:
    """Return what the options of `openssl x509` ask for: output and errors, in the order of the options."""
    out, err = "", ""
    for at, word in enumerate(words):
        if word == "-subject":
            out += f"subject={shown_name(one.subject)}\n"
        elif word == "-issuer":
            out += f"issuer={shown_name(one.issuer)}\n"
        elif word == "-serial":
            out += f"serial={serial(one)}\n"
        elif word == "-fingerprint":
            digest = sha256 if "-sha256" in words else sha1
            code = digest(one.encoded).hexdigest().upper()
            label = "sha256" if digest is sha256 else "SHA1"
            out += f"{label} Fingerprint={':'.join(code[start : start + 2] for start in range(0, len(code), 2))}\n"
        elif word == "-ext":
            wanted = words[at + 1] if at + 1 < len(words) else ""
            names = alternative_names(one) if wanted == "subjectAltName" else ""
            if names:
                out += f"{_EXTENSIONS[wanted]}: \n    {names}\n"
            else:
                err += "No extensions in certificate\n"
        if word in ("-dates", "-startdate"):
            out += f"notBefore={certificate_date(one.not_before_ms)}\n"
        if word in ("-dates", "-enddate"):
            out += f"notAfter={certificate_date(one.not_after_ms)}\n"
    if "-noout" not in words:
        out += pem(one)
    return out, err
