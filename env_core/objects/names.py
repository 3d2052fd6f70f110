"""Rules for names, labels, ports, addresses and other short texts, with the words the API server refuses them in.

Every validator returns the list of complaints about one text; an empty list means that it is fine.
Source: k8s.io/apimachinery pkg/util/validation and pkg/api/validate/content of 1.37; texts in
tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

LABEL_LENGTH_MAX = 63
SUBDOMAIN_LENGTH_MAX = 253
PORT_NAME_LENGTH_MAX = 15
INT32_MAX = 2**31 - 1
EMPTY = "must be non-empty"
NOT_NEGATIVE = "must be greater than or equal to 0"
PORT_RANGE = "must be between 1 and 65535, inclusive"
ID_RANGE = f"must be between 0 and {INT32_MAX}, inclusive"
IP_TEXT = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
DOMAIN_PATH_TEXT = 'must be a domain-prefixed path (such as "acme.io/foo")'

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = _LABEL + r"(\." + _LABEL + ")*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = "(" + _QUALIFIED + ")?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"
_PERCENT = "[0-9]+%"
_ENV_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_WILDCARD = r"\*\." + _SUBDOMAIN
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_DOMAIN_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

_label_match = re.compile(_LABEL).fullmatch
_subdomain_match = re.compile(_SUBDOMAIN).fullmatch
_dns1035_match = re.compile(_DNS1035).fullmatch
_qualified_match = re.compile(_QUALIFIED).fullmatch
_label_value_match = re.compile(_LABEL_VALUE).fullmatch
_config_key_match = re.compile(_CONFIG_KEY).fullmatch
_header_match = re.compile(_HEADER).fullmatch
_percent_match = re.compile(_PERCENT).fullmatch
_env_name_match = re.compile(_ENV_NAME).fullmatch
_wildcard_match = re.compile(_WILDCARD).fullmatch
_domain_path_match = re.compile(_DOMAIN_PATH).fullmatch
_c_identifier_match = re.compile(_C_IDENTIFIER).fullmatch
_port_charset_match = re.compile("[-a-z0-9]+").fullmatch
_port_letter_search = re.compile("[a-z]").search


def max_length(length: int) -> str:
    """Return the complaint about a name longer than `length`."""
    return f"must be no more than {length} characters"


def max_bytes(length: int) -> str:
    """Return the complaint about a label or value longer than `length` bytes."""
    return f"must be no more than {length} bytes"


def pattern_text(message: str, pattern: str, *examples: str) -> str:
    """Return `message` with its examples and pattern in brackets."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    shown = " or ".join([f"'{example}', " for example in examples])
    return f"{message} (e.g. {shown}regex used for validation is '{pattern}')"


