"""Manifests as kubectl reads them: several YAML or JSON documents, lists taken apart.

Source: k8s.io/cli-runtime pkg/resource StreamVisitor, apimachinery pkg/util/yaml; tests/golden/l0/kubectl_decode.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from env_core.kubectl.screen import Failure
from env_core.objects.gojson import whole
from env_core.objects.jsonout import to_compact_json
from env_core.objects.yamlin import DEPTH_MAX, TOO_DEEP, YamlProblem, bracket_depth, read_yaml
from env_core.world import Object

_SEPARATOR = re.compile(r"(?:^|\n)---[^\n]*(?:\n|\Z)")
_BYTES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Manifests:
    """The objects read before the first error, and that error.

    `lists` tells for every object the number of the list that it comes from: 0 for none, above it for a v1 List, below
    it for a list of one kind.
    """

    objects: tuple[Object, ...]
    error: Failure | None
    lists: tuple[int, ...] = ()


@lru_cache(maxsize=256)
def read_manifests(text: str, source: str) -> Manifests:
    """Return the objects of `text`; `source` is the path, or STDIN, that errors name."""
    objects: list[Object] = []
    lists: list[int] = []
    text = _BYTES.sub("\ufffd", text)
    try:
        for number, document in enumerate(_documents(text, source), 1):
            found = _flat(_checked(document, source))
            objects.extend(found)
            lists.extend([_list_number(document, number)] * len(found))
    except Failure as failure:
        return Manifests(tuple(objects), failure, tuple(lists))
    return Manifests(tuple(objects), None, tuple(lists))


def _list_number(document: Object | None, number: int) -> int:
    if not document or not _is_list(document):
        return 0
    return number if (document.get("apiVersion"), document["kind"]) == ("v1", "List") else -number


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
    text = whole(text)
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text):
            return
        if text.count("{") + text.count("[") > DEPTH_MAX and bracket_depth(text) > DEPTH_MAX:
            raise Failure(f"error parsing {source}: json: {TOO_DEEP}")
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            # Not JSON after all: YAML flow style starts with a brace too.
            if at == 0:
                try:
                    value = read_yaml(text)
                except YamlProblem:
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
        return read_yaml(part)
    except YamlProblem as problem:
        raise Failure(f"error parsing {source}: error converting YAML to JSON: yaml: {problem}") from None


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


def _is_list(document: Object) -> bool:
    return document["kind"].endswith("List") and isinstance(document.get("items"), list)


def _flat(document: Object) -> list[Object]:
    """Return the items of a list, or the object itself."""
    if not document:
        return []
    if not _is_list(document):
        return [document]
    found: list[Object] = []
    for item in document["items"]:
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
