"""curl's command line: options, their arguments, and what is wrong with them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

TRY: Final = "curl: try 'curl --help' or 'curl --manual' for more information\n"

_TABLE: Final = """
url:str data:str:d data-raw:str data-binary:str data-ascii:str data-urlencode:str json:str form:str:F form-string:str
request:str:X header:str:H output:str:o user:str:u user-agent:str:A referer:str:e cookie:str:b cookie-jar:str:c
max-time:sec:m connect-timeout:sec retry:num retry-delay:num retry-max-time:num max-redirs:num write-out:str:w
resolve:str connect-to:str proxy:str:x noproxy:str proxy-user:str:U cacert:str capath:str cert:str:E key:str cert-type:str
key-type:str pass:str ciphers:str tls-max:str tls13-ciphers:str curves:str unix-socket:str abstract-unix-socket:str
interface:str local-port:str dns-servers:str range:str:r time-cond:str:z continue-at:str:C upload-file:str:T
speed-limit:num:Y speed-time:num:y limit-rate:str max-filesize:str config:str:K stderr:str dump-header:str:D trace:str
trace-ascii:str netrc-file:str output-dir:str create-file-mode:str keepalive-time:num happy-eyeballs-timeout-ms:num
oauth2-bearer:str request-target:str rate:str expect100-timeout:sec proto:str proto-redir:str proto-default:str
pinnedpubkey:str aws-sigv4:str etag-save:str etag-compare:str quote:str:Q telnet-option:str:t crlfile:str engine:str
delegation:str doh-url:str preproxy:str socks5:str socks5-hostname:str socks4:str socks4a:str parallel-max:num
silent:flag:s show-error:flag:S include:flag:i head:flag:I verbose:flag:v fail:flag:f fail-with-body:flag insecure:flag:k
location:flag:L location-trusted:flag get:flag:G compressed:flag http1.0:flag:0 http1.1:flag http2:flag
http2-prior-knowledge:flag http3:flag ipv4:flag:4 ipv6:flag:6 remote-name:flag:O remote-header-name:flag:J
remote-name-all:flag progress-bar:flag:# no-buffer:flag:N globoff:flag:g netrc:flag:n netrc-optional:flag disable:flag:q
retry-connrefused:flag retry-all-errors:flag parallel:flag:Z anyauth:flag basic:flag digest:flag ntlm:flag negotiate:flag
tlsv1:flag:1 tlsv1.0:flag tlsv1.1:flag tlsv1.2:flag tlsv1.3:flag sslv3:flag:3 sslv2:flag:2 ssl:flag ssl-reqd:flag
tcp-nodelay:flag tcp-fastopen:flag path-as-is:flag post301:flag post302:flag post303:flag raw:flag styled-output:flag
fail-early:flag create-dirs:flag append:flag:a list-only:flag:l use-ascii:flag:B proxytunnel:flag:p remote-time:flag:R
junk-session-cookies:flag:j crlf:flag xattr:flag trace-time:flag keepalive:flag progress-meter:flag alpn:flag npn:flag
sessionid:flag buffer:flag no-clobber:flag http0.9:flag next:flag manual:flag:M version:flag:V help:opt:h
suppress-connect-headers:flag haproxy-protocol:flag tr-encoding:flag ssl-no-revoke:flag ssl-allow-beast:flag eprt:flag epsv:flag
disallow-username-in-url:flag cert-status:flag false-start:flag ftp-pasv:flag service-name:str metalink:flag compressed-ssh:flag
ca-native:flag proxy-insecure:flag proxy-cacert:str proxy-header:str mail-from:str mail-rcpt:str hostpubsha256:str pubkey:str
"""

_SECONDS_MAX = 2_147_483
"""About what curl takes for milliseconds in 32 bits."""


def _read(table: str) -> tuple[dict[str, str], dict[str, str]]:
    kinds: dict[str, str] = {}
    letters: dict[str, str] = {}
    for entry in table.split():
        name, kind, *letter = entry.split(":")
        kinds[name] = kind
        if letter:
            letters[letter[0]] = name
    return kinds, letters


_KINDS, _LETTERS = _read(_TABLE)


class OptionProblem(Exception):
    """The command line is wrong; `text` is curl's whole message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = f"curl: {text}\n{TRY}" if text else TRY


