"""The string formats that a schema may ask for.

Source: k8s.io/kube-openapi pkg/validation/strfmt; k8s.io/apiextensions-apiserver pkg/apiserver/validation formats.go.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Final

from env_core.objects import names
from env_core.sim.timefmt import DurationError, parse_go_duration, parse_ms

_HEX: Final = "[0-9a-fA-F]"
_UUID: Final = re.compile(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}")
_UUID3: Final = re.compile(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}")
_UUID4: Final = re.compile(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89abAB]{_HEX}{{3}}-?{_HEX}{{12}}")
_UUID5: Final = re.compile(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89abAB]{_HEX}{{3}}-?{_HEX}{{12}}")
_HEX_COLOR: Final = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_BYTE_VALUE: Final = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_RGB_COLOR: Final = re.compile(
    rf"rgb\(\s*{_BYTE_VALUE}\s*,\s*{_BYTE_VALUE}\s*,\s*{_BYTE_VALUE}\s*\)", re.ASCII
)
_SSN: Final = re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}", re.ASCII)
_OBJECT_ID: Final = re.compile(rf"{_HEX}{{24}}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)(Z|[+-]\d{2}:?\d{2})?", re.ASCII
)
_SCALA_DURATION: Final = re.compile(
    r"((\d+)\s*(n|ns|nano|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|"
    r"m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?))+",
    re.ASCII,
)
_HOST_LABEL: Final = re.compile(r"[^\W_](?:[^\W_]|-(?=[^-]))*")
_MAIL: Final = re.compile(
    r"(?:[^<>@\"]*<)?[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F.:]+\])>?", re.ASCII
)
_MAC: Final = re.compile(
    rf"{_HEX}{{2}}(?:([:-]){_HEX}{{2}}){{5}}(?:\1{_HEX}{{2}}){{0,14}}|{_HEX}{{4}}(?:\.{_HEX}{{4}}){{2,9}}"
)
_HOST_LENGTH_MAX: Final = 255


def _whole(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_duration(text: str) -> bool:
    try:
        parse_go_duration(text)
    except DurationError:
        return _SCALA_DURATION.fullmatch(text) is not None
    return True


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _is_time(f"{text}T00:00:00Z")


def _is_time(text: str) -> bool:
    try:
        parse_ms(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    return found is not None and _is_time(f"{found[1]}T{found[2]}Z")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _is_uri(text: str) -> bool:
    scheme, colon, rest = text.partition(":")
    if text.startswith("/"):
        return " " not in text
    return (
        bool(colon and rest)
        and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) is not None
        and " " not in text
    )


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    return (
        0 < len(text.encode()) <= _HOST_LENGTH_MAX
        and all(len(label) <= 63 and _HOST_LABEL.fullmatch(label) for label in labels)
        and (len(labels) == 1 or re.fullmatch(r"[^\W\d_]{2,63}", labels[-1]) is not None)
    )


def _digits(text: str) -> str:
    return re.sub(r"[\s-]", "", text)


def _is_isbn10(text: str) -> bool:
    digits = _digits(text)
    if not re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((index + 1) * value for index, value in enumerate(values)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = _digits(text)
    if not re.fullmatch(r"\d{13}", digits, re.ASCII):
        return False
    return sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    if not 12 <= len(digits) <= 19:
        return False
    doubled = [int(digit) * (2 if index % 2 else 1) for index, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _whole(_OBJECT_ID),
    "byte": _is_base64,
    "cidr": lambda text: names.cidr_family(text) != 0,
    "creditcard": _is_credit_card,
    "date": _is_date,
    "datetime": _is_date_time,
    "duration": _is_duration,
    "email": _whole(_MAIL),
    "hexcolor": _whole(_HEX_COLOR),
    "hostname": _is_hostname,
    "ipv4": lambda text: names.ip_family(text) == 4,
    "ipv6": lambda text: names.ip_family(text) == 6,
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "k8slongname": lambda text: not names.is_dns1123_subdomain(text),
    "k8sshortname": lambda text: not names.is_dns1123_label(text),
    "mac": _whole(_MAC),
    "password": lambda _text: True,
    "rgbcolor": _whole(_RGB_COLOR),
    "ssn": _whole(_SSN),
    "uri": _is_uri,
    "uuid": _whole(_UUID),
    "uuid3": _whole(_UUID3),
    "uuid4": _whole(_UUID4),
    "uuid5": _whole(_UUID5),
}
"""By name without dashes: whether a text has the format."""

_NUMBERS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


def effective_format(type_: str, format_: str) -> str:
    """Return a format if values of the type are checked for it, "" for one that is ignored there."""
    if not format_:
        return ""
    if type_ in ("", "string"):
        return format_ if format_.replace("-", "") in CHECKS else ""
    return format_ if format_ in _NUMBERS.get(type_, ()) else ""


def has_format(text: str, format_: str) -> bool:
    """Whether a text has a format; it has every format that is unknown."""
    check = CHECKS.get(format_.replace("-", ""))
    return check is None or check(text)
