"""The recorded cluster's certificates, and private keys for them: the numbers that tell whose they are."""

from base64 import b64encode
from pathlib import Path
from typing import Final

from env_core.objects.x509 import certificates, elements, public_key

CERTIFICATES: Final = Path(__file__).parents[1] / "certificates" / "gateway"


def certificate(*names: str) -> str:
    """Return the recorded cluster's certificates of these names, as one PEM text."""
    return "".join((CERTIFICATES / f"{name}.crt").read_text() for name in names)


def key_of(pem: str) -> str:
    """Return a private key of a certificate, as far as its public part goes: the numbers that only its owner knows are 0."""
    (made, *_) = certificates(pem)
    ((_, numbers),) = elements(public_key(made.encoded))
    parts = b"".join(_encoded(tag, content) for tag, content in ((0x02, b"\0"), *elements(numbers), *[(0x02, b"\0")] * 6))
    inner = _encoded(0x30, _encoded(0x02, b"\0") + _encoded(0x30, b"") + _encoded(0x04, _encoded(0x30, parts)))
    return f"-----BEGIN PRIVATE KEY-----\n{b64encode(inner).decode()}\n-----END PRIVATE KEY-----\n"


def _encoded(tag: int, content: bytes) -> bytes:
    return bytes((tag, 0x82)) + len(content).to_bytes(2, "big") + content