@dataclass(slots=True)
class Options:
    """What the command line says; options that may be repeated keep every value."""

    flags: dict[str, bool] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)
    urls: list[str] = field(default_factory=list)
    outputs: list[str | None] = field(default_factory=list)
    """For each URL in turn: a file, or None for the URL's own name (-O)."""
    posted: list[tuple[str, str]] = field(default_factory=list)
    """The data options in order: (name, value)."""

    def has(self, name: str) -> bool:
        """Whether a flag is on."""
        return self.flags.get(name, False)

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of an option."""
        found = self.values.get(name)
        return found[-1] if found else default

    def all(self, name: str) -> list[str]:
        """Return every value of an option."""
        return self.values.get(name, [])

    def milliseconds(self, name: str) -> int:
        """Return a time option in milliseconds, 0 when it is not given."""
        found = self.values.get(name)
        seconds = float(found[-1]) if found else 0.0
        return int(min(seconds, _SECONDS_MAX) * 1000) if not math.isnan(seconds) else 0

    def number(self, name: str, default: int) -> int:
        """Return a number option."""
        found = self.values.get(name)
        return int(found[-1]) if found else default


_DATA: Final = ("data", "data-raw", "data-binary", "data-ascii", "data-urlencode", "json")


@lru_cache(maxsize=512)
def _long_name(word: str) -> tuple[str, bool] | None:
    """Return the option that a long name (or a unique prefix of one) means, and whether it is switched on."""
    if word in _KINDS:
        return word, True
    if word.startswith("no-") and _KINDS.get(word[3:]) == "flag":
        return word[3:], False
    found = [name for name in _KINDS if name.startswith(word)]
    if len(found) == 1:
        return found[0], True
    return ("", True) if found else None


def parse(argv: list[str]) -> Options:
    """Read curl's arguments (without its name).

    Raises:
        OptionProblem: if they are wrong.

    Source: curl 7.88.1 src/tool_getparam.c; tests/golden/programs/curl (usage_error).
    """
    options = Options()
    position = 0
    only_urls = False
    while position < len(argv):
        word = argv[position]
        position += 1
        if only_urls or not word.startswith("-") or word == "-":
            options.urls.append(word)
        elif word == "--":
            only_urls = True
        elif word.startswith("--"):
            found = _long_name(word[2:])
            if found is None:
                raise OptionProblem(f"option {word}: is unknown")
            name, is_on = found
            if not name:
                raise OptionProblem(f"option {word}: is ambiguous")
            position = _take(options, name, word, argv, position, None, is_on=is_on)
        else:
            position = _letters(options, word, argv, position)
    return options


def _letters(options: Options, word: str, argv: list[str], position: int) -> int:
    at = 1
    while at < len(word):
        name = _LETTERS.get(word[at])
        if name is None:
            raise OptionProblem(f"option {word}: is unknown")
        at += 1
        if _KINDS[name] == "flag" or (_KINDS[name] == "opt" and at >= len(word) and position >= len(argv)):
            options.flags[name] = True
            if name == "remote-name":
                options.outputs.append(None)
            continue
        rest = word[at:] or None
        return _take(
            options,
            name,
            f"-{word[at - 1]}" if rest is None or len(word) > 2 else word,
            argv,
            position,
            rest,
            is_on=True,
            shown=word,
        )
    return position


def _take(
    options: Options, name: str, word: str, argv: list[str], position: int, attached: str | None, *, is_on: bool,
    shown: str = "",
) -> int:  # fmt: skip
    kind = _KINDS[name]
    shown = shown or word
    if kind == "flag":
        options.flags[name] = is_on
        if name == "remote-name" and is_on:
            options.outputs.append(None)
        return position
    if attached is not None:
        value = attached
    elif position < len(argv):
        value = argv[position]
        position += 1
    elif kind == "opt":
        options.flags[name] = True
        return position
    else:
        raise OptionProblem(f"option {shown}: requires parameter")
    if kind == "opt":
        options.flags[name] = True
    _check(kind, value, shown)
    if name == "url":
        options.urls.append(value)
    elif name == "output":
        options.outputs.append(value)
    elif name in _DATA:
        options.posted.append((name, value))
    options.values.setdefault(name, []).append(value)
    return position


def _check(kind: str, value: str, word: str) -> None:
    if kind == "num":
        bare = value.lstrip("+")
        if bare.startswith("-") and bare[1:].isdigit():
            raise OptionProblem(f"option {word}: expected a positive numerical parameter")
        if not bare.isdigit():
            raise OptionProblem(f"option {word}: expected a proper numerical parameter")
    elif kind == "sec":
        try:
            number = float(value)
        except ValueError:
            raise OptionProblem(f"option {word}: expected a proper numerical parameter") from None
        if number < 0:
            raise OptionProblem(f"option {word}: expected a positive numerical parameter")