_LABEL_TEXT = pattern_text(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_SUBDOMAIN_TEXT = pattern_text(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_DNS1035_TEXT = pattern_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)
_QUALIFIED_TEXT = pattern_text(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_LABEL_VALUE_TEXT = pattern_text(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _LABEL_VALUE,
    "MyValue",
    "my_value",
    "12345",
)
_CONFIG_KEY_TEXT = pattern_text(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_KEY,
    "key.name",
    "KEY_NAME",
    "key-name",
)
_HEADER_TEXT = pattern_text(
    "a valid HTTP header must consist of alphanumeric characters or '-'", _HEADER, "X-Header-Name"
)
_PERCENT_TEXT = pattern_text(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT, "1%", "93%"
)
_ENV_NAME_TEXT = pattern_text(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', "
    "and must not start with a digit",
    _ENV_NAME,
    "my.env-name",
    "MY_ENV.NAME",
    "MyEnvName1",
)
_WILDCARD_TEXT = pattern_text(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
    "which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    _WILDCARD,
    "*.example.com",
)
_C_IDENTIFIER_TEXT = pattern_text(
    "a valid C identifier must start with alphabetic character or '_', "
    "followed by a string of alphanumeric characters or '_'",
    _C_IDENTIFIER,
    "my_name",
    "MY_NAME",
    "MyName",
)
_DOMAIN_PATH_REGEX_TEXT = pattern_text("Invalid path", _DOMAIN_PATH, "acme.com/foo")
_RELAXED_ENV_TEXT = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)


@lru_cache(maxsize=4096)
def _dns1123_label(text: str) -> tuple[str, ...]:
    found = (max_length(LABEL_LENGTH_MAX),) if len(text.encode()) > LABEL_LENGTH_MAX else ()
    if _label_match(text):
        return found
    return (*found, "must not contain dots" if _subdomain_match(text) else _LABEL_TEXT)


def is_dns1123_label(text: str) -> list[str]:
    """Check a lower-case DNS label (namespaces, container names, volumes)."""
    return list(_dns1123_label(text))


@lru_cache(maxsize=4096)
def _dns1123_subdomain(text: str) -> tuple[str, ...]:
    found = (max_length(SUBDOMAIN_LENGTH_MAX),) if len(text.encode()) > SUBDOMAIN_LENGTH_MAX else ()
    return found if _subdomain_match(text) else (*found, _SUBDOMAIN_TEXT)


def is_dns1123_subdomain(text: str) -> list[str]:
    """Check a lower-case DNS subdomain (most object names)."""
    return list(_dns1123_subdomain(text))


def is_dns1035_label(text: str) -> list[str]:
    """Check a DNS label that starts with a letter."""
    found = [max_length(LABEL_LENGTH_MAX)] if len(text.encode()) > LABEL_LENGTH_MAX else []
    return found if _dns1035_match(text) else [*found, _DNS1035_TEXT]


def is_wildcard_dns1123_subdomain(text: str) -> list[str]:
    """Check a subdomain that starts with "*." (ingress hosts)."""
    found = [max_length(SUBDOMAIN_LENGTH_MAX)] if len(text.encode()) > SUBDOMAIN_LENGTH_MAX else []
    return found if _wildcard_match(text) else [*found, _WILDCARD_TEXT]


@lru_cache(maxsize=4096)
def _qualified_name(text: str) -> tuple[str, ...]:
    parts = text.split("/")
    found: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            found.append("prefix part " + EMPTY)
        else:
            found += ["prefix part " + complaint for complaint in _dns1123_subdomain(prefix)]
    elif len(parts) > 2:
        return (
            f"a valid label key {_QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    name = parts[-1]
    if not name:
        found.append("name part " + EMPTY)
    elif len(name.encode()) > LABEL_LENGTH_MAX:
        found.append("name part " + max_bytes(LABEL_LENGTH_MAX))
    if not _qualified_match(name):
        found.append("name part " + _QUALIFIED_TEXT)
    return tuple(found)


def is_qualified_name(text: str) -> list[str]:
    """Check a label or annotation key: a name with an optional DNS prefix."""
    return list(_qualified_name(text))


@lru_cache(maxsize=4096)
def _valid_label_value(text: str) -> tuple[str, ...]:
    found = (max_bytes(LABEL_LENGTH_MAX),) if len(text.encode()) > LABEL_LENGTH_MAX else ()
    return found if _label_value_match(text) else (*found, _LABEL_VALUE_TEXT)


def is_valid_label_value(text: str) -> list[str]:
    """Check a label value; the empty one is fine."""
    return list(_valid_label_value(text))


@lru_cache(maxsize=8192)
def is_fine_label(key: str, value: str) -> bool:
    """Tell whether a label's key and value are both fine: the quick answer for the usual case."""
    return not _qualified_name(key) and not _valid_label_value(value)


def is_path_segment_name(text: str) -> list[str]:
    """Check a name that only has to fit in a URL path (RBAC objects)."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in text]


def is_port_name(text: str) -> list[str]:
    """Check a port's name (IANA service name rules)."""
    found = [max_length(PORT_NAME_LENGTH_MAX)] if len(text.encode()) > PORT_NAME_LENGTH_MAX else []
    if not _port_charset_match(text):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _port_letter_search(text):
        found.append("must contain at least one letter (a-z)")
    if "--" in text:
        found.append("must not contain consecutive hyphens")
    if text and (text[0] == "-" or text[-1] == "-"):
        found.append("must not begin or end with a hyphen")
    return found


def is_port_number(number: int) -> list[str]:
    """Check a port number."""
    return [] if 1 <= number <= 65535 else [PORT_RANGE]


def is_in_range(number: int, low: int, high: int) -> list[str]:
    """Check that `low` <= `number` <= `high`."""
    return [] if low <= number <= high else [f"must be between {low} and {high}, inclusive"]


def is_id_number(number: int) -> list[str]:
    """Check a user or group id."""
    return [] if 0 <= number <= INT32_MAX else [ID_RANGE]


def _dot_prefix(text: str) -> list[str]:
    if text in (".", ".."):
        return [f"must not be '{text}'"]
    return ["must not start with '..'"] if text.startswith("..") else []


def is_config_map_key(text: str) -> list[str]:
    """Check a key of a config map or secret."""
    found = [max_length(SUBDOMAIN_LENGTH_MAX)] if len(text.encode()) > SUBDOMAIN_LENGTH_MAX else []
    if not _config_key_match(text):
        return [*found, _CONFIG_KEY_TEXT]
    return [*found, *_dot_prefix(text)]


def is_env_var_name(text: str) -> list[str]:
    """Check an environment variable's name by the relaxed rule of the pod API: printable ASCII without '='."""
    if not text:
        return ["environment variable name " + EMPTY]
    if all(" " <= char <= "~" and char != "=" for char in text):
        return []
    return [_RELAXED_ENV_TEXT]


def is_strict_env_var_name(text: str) -> list[str]:
    """Check an environment variable's name by the old rule, which kubectl and file sources still use."""
    found = [] if _env_name_match(text) else [_ENV_NAME_TEXT]
    return found + _dot_prefix(text)


def is_c_identifier(text: str) -> list[str]:
    """Check a C identifier."""
    return [] if _c_identifier_match(text) else [_C_IDENTIFIER_TEXT]


def is_http_header_name(text: str) -> list[str]:
    """Check an HTTP header's name."""
    return [] if _header_match(text) else [_HEADER_TEXT]


def is_percent(text: str) -> list[str]:
    """Check a percentage such as "25%"."""
    return [] if _percent_match(text) else [_PERCENT_TEXT]


def is_domain_prefixed_path(text: str) -> list[str]:
    """Check a domain, a slash and a path ("acme.io/foo")."""
    domain, slash, path = text.partition("/")
    if not slash or not domain or not path:
        return [DOMAIN_PATH_TEXT]
    found = is_dns1123_subdomain(domain)
    return found if _domain_path_match(path) else [*found, _DOMAIN_PATH_REGEX_TEXT]


@lru_cache(maxsize=4096)
def ip_family(text: str) -> int:
    """Return 4 or 6, or 0 when `text` is no IP address."""
    try:
        return ipaddress.ip_address(text).version if "%" not in text else 0
    except ValueError:
        return 0


def is_ip(text: str) -> list[str]:
    """Check an IP address of either family, in one of the forms that all software reads the same way.

    Source: k8s.io/apimachinery pkg/util/validation/ip.go; tests/golden/l2/facts/errors.jsonl.gz.
    """
    family = ip_family(text)
    if family == 6 and ipaddress.IPv6Address(text).ipv4_mapped is not None:
        return ["must not be an IPv4-mapped IPv6 address"]
    if family:
        return []
    octets = text.split(".")
    if len(octets) == 4 and all(part.isascii() and part.isdigit() and int(part) < 256 for part in octets):
        return ["must not have leading 0s"]
    return [IP_TEXT]


@lru_cache(maxsize=4096)
def cidr_family(text: str) -> int:
    """Return 4 or 6, or 0 when `text` is no CIDR; bits after the prefix are allowed."""
    address, slash, prefix = text.partition("/")
    family = ip_family(address) if slash else 0
    if not family or not (prefix.isascii() and prefix.isdigit()) or (prefix[0] == "0" and len(prefix) > 1):
        return 0
    return family if int(prefix) <= (32 if family == 4 else 128) else 0


def is_cidr(text: str) -> list[str]:
    """Check a network in CIDR notation of either family."""
    return [] if cidr_family(text) else [CIDR_TEXT]
