"""YAML as Go reads it: scalars, keys and complaints of go-yaml v2, bounded in depth and size.

Source: gopkg.in/yaml.v2, sigs.k8s.io/yaml; tests/golden/l0/kubectl_decode.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import Any

import yaml

DEPTH_MAX = 100
"""Deeper documents are refused in the words that Go keeps for a depth of 10000."""
TOO_DEEP = "exceeded max depth of 10000"
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_MAY_BE_DEEP = re.compile(r"(?m)^ {100}|^(?:- ){60}|(?:- ?){60}")
_DIGITS_MAX = 300
_NODES_MAX = 100_000
_TRUE_FALSE = "y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF"


class YamlProblem(ValueError):
    """Raised for text that is no YAML; what go-yaml says of it, without the "yaml: " in front."""


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """Resolves plain scalars as go-yaml v2 does; timestamps and base-60 numbers stay text."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", rf"^(?:{_TRUE_FALSE})$", "yYnNtTfFoO"),
    ("int", r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+0123456789.",
    ),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class _KeyProblem(Exception):
    """A mapping key that JSON cannot have, or a scalar that is not what its tag says."""


def _check_tag(loader: Any, node: Any, *fitting: str) -> None:
    """Refuse a scalar whose written tag is not that of its text.

    Raises:
        _KeyProblem: in go-yaml's words.
    """
    found = loader.resolve(yaml.ScalarNode, node.value, (True, False)).rpartition(":")[2]
    wanted = node.tag.rpartition(":")[2]
    if found not in (wanted, *fitting):
        raise _KeyProblem(f"cannot decode !!{found} `{node.value}` as a !!{wanted}")


def _bool(loader: Any, node: Any) -> bool:
    lowered = str(loader.construct_scalar(node)).lower()
    if lowered in ("y", "yes", "true", "on"):
        return True
    if lowered not in ("n", "no", "false", "off"):
        _check_tag(loader, node)
    return False


def _int(loader: Any, node: Any) -> int | str:
    text = str(loader.construct_scalar(node)).replace("_", "")
    digits = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    if len(digits) > _DIGITS_MAX:
        # No number that Go could hold: it stays text.
        return text
    base = 0 if digits[:2] in ("0b", "0x", "0o") else 8 if len(digits) > 1 and digits[0] == "0" else 10
    try:
        return sign * int(digits, base)
    except ValueError:
        _check_tag(loader, node)
        return text


def _mapping(loader: Any, node: Any) -> Any:
    result: dict[str, Any] = {}
    yield result
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        value = loader.construct_object(value_node, deep=True)
        result[_json_key(key)] = value


def _json_key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, (int, float)):
        return str(key)
    if key is None:
        return "null"
    raise _KeyProblem(f"invalid map key: {_go_value(key)}")


def _go_value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f'"{key}":{_go_value(item)}' for key, item in sorted(value.items()))
        return f"map[interface {{}}]interface {{}}{{{inside}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(map(_go_value, value)) + "}"
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)


def _binary(loader: Any, node: Any) -> str:
    try:
        return b64decode(str(loader.construct_scalar(node)), validate=True).decode("utf-8", "surrogateescape")
    except (ValueError, UnicodeEncodeError):
        raise _KeyProblem("!!binary value contains invalid base64 data") from None


def _float(loader: Any, node: Any) -> float:
    try:
        found: float = loader.construct_yaml_float(node)
    except ValueError:
        _check_tag(loader, node, "int")
        raise _KeyProblem(f"cannot decode !!str `{node.value}` as a !!float") from None
    return found


def _null(loader: Any, node: Any) -> None:
    if node.value:
        _check_tag(loader, node)


def _text(loader: Any, node: Any) -> Any:
    """Read what Go has no type for as what it is made of."""
    if isinstance(node, yaml.MappingNode):
        return {_json_key(key): value for key, value in loader.construct_pairs(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)
_Loader.add_constructor("tag:yaml.org,2002:binary", _binary)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)
_Loader.add_constructor("tag:yaml.org,2002:null", _null)
for _tag in ("timestamp", "set", "omap", "pairs"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _text)
_Loader.add_multi_constructor("", lambda loader, _suffix, node: _text(loader, node))
_Loader.add_constructor("tag:yaml.org,2002:int", _int)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_yaml(text: str) -> Any:
    """Return the value of one YAML document, JSON-shaped.

    Raises:
        YamlProblem: for what is no YAML, too deep, or blown up by its aliases.
    """
    try:
        problem = _structure_problem(text)
        if not problem:
            return yaml.load(text, Loader=_Loader)
    except _KeyProblem as why:
        problem = str(why)
    except yaml.MarkedYAMLError as error:
        problem = _yaml_problem(text, error)
    except (yaml.YAMLError, RecursionError) as error:
        problem = str(error)
    raise YamlProblem(problem)


def structure_of(text: str) -> None:
    """Check that the first document of a text is YAML of a bearable size, whatever its scalars mean.

    Raises:
        YamlProblem: as `read_yaml`.
    """
    try:
        problem = _structure_problem(text)
        if not problem:
            next(yaml.compose_all(text, Loader=_Loader), None)
    except yaml.MarkedYAMLError as error:
        problem = _yaml_problem(text, error)
    except (yaml.YAMLError, RecursionError) as error:
        problem = str(error)
    if problem:
        raise YamlProblem(problem)


def _structure_problem(part: str) -> str:
    """Return go-yaml's words for a document that is too deep or that its aliases blow up, "" for others.

    Source: gopkg.in/yaml decode.go (document contains excessive aliasing, anchor value contains itself).
    """
    is_aliased = "*" in part and "&" in part
    if not is_aliased and not _MAY_BE_DEEP.search(part) and part.count("{") + part.count("[") <= DEPTH_MAX:
        return ""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    nodes = 0
    for event in yaml.parse(part, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_nodes):
                return f"anchor '{event.anchor}' value contains itself"
            nodes += sizes.get(event.anchor or "", 0)
        elif isinstance(event, yaml.ScalarEvent):
            nodes += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, nodes))
            nodes += 1
            if len(open_nodes) > DEPTH_MAX:
                return TOO_DEEP
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = nodes - before
        if nodes > _NODES_MAX:
            return "document contains excessive aliasing"
    return ""


def _yaml_problem(part: str, error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "unknown"
    if isinstance(error, yaml.composer.ComposerError) and "undefined alias" in problem:
        # libyaml says `found undefined alias`; the name stands at the mark.
        at = error.problem_mark.index if error.problem_mark is not None else 0
        name = re.match(r"\*([A-Za-z0-9_-]*)", part[at:])
        return f"unknown anchor '{name.group(1) if name else ''}' referenced"
    mark = error.problem_mark
    line = 0 if mark is None else mark.line
    context = error.context_mark
    # go-yaml counts the scanner's lines from one, the parser's from zero; the first one it tells only there.
    if isinstance(error, yaml.scanner.ScannerError):
        line = line or (0 if context is None else context.line)
        line += 1 if line else 0
    elif context is not None and line == 0:
        line = context.line
    return f"line {line}: {problem}" if line else problem


def bracket_depth(text: str) -> int:
    """Return how deep the brackets of a JSON text nest."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        if bracket in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "}]":
            depth -= 1
    return deepest
