"""Image references: enough of the distribution grammar to find the tag.

Source: github.com/distribution/reference, as pkg/util/parsers uses it for the pull policy's default.
"""

from __future__ import annotations

import re
from functools import lru_cache

_DOMAIN_PART = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART = "[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
_domain_match = re.compile(_DOMAIN).fullmatch
_path_match = re.compile(rf"{_PATH_PART}(?:/{_PATH_PART})*").fullmatch
_tag_match = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}").fullmatch
_digest_match = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}").fullmatch
_hex64_match = re.compile("[a-f0-9]{64}").fullmatch
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_NAME_LENGTH_MAX = 255


@lru_cache(maxsize=2048)
def image_tag(image: str) -> str | None:
    """Return the tag of `image`: "latest" when it names neither tag nor digest, "" with a digest only.

    Returns None when the text is no image reference.
    """
    if _hex64_match(image):
        return None
    rest, at, digest = image.partition("@")
    if at:
        algorithm, _, text = digest.partition(":")
        length = _DIGEST_LENGTHS.get(algorithm)
        if not _digest_match(digest) or length is None or len(text) != length or text != text.lower():
            return None
    name, tag = rest, ""
    colon = rest.rfind(":")
    if colon > rest.rfind("/"):
        name, tag = rest[:colon], rest[colon + 1 :]
        if not _tag_match(tag):
            return None
    first, slash, path = name.partition("/")
    is_domain = bool(slash) and (
        ("." in first or ":" in first) or first == "localhost" or first != first.lower()
    )
    if not is_domain:
        path = name if slash else f"library/{name}"
        first = "docker.io"
    if not _domain_match(first) or not _path_match(path) or len(first) + 1 + len(path) > _NAME_LENGTH_MAX:
        return None
    return tag or ("" if at else "latest")


def default_pull_policy(image: str) -> str:
    """Return the pull policy a container gets that names none: Always for "latest", else IfNotPresent."""
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"
