"""nginx's configuration in the small: words, values, addresses, and what is said of bad ones."""

from __future__ import annotations

import re
from typing import Final

from env_core.programs._nginx_directives import VARIABLES
from env_core.programs._nginx_patterns import Pattern, PatternProblem, pattern

_SIZE: Final = re.compile(r"[0-9]{1,12}[kKmMgG]?\Z")


_TIME: Final = re.compile(r"(?:[0-9]{1,12}(?:ms|[smhdwMy]))*(?:[0-9]{1,12}(?:ms|[smhdwMy])?)\Z")


_VARIABLE_SIZES: Final = ("limit_rate", "limit_rate_after")
"""Sizes that may be variables, since nginx 1.17. Source: nginx.org/en/docs/http/ngx_http_core_module.html."""


class ConfigProblem(Exception):
    """nginx refuses its configuration; `text` is its own message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def word_at(text: str, position: int, line: int, path: str) -> tuple[str, int, int]:
    """Read one word; return it, the position after it and the line there."""
    quote = text[position]
    if quote in "\"'":
        end = position + 1
        out: list[str] = []
        while end < len(text) and text[end] != quote:
            if text[end] == "\\" and end + 1 < len(text):
                out.append(
                    {"n": "\n", "t": "\t", "r": "\r"}.get(
                        text[end + 1], text[end + 1] if text[end + 1] in "\"'\\ " else text[end : end + 2]
                    )
                )
                end += 2
                continue
            line += text[end] == "\n"
            out.append(text[end])
            end += 1
        if end >= len(text):
            raise ConfigProblem(f'unexpected end of file, expecting ";" or "}}" in {path}:{line}')
        after = text[end + 1 : end + 2]
        if after and after not in " \t\r\n;{)":
            raise ConfigProblem(f'unexpected "{after}" in {path}:{line}')
        return "".join(out), end + 1, line
    end = position
    while end < len(text) and text[end] not in " \t\r\n;":
        if text[end] == "{" and (end == position or text[end - 1] != "$"):
            break
        if text[end] == "\\":
            end += 1
        elif text[end] == "$" and text[end + 1 : end + 2] == "{":
            end = max(text.find("}", end), end + 1)
        end += 1
    return text[position:end], end, line


def skip_block(text: str, position: int, line: int, path: str) -> tuple[int, int]:
    """Skip a block of other than directives (types, map); return the position after it and the line there."""
    end = text.find("}", position)
    if end == -1:
        raise ConfigProblem(
            f'unexpected end of file, expecting "}}" in {path}:{line + text.count(chr(10), position)}'
        )
    return end + 1, line + text.count("\n", position, end)


def check_value(name: str, kind: str, arguments: tuple[str, ...], where: str) -> None:
    if kind == "flag" and arguments[0].lower() not in ("on", "off"):
        raise ConfigProblem(
            f'invalid value "{arguments[0]}" in "{name}" directive, it must be "on" or "off" in {where}'
        )
    if (
        kind == "size"
        and not _SIZE.match(arguments[0])
        and (not arguments[0].startswith("$") or name not in _VARIABLE_SIZES)
    ):
        raise ConfigProblem(f'"{name}" directive invalid value in {where}')
    if kind == "time" and not _TIME.match(arguments[0]):
        raise ConfigProblem(f'"{name}" directive invalid value in {where}')


def check_location(arguments: tuple[str, ...], where: str) -> None:
    if not 1 <= len(arguments) <= 2:
        raise ConfigProblem(f'invalid number of arguments in "location" directive in {where}')
    if len(arguments) == 2:
        if arguments[0] not in ("=", "^~", "~", "~*"):
            raise ConfigProblem(f'invalid location modifier "{arguments[0]}" in {where}')
        pattern_of(arguments[0], arguments[1], where)


def location_words(arguments: tuple[str, ...]) -> tuple[str, str]:
    if len(arguments) == 2:
        return arguments[0], arguments[1]
    word = arguments[0]
    for modifier in ("^~", "~*", "~", "="):
        if word.startswith(modifier):
            return modifier, word[len(modifier) :]
    return "", word


def pattern_of(modifier: str, path: str, where: str) -> Pattern | None:
    """Return the expression of a location; None for one that is a prefix."""
    if modifier not in ("~", "~*"):
        return None
    return compiled(path, where, ignores_case=modifier == "~*")


def compiled(text: str, where: str, *, ignores_case: bool = False) -> Pattern:
    """Return an expression of the configuration."""
    try:
        return pattern(text, ignores_case=ignores_case)
    except PatternProblem as problem:
        raise ConfigProblem(f"{problem.text} in {where}") from None


def number_of(text: str) -> int | None:
    """Return a number as nginx reads it: decimal digits, no more than fit 64 bits. Source: ngx_atoi."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def check_number(name: str, arguments: tuple[str, ...], where: str) -> None:
    """Check what the directives of numbers say of theirs."""
    if name == "try_files" and arguments[-1].startswith("="):
        code = number_of(arguments[-1][1:])
        if code is None or code > 999:
            raise ConfigProblem(f'invalid code "{arguments[-1][1:]}" in {where}')
    elif name == "return":
        code = number_of(arguments[0])
        is_target = len(arguments) == 1 and arguments[0].startswith(("http", "$", "/"))
        if (code is None and not is_target) or (code or 0) > 999:
            raise ConfigProblem(f'invalid return code "{arguments[0]}" in {where}')
    elif name == "limit_req":
        for argument in arguments:
            if argument.startswith("burst=") and not number_of(argument[6:]):
                raise ConfigProblem(f'invalid burst value "{argument}" in {where}')
    elif name == "limit_req_zone":
        for argument in arguments:
            if argument.startswith("rate=") and not number_of(argument[5:-3]):
                raise ConfigProblem(f'invalid rate "{argument}" in {where}')
    elif name == "limit_req_status":
        code = number_of(arguments[0])
        if code is None:
            raise ConfigProblem(f'"{name}" directive invalid number in {where}')
        if not 400 <= code <= 599:
            raise ConfigProblem(f"value must be between 400 and 599 in {where}")


