"""`format.dns1123Label()` and the other named formats.

Source: k8s.io/apiserver v0.37 pkg/cel/library/format.go; k8s.io/kube-openapi pkg/validation/strfmt for the patterns.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._conversions import to_timestamp
from env_core.cel._costs import regex
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import STRING
from env_core.cel._values import NONE, CelError, Opaque, Optional
from env_core.cel.libraries.urls import request_uri_problem
from env_core.objects import names

FORMAT: Final = _types.struct("kubernetes.NamedFormat")
_PROBLEMS: Final = _types.optional_of(_types.list_of(STRING))
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class _Format(Opaque):
    """A named format; `pattern_size` is what cost rules take for the length of its expression."""

    name: str
    check: Callable[[str], list[str]]
    pattern_size: int
    cel_type = FORMAT

    def __str__(self) -> str:
        return self.name


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return the check of a generateName: its trailing dash does not count."""
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    problem = request_uri_problem(text)
    return [problem] if problem else []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    is_date = _DATE.fullmatch(text) and not isinstance(to_timestamp(f"{text}T00:00:00Z"), CelError)
    return [] if is_date else ["invalid date"]


def _datetime(text: str) -> list[str]:
    moment = text.upper().replace(" ", "T") if len(text) > 10 else text
    return ["invalid datetime"] if isinstance(to_timestamp(moment), CelError) else []


_FORMATS: Final = {
    "dns1123Label": _Format("DNS1123Label", names.is_dns1123_label, 30),
    "dns1123Subdomain": _Format("DNS1123Subdomain", names.is_dns1123_subdomain, 60),
    "dns1035Label": _Format("DNS1035Label", names.is_dns1035_label, 30),
    "qualifiedName": _Format("QualifiedName", names.is_qualified_name, 60),
    "dns1123LabelPrefix": _Format("DNS1123LabelPrefix", _prefix(names.is_dns1123_label), 30),
    "dns1123SubdomainPrefix": _Format("DNS1123SubdomainPrefix", _prefix(names.is_dns1123_subdomain), 60),
    "dns1035LabelPrefix": _Format("DNS1035LabelPrefix", _prefix(names.is_dns1035_label), 30),
    "labelValue": _Format("LabelValue", names.is_valid_label_value, 40),
    "uri": _Format("URI", _uri, 1103),
    "uuid": _Format("uuid", _uuid, 70),
    "byte": _Format("byte", _byte, 84),
    "date": _Format("date", _date, 71),
    "datetime": _Format("datetime", _datetime, 71),
}


def _named(name: str) -> Optional:
    found = _FORMATS.get(name)
    return NONE if found is None else Optional(found, True)


def _validate(format_: _Format, text: str) -> Optional:
    problems = format_.check(text)
    return Optional(problems, True) if problems else NONE


def _validate_cost(args: Sequence[Any], _result: Any) -> int:
    format_, text = args
    if not isinstance(format_, _Format) or not isinstance(text, str):
        return 1
    return regex(len(text), format_.pattern_size)


def _constant(name: str) -> Function:
    value = _FORMATS[name]
    return Function((overload(f"format.{name}", (), FORMAT, lambda: value),))


LIBRARY = Library(
    order=18,
    functions={
        "validate": Function(
            (member("format-validate", (FORMAT, STRING), _PROBLEMS, _validate, cost=_validate_cost),)
        ),
        "format.named": Function((overload("format-named", (STRING,), _types.optional_of(FORMAT), _named),)),
        **{f"format.{name}": _constant(name) for name in _FORMATS},
    },
    types=(FORMAT,),
    source="k8s.io/apiserver v0.37 pkg/cel/library/format.go",
)
