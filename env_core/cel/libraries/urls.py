"""`url(…)` and what it is made of.

Source: k8s.io/apiserver v0.37 pkg/cel/library/urls.go; Go's net/url for what is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus, unquote_to_bytes

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import BOOL, STRING
from env_core.cel._values import CelError, Opaque
from env_core.objects.problems import quoted

URL: Final = _types.struct("kubernetes.URL")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_HOST_BAD: Final = re.compile(r"[ \"<>\\^`{|}#/?@]")


@dataclass(frozen=True, slots=True)
class Url(Opaque):
    """A URL in its parts; `host` has the port, `path` is as it was written."""

    text: str
    scheme: str
    host: str
    path: str
    query: str
    cel_type = URL

    def __str__(self) -> str:
        """Return the URL as it was written."""
        return self.text


class _Bad(Exception):
    pass


def parse(text: str) -> Url:
    """Read a URL as Go's url.ParseRequestURI does.

    Raises:
        _Bad: with Go's text.
    """
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise _Bad("net/url: invalid control character in URL")
    if not text:
        raise _Bad("empty url")
    if text == "*":
        return Url(
            text,
            "",
            "",
            "*",
            "",
        )
    scheme, rest = _split_scheme(text)
    if rest.endswith("?") and rest.count("?") == 1:
        rest, query = rest[:-1], ""
    else:
        rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(text, scheme, "", "", query)
        raise _Bad("invalid URI for request")
    host = ""
    if (scheme or not rest.startswith("///")) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _host(authority)
    bad = _BAD_ESCAPE.search(rest)
    if bad is not None:
        raise _Bad(f"invalid URL escape {quoted(bad.group())}")
    return Url(text, scheme, host, rest, query)


def _split_scheme(text: str) -> tuple[str, str]:
    colon = text.find(":")
    if colon == 0:
        raise _Bad("missing protocol scheme")
    if colon > 0 and _SCHEME.fullmatch(text[:colon]):
        return text[:colon].lower(), text[colon + 1 :]
    head = text.partition("/")[0]
    if colon > 0 and ":" in head and text[:1].isalpha() is False and text[0] not in "/?":
        raise _Bad("first path segment in URL cannot contain colon")
    return "", text


def _host(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and _HOST_BAD.search(user):
        raise _Bad("net/url: invalid userinfo")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _Bad("missing ']' in host")
        port = host[end + 1 :]
    else:
        _, colon, digits = host.rpartition(":")
        port = colon + digits if colon else ""
        if " " in host:
            raise _Bad('invalid character " " in host name')
    if port and (port[0] != ":" or not all(char in "0123456789" for char in port[1:])):
        raise _Bad(f"invalid port {quoted(port)} after host")
    return host


def _parsed(text: str) -> Url | CelError:
    try:
        # What url.Parse takes off and url.ParseRequestURI does not.
        whole = parse(text)
        bare = parse(text.partition("#")[0]) if "#" in text else whole
    except _Bad as problem:
        return CelError(f"URL parse error during conversion from string: parse {quoted(text)}: {problem}")
    return Url(text, bare.scheme, bare.host, bare.path, bare.query)


def request_uri_problem(text: str) -> str:
    """Return what is wrong with a URL, "" if nothing is."""
    try:
        parse(text)
    except _Bad as problem:
        return f"parse {quoted(text)}: {problem}"
    return ""


def _hostname(url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1 : url.host.index("]")]
    return url.host.rpartition(":")[0] if ":" in url.host else url.host


def _port(url: Url) -> str:
    tail = url.host.rpartition("]")[2]
    return tail.rpartition(":")[2] if ":" in tail else ""


def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in url.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        if _BAD_ESCAPE.search(pair):
            continue
        found.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return found


def _escaped_path(url: Url) -> str:
    """Return the path as it was written where that is a fine way to write it."""
    raw = unquote_to_bytes(url.path)
    if all(char.isascii() and (char.isalnum() or char in "-_.~!$&'()*+,;=:@/%[]") for char in url.path):
        return url.path
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-_.~$&+,/:;=@!'()*")
        else f"%{byte:02X}"
        for byte in raw
    )  # fmt: skip


def _is_url(text: str) -> bool:
    return not request_uri_problem(text)


def _getter(id_: str, run: Any, result: _types.Type = STRING) -> Function:
    return Function((member(id_, (URL,), result, run),))


LIBRARY = Library(
    order=10,
    functions={
        "url": Function((overload("string_to_url", (STRING,), URL, _parsed),)),
        "getScheme": _getter("url_get_scheme", lambda url: url.scheme),
        "getHost": _getter("url_get_host", lambda url: url.host),
        "getHostname": _getter("url_get_hostname", _hostname),
        "getPort": _getter("url_get_port", _port),
        "getEscapedPath": _getter("url_get_escaped_path", _escaped_path),
        "getQuery": _getter("url_get_query", _query, _types.map_of(STRING, _types.list_of(STRING))),
        "isURL": Function((overload("is_url_string", (STRING,), BOOL, _is_url),)),
    },
    types=(URL,),
    source="k8s.io/apiserver v0.37 pkg/cel/library/urls.go",
)
