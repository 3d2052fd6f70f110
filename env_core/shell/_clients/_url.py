"""Addresses of resources, as curl and wget take them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

PORTS: Final = {
    "http": 80, "https": 443, "ftp": 21, "ftps": 990, "telnet": 23, "dict": 2628, "ws": 80, "wss": 443, "ldap": 389,
    "gopher": 70, "imap": 143, "smtp": 25, "pop3": 110, "mqtt": 1883, "rtsp": 554, "tftp": 69, "scp": 22, "sftp": 22,
    "smb": 445,
}  # fmt: skip


class UrlProblem(ValueError):
    """The text is no usable URL."""


@dataclass(frozen=True, slots=True)
class Url:
    """A URL's parts; `path` has the query, never the fragment."""

    scheme: str
    host: str
    port: int
    path: str
    user: str = ""
    has_port: bool = False

    @property
    def authority(self) -> str:
        """The host, with the port when it is not the scheme's own."""
        return self.host if self.port == PORTS.get(self.scheme, 0) else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{f':{self.port}' if self.has_port else ''}{self.path}"

    def joined(self, location: str) -> Url:
        """Return the URL of a Location header, relative to this one.

        Raises:
            UrlProblem: if it is none.
        """
        if "://" in location.partition("?")[0]:
            return parse(location)
        if location.startswith("//"):
            return parse(f"{self.scheme}:{location}")
        path = location.partition("#")[0]
        if path.startswith("?"):
            path = self.path.partition("?")[0] + path
        elif not path.startswith("/"):
            path = self.path.partition("?")[0].rpartition("/")[0] + "/" + path
        return replace(self, path=path)


def parse(text: str) -> Url:
    """Take a URL apart; without a scheme it is http.

    Raises:
        UrlProblem: if it is none.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    scheme = scheme.lower()
    rest = rest.partition("#")[0]
    rest = rest.lstrip("/") if scheme != "file" else rest
    end = min((at for at in (rest.find("/"), rest.find("?")) if at != -1), default=len(rest))
    authority, path = rest[:end], rest[end:]
    if not path.startswith("/"):
        path = "/" + path
    user, at, place = authority.rpartition("@")
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not colon:
        host, port = place, ""
    if " " in host or (port and (not port.isdigit() or not 0 <= int(port) < 65536)):
        raise UrlProblem(text)
    if not host and scheme != "file":
        raise UrlProblem(text)
    return Url(
        scheme, host, int(port) if port else PORTS.get(scheme, 0), path, user if at else "", bool(port)
    )
