"""Dotted paths into a kubeconfig, as `config set` and `config unset` read them.

Source: k8s.io/kubectl pkg/cmd/config navigation_step_parser.go, set.go (modifyConfig).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import replace
from typing import Any

from env_core.kubectl.kubeconfig import CLUSTER_FIELDS, CONTEXT_FIELDS, USER_FIELDS, Kubeconfig
from env_core.kubectl.parser import FALSE, TRUE
from env_core.kubectl.screen import Failure
from env_core.objects.problems import quoted

_ENTRIES = {
    "clusters": ("api.Cluster", CLUSTER_FIELDS),
    "users": ("api.AuthInfo", USER_FIELDS),
    "contexts": ("api.Context", CONTEXT_FIELDS),
}
_TEXTS = ("current-context", "kind", "apiVersion")


def modified(config: Kubeconfig, path: str, value: str | None, *, is_raw: bool = True) -> Kubeconfig:
    """Return the config with `value` at `path`; without what is there when `value` is None.

    Raises:
        Failure: when the path leads nowhere, or to what cannot have the value.
    """
    first, *rest = path.split(".")
    if first in _TEXTS:
        if rest:
            raise Failure(f"unable to parse one or more field values of {path}")
        return replace(config, current_context=value or "") if first == "current-context" else config
    if first not in _ENTRIES:
        raise Failure(f"unable to parse {path} after [] at api.Config")
    type_name, fields = _ENTRIES[first]
    if not rest:
        if value is None:
            return config.with_entries(first, {})
        raise Failure(f"can't set a map to a value: {_map_text(config, first, type_name)}")
    # A name may have dots: it ends where a field of the entry follows.
    length = next((index for index, word in enumerate(rest) if index and word in fields), len(rest))
    name, inner = ".".join(rest[:length]), rest[length:]
    if not inner:
        if value is None:
            return config.with_entry(first, name, None)
        raise Failure(f"can't set a map to a value: {_map_text(config, first, type_name)}")
    field, *beyond = inner
    if beyond:
        raise Failure(f"unable to parse one or more field values of {path}")
    entry = config.entries(first).get(name)
    if entry is None and value is None:
        raise Failure(f"current map key `{name}` is invalid")
    kept = {key: old for key, old in (entry or {}).items() if key != field}
    if value is not None:
        kept[field] = _value(fields[field], value, is_raw=is_raw)
    return config.with_entry(first, name, kept)


def _map_text(config: Kubeconfig, part: str, type_name: str) -> str:
    # Go prints addresses: no two runs have the same.
    return "map[" + " ".join(f"{name}:0xc000000000" for name in sorted(config.entries(part))) + "]"


def _value(kind: type, text: str, *, is_raw: bool) -> Any:
    if kind is str:
        return text
    if kind is bool:
        if text in TRUE:
            return True
        if text in FALSE:
            return False
        raise Failure(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
    if kind is bytes:
        try:
            data = text.encode() if is_raw else b64decode(text, validate=True)
        except Base64Error:
            at = next((index for index, char in enumerate(text) if not (char.isalnum() or char in "+/=")), 0)
            raise Failure(f"error decoding input value: illegal base64 data at input byte {at}") from None
        return b64encode(data).decode()
    if kind is list:
        raise Failure("unrecognized slice type. string")
    raise Failure("unrecognized type: <nil>")
