"""Manifests as kubectl reads them: several YAML or JSON documents, lists taken apart.

Source: k8s.io/cli-runtime pkg/resource StreamVisitor, apimachinery pkg/util/yaml; tests/golden/l0/kubectl_decode.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from env_core.kubectl.screen import Failure
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_MAY_BE_DEEP = re.compile(r"(?m)^ {100}|^(?:- ){60}|(?:- ?){60}")
_SEPARATOR = re.compile(r"(?:^|\n)---[^\n]*(?:\n|\Z)")
_BYTES = re.compile("[\ud800-\udfff]")
_DIGITS_MAX = 300
_DEPTH_MAX = 100
"""Deeper documents are refused in the words that Go keeps for a depth of 10000."""
_NODES_MAX = 100_000
_TOO_DEEP = "exceeded max depth of 10000"
_TRUE_FALSE = "y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF"


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


def _bool(loader: Any, node: Any) -> bool:
    return str(loader.construct_scalar(node)).lower() in ("y", "yes", "true", "on")


def _int(loader: Any, node: Any) -> int | str:
    text = str(loader.construct_scalar(node)).replace("_", "")
    digits = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    if len(digits) > _DIGITS_MAX:
        # No number that Go could hold: it stays text.
        return text
    if digits[:2] in ("0b", "0x", "0o"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)


class _KeyProblem(Exception):
    """A mapping key that JSON cannot have."""


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


_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _int)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


@dataclass(frozen=True, slots=True)
class Manifests:
    """The objects read before the first error, and that error."""

    objects: tuple[Object, ...]
    error: Failure | None


@lru_cache(maxsize=256)
def read_manifests(text: str, source: str) -> Manifests:
    """Return the objects of `text`; `source` is the path, or STDIN, that errors name."""
    objects: list[Object] = []
    text = _BYTES.sub("\ufffd", text)
    try:
        for document in _documents(text, source):
            objects.extend(_flat(_checked(document, source)))
    except Failure as failure:
        return Manifests(tuple(objects), failure)
    return Manifests(tuple(objects), None)


def _documents(text: str, source: str) -> Any:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if text.lstrip().startswith("{"):
        yield from _json_documents(text, source)
        return
    for part in _SEPARATOR.split(text):
        if part.strip():
            yield _yaml_document(part, source)


def _json_documents(text: str, source: str) -> Any:
    decoder = json.JSONDecoder()
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text):
            return
        if text.count("{") + text.count("[") > _DEPTH_MAX and _bracket_depth(text) > _DEPTH_MAX:
            raise Failure(f"error parsing {source}: json: {_TOO_DEEP}")
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            # Not JSON after all: YAML flow style starts with a brace too.
            if at == 0:
                try:
                    value = None if _structure_problem(text) else yaml.load(text, Loader=_Loader)
                except (yaml.YAMLError, _KeyProblem):
                    value = None
                if isinstance(value, dict):
                    yield value
                    return
            raise Failure(f"error parsing {source}: {_json_problem(text, error)}") from None
        yield value


def _json_problem(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].strip()
    if not rest:
        return "unexpected EOF"
    offset = error.pos + len(text[error.pos :]) - len(text[error.pos :].lstrip()) + 1
    char = "'\\''" if rest[0] == "'" else "'\\\"'" if rest[0] == '"' else f"'{rest[0]}'"
    where = {
        "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
        "Illegal trailing comma before end of object": "looking for beginning of object key string",
        "Expecting ':' delimiter": "after object key",
        "Expecting value": "looking for beginning of value",
    }.get(error.msg, "after object key:value pair")
    return f"json: offset {offset}: invalid character {char} {where}"


def _yaml_document(part: str, source: str) -> Any:
    try:
        text = _structure_problem(part)
        if not text:
            return yaml.load(part, Loader=_Loader)
    except _KeyProblem as problem:
        text = str(problem)
    except yaml.MarkedYAMLError as error:
        text = _yaml_problem(part, error)
    except yaml.YAMLError as error:
        text = str(error)
    raise Failure(f"error parsing {source}: error converting YAML to JSON: yaml: {text}")


def read_yaml(text: str, source: str) -> Any:
    """Return the value of one YAML document of any kind.

    Raises:
        Failure: when it cannot be read, or would grow beyond bounds.
    """
    return _yaml_document(text, source)


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        if bracket in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "}]":
            depth -= 1
    return deepest


def _structure_problem(part: str) -> str:
    """Return go-yaml's words for a document that is too deep or that its aliases blow up, "" for others.

    Source: gopkg.in/yaml decode.go (document contains excessive aliasing, anchor value contains itself).
    """
    is_aliased = "*" in part and "&" in part
    if not is_aliased and not _MAY_BE_DEEP.search(part) and part.count("{") + part.count("[") <= _DEPTH_MAX:
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
            if len(open_nodes) > _DEPTH_MAX:
                return _TOO_DEEP
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
    # go-yaml counts the scanner's lines from one, the parser's from zero.
    if isinstance(error, yaml.scanner.ScannerError):
        line += 1
        if problem.startswith("mapping values are not allowed") and line == 1:
            return problem
    elif context is not None and line == 0:
        line = context.line
    return f"line {line}: {problem}" if line else problem


def _checked(document: Any, source: str) -> Object:
    """Return the document if it is an object with a kind.

    Raises:
        Failure: in the words of the unstructured decoder.
    """
    if document is None:
        return {}
    where = f'unable to decode "{source}": '
    if not isinstance(document, dict):
        raise Failure(
            f"{where}json: cannot unmarshal {_json_type(document)} into Go value of type unstructured.detector"
        )
    if not document:
        return {}
    kind = document.get("kind")
    if not isinstance(kind, str) or not kind:
        raise Failure(f"{where}Object 'Kind' is missing in '{to_compact_json(document)}'")
    _check_types(document, where)
    return document


def _check_types(document: Object, where: str) -> None:
    version = document.get("apiVersion", "")
    if not isinstance(version, str):
        field = "metadataOnlyObject.TypeMeta.apiVersion of type string"
        raise Failure(f"{where}json: cannot unmarshal {_json_type(version)} into Go struct field {field}")
    metadata = document.get("metadata")
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        field = "metadataOnlyObject.metadata of type v1.ObjectMeta"
        raise Failure(f"{where}json: cannot unmarshal {_json_type(metadata)} into Go struct field {field}")
    for name in ("name", "generateName", "namespace"):
        value = metadata.get(name)
        if value is not None and not isinstance(value, str):
            field = f"ObjectMeta.metadata.{name} of type string"
            raise Failure(f"{where}json: cannot unmarshal {_json_type(value)} into Go struct field {field}")
    for name in ("labels", "annotations"):
        for value in (metadata.get(name) or {}).values() if isinstance(metadata.get(name), dict) else ():
            if value is not None and not isinstance(value, str):
                field = f"ObjectMeta.metadata.{name} of type string"
                raise Failure(
                    f"{where}json: cannot unmarshal {_json_type(value)} into Go struct field {field}"
                )


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _flat(document: Object) -> list[Object]:
    """Return the items of a list, or the object itself."""
    if not document:
        return []
    items = document.get("items")
    if not (document["kind"].endswith("List") and isinstance(items, list)):
        return [document]
    found: list[Object] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        if "kind" not in item and document["kind"] != "List":
            item = {"apiVersion": document.get("apiVersion", ""), "kind": document["kind"][:-4], **item}
        if not isinstance(item.get("kind"), str):
            raise Failure(
                'unable to get type info from the object "*unstructured.Unstructured": '
                "Object 'Kind' is missing in 'object has no kind field '"
            )
        found.extend(_flat(item))
    return found