def address_of(text: str, default_port: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if colon and port.isdigit():
        return host, int(port)
    return text, default_port


def listen_address(text: str, where: str) -> tuple[str, int]:
    if text.startswith("unix:"):
        return text, 0
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        if text.isdigit() or host:
            raise ConfigProblem(f'invalid port in "{text}" of the "listen" directive in {where}')
        return text, 80
    if not 0 < int(port) < 65536:
        raise ConfigProblem(f'invalid port in "{text}" of the "listen" directive in {where}')
    return ("" if host in ("*", "0.0.0.0", "[::]") else host), int(port)


def check_upstream_server(arguments: tuple[str, ...], where: str) -> None:
    for argument in arguments[1:]:
        name = argument.partition("=")[0]
        if name not in (
            "weight",
            "max_fails",
            "fail_timeout",
            "max_conns",
            "backup",
            "down",
            "resolve",
            "slow_start",
        ):
            raise ConfigProblem(f'invalid parameter "{argument}" in {where}')
        if name in ("weight", "max_fails", "max_conns") and number_of(argument.partition("=")[2]) is None:
            raise ConfigProblem(f'invalid parameter "{argument}" in {where}')
        if name == "fail_timeout" and not _TIME.match(argument.partition("=")[2]):
            raise ConfigProblem(f'invalid parameter "{argument}" in {where}')
    _check_port(arguments[0], where)


def _check_port(authority: str, where: str) -> None:
    _, colon, port = authority.rpartition(":")
    if colon and "]" not in port and (not port.isdigit() or not 0 < int(port) < 65536):
        raise ConfigProblem(f'invalid port in upstream "{authority}" in {where}')


def check_proxy_pass(url: str, where: str) -> None:
    if "$" in url:
        return
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in ("http", "https"):
        raise ConfigProblem(f"invalid URL prefix in {where}")
    authority = rest.partition("/")[0]
    if not authority:
        raise ConfigProblem(f'no host in upstream "{rest}" in {where}')
    _check_port(authority, where)


def is_known_variable(name: str) -> bool:
    if name in VARIABLES:
        return True
    return name.startswith(
        ("http_", "arg_", "cookie_", "sent_http_", "upstream_http_", "sent_trailer_", "upstream_cookie_")
    )
