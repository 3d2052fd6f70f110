"""What makes config maps and secrets invalid.

Source: kubernetes pkg/apis/core/validation; tests/golden/l0/validation.jsonl.gz, tests/golden/l2/defaults.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from env_core.kinds._configdata_bytes import byte_length, decoded
from env_core.objects import gojson, names
from env_core.objects.problems import Problem, forbidden, invalid, required, too_long
from env_core.world import Object

BYTES_MAX = 1024 * 1024
ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"
TOKEN_TYPE = "kubernetes.io/service-account-token"

_IMMUTABLE = "field is immutable when `immutable` is set"
_REDACTED = "<secret contents redacted>"


def validate_config_map(obj: Object) -> list[Problem]:
    """Check a config map: its keys, and that it is at most 1 MiB."""
    data = obj.get("data") or {}
    binary = obj.get("binaryData") or {}
    found: list[Problem] = []
    for key in sorted(data):
        found += _key_problems(key, "data")
        if key in binary:
            found.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in sorted(binary):
        found += _key_problems(key, "binaryData")
    size = sum(len(value.encode()) for value in data.values()) + _decoded_size(binary.values())
    if size > BYTES_MAX:
        found.append(too_long("[]", BYTES_MAX))
    return found


def validate_config_map_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed config map: an immutable one keeps its data."""
    return _immutable_problems(new, old, ("data", "binaryData")) + validate_config_map(new)


def validate_secret(obj: Object) -> list[Problem]:
    """Check a secret whose `stringData` has been merged: keys, size, and what its type asks for."""
    data = obj.get("data") or {}
    found: list[Problem] = []
    for key in sorted(data):
        found += _key_problems(key, "data")
    if _decoded_size(data.values()) > BYTES_MAX:
        found.append(too_long("data", BYTES_MAX))
    kind = obj.get("type") or ""
    if kind == TOKEN_TYPE:
        if not ((obj.get("metadata") or {}).get("annotations") or {}).get(ACCOUNT_ANNOTATION):
            found.append(required(f"metadata.annotations[{ACCOUNT_ANNOTATION}]"))
    elif kind in _TYPE_RULES:
        found += _TYPE_RULES[kind](data)
    return found


def validate_secret_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed secret: the type stays, an immutable one keeps its data."""
    found: list[Problem] = []
    if new.get("type") != old.get("type"):
        found.append(invalid("type", new.get("type"), "field is immutable"))
    return found + _immutable_problems(new, old, ("data",)) + validate_secret(new)


def _key_problems(key: str, field: str) -> list[Problem]:
    return [invalid(f"{field}[{key}]", key, text) for text in names.is_config_map_key(key)]


def _decoded_size(values: Iterable[str]) -> int:
    return sum(byte_length(value) for value in values)


def _immutable_problems(new: Object, old: Object, fields: tuple[str, ...]) -> list[Problem]:
    if not old.get("immutable"):
        return []
    found = [] if new.get("immutable") else [forbidden("immutable", _IMMUTABLE)]
    found += [forbidden(key, _IMMUTABLE) for key in fields if (new.get(key) or {}) != (old.get(key) or {})]
    return found


def _tls_problems(data: dict[str, str]) -> list[Problem]:
    return [required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data]


def _basic_auth_problems(data: dict[str, str]) -> list[Problem]:
    if "username" in data or "password" in data:
        return []
    return [required("data[username]"), required("data[password]")]


def _ssh_auth_problems(data: dict[str, str]) -> list[Problem]:
    return [] if data.get("ssh-privatekey") else [required("data[ssh-privatekey]")]


def _json_rule(key: str) -> Callable[[dict[str, str]], list[Problem]]:
    def problems(data: dict[str, str]) -> list[Problem]:
        if key not in data:
            return [required(f"data[{key}]")]
        text = _json_object_complaint(decoded(data[key]))
        return [invalid(f"data[{key}]", _REDACTED, text)] if text else []

    return problems


def _json_object_complaint(text: bytes) -> str:
    """Return what Go says when it reads `text` into a map, "" when that works (`null` does)."""
    try:
        value = gojson.read(text)
    except gojson.JsonSyntaxError as why:
        return str(why)
    if value is None or isinstance(value, dict):
        return ""
    return f"json: cannot unmarshal {gojson.kind_word(value)} into Go value of type map[string]interface {{}}"


_TYPE_RULES: dict[str, Callable[[dict[str, str]], list[Problem]]] = {
    "kubernetes.io/basic-auth": _basic_auth_problems,
    "kubernetes.io/dockercfg": _json_rule(".dockercfg"),
    "kubernetes.io/dockerconfigjson": _json_rule(".dockerconfigjson"),
    "kubernetes.io/ssh-auth": _ssh_auth_problems,
    "kubernetes.io/tls": _tls_problems,
}
