"""Resources from YAML: documents, their scalars as go-yaml v3 reads them, lists taken apart, metadata checked.

Source: sigs.k8s.io/kustomize/kyaml kio (byteio_reader.go), yaml (rnode.go); kustomize/api resource (factory.go);
gopkg.in/yaml.v3 resolve.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.values import NULL, is_nothing, is_null, text_of
from env_core.objects.yamlin import YamlProblem, structure_of

_SEPARATOR: Final = re.compile(r"\n---.*\n")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT: Final = re.compile(r"([-+]?)(0[bB][01]+|0[oO][0-7]+|0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_MOMENT: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt]| )(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d{1,9})?(Z|[-+]\d{2}:\d{2})?"
)
_INT_MAX: Final = 2**64


@dataclass(slots=True)
class Document:
    """One resource as read: its tree, and what is wrong with it that shows only when it is printed."""

    tree: Any
    repeats: list[str] = field(default_factory=list)


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """Resolves plain scalars as go-yaml v3 does."""

    repeats: list[str]


_Loader.yaml_implicit_resolvers = {}
_Loader.yaml_constructors = dict(_Loader.yaml_constructors)
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("go.number", r"^[-+.0-9][^\n]*$", list("-+.0123456789")),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"^<<$", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def _number(loader: Any, node: Any) -> Any:
    text = str(loader.construct_scalar(node))
    moment = _moment(text)
    if moment:
        return moment
    digits = text.replace("_", "")
    found = _INT.fullmatch(digits)
    if found is not None:
        sign, number = found.groups()
        base = 8 if len(number) > 1 and number[0] == "0" and number[1].isdigit() else 0
        value = int(number, base) * (-1 if sign == "-" else 1)
        if -(2**63) <= value < _INT_MAX:
            return value
    if _FLOAT.fullmatch(digits):
        return _whole(float(digits))
    special = re.fullmatch(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)", text)
    if special is not None:
        return float("nan") if special.group(3) else float(f"{special.group(1)}inf")
    return text


def _whole(value: float) -> float | int:
    """Return what JSON makes of a float that has no fraction."""
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _moment(text: str) -> str:
    """Return a timestamp as Go writes it in JSON, "" for what is none."""
    found = _DATE.fullmatch(text)
    if found is not None:
        year, month, day = (int(part) for part in found.groups())
        return f"{year:04}-{month:02}-{day:02}T00:00:00Z" if 0 < month < 13 and 0 < day < 32 else ""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return ""
    numbers = [int(part) for part in found.groups()[:6]]
    fraction = (found.group(7) or "").rstrip("0").rstrip(".")
    return "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*numbers) + fraction + (found.group(8) or "Z")


def _null(_loader: Any, node: Any) -> Any:
    return NULL if node.value else None


def _mapping(loader: Any, node: Any) -> Any:
    result: dict[Any, Any] = {}
    yield result
    seen: dict[Any, int] = {}
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        value = loader.construct_object(value_node, deep=True)
        if isinstance(key, (dict, list)):
            key = str(key)
        if is_null(key):
            key = "null"
        line = key_node.start_mark.line + 1
        if key in seen and seen[key] >= 0:
            loader.repeats.append(
                f'line {line}: mapping key "{text_of(key)}" already defined at line {seen[key]}'
            )
        seen[key] = line
        result[key] = value


def _binary(loader: Any, node: Any) -> str:
    return b64decode(loader.construct_scalar(node)).decode("utf-8", "surrogateescape")


def _unknown(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:go.number", _number)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("tag:yaml.org,2002:null", _null)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:binary", _binary)
_Loader.add_multi_constructor("!", _unknown)


def read_resources(text: str) -> list[Document]:
    """Return the resources of a file.

    Raises:
        KustomizeError: for what is no YAML, and for what has no kind or name.
    """
    queue = _checked(_documents(text))
    found: list[Document] = []
    while queue:
        document = queue.pop(0)
        kind = text_of(document.tree.get("kind"))
        if not kind.endswith("List") or "items" not in document.tree:
            found.append(document)
            continue
        items = document.tree["items"]
        if is_null(items):
            continue
        if not isinstance(items, list):
            raise KustomizeError(f"expected array in {kind}/items, but found {_go_type(items)}")
        queue.extend(_checked([Document(item) for item in items]))
    return found


def read_tree(text: str) -> Document:
    """Return the first document of a text.

    Raises:
        KustomizeError: for what is no YAML.
    """
    try:
        structure_of(text)
        loader = _Loader(text)
        loader.repeats = []
        try:
            node = loader.get_node() if loader.check_node() else None
            tree = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except YamlProblem as problem:
        raise KustomizeError(f"MalformedYAMLError: yaml: {problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise KustomizeError(f"MalformedYAMLError: yaml: {error}") from None
    return Document(tree, loader.repeats)


def _documents(text: str) -> list[Document]:
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    start = 0
    for separator in _SEPARATOR.finditer(text):
        behind = separator.group()[4:].strip()
        if behind and not behind.startswith("#"):
            raise KustomizeError(f"invalid document separator: {separator.group().strip()}")
        parts.append(text[start : separator.start()] + "\n")
        start = separator.end()
    parts.append(text[start:])
    found: list[Document] = []
    for part in parts:
        document = read_tree(part)
        tree = document.tree
        if is_null(tree):
            continue
        is_list = isinstance(tree, dict) and tree.get("kind") in ("ResourceList", "List")
        if len(parts) == 1 and is_list and ("items" in tree or "functionConfig" in tree):
            items = tree.get("items")
            found.extend(Document(item) for item in (items if isinstance(items, list) else ()))
        else:
            found.append(document)
    return found


def _checked(documents: list[Document]) -> list[Document]:
    """Return the documents that hold something.

    Raises:
        KustomizeError: for the first one without a kind or name.
    """
    kept = [document for document in documents if not is_nothing(document.tree)]
    for document in kept:
        check_metadata(document.tree)
    return kept


def check_metadata(tree: Any) -> None:
    """Refuse what has no kind or name.

    Raises:
        KustomizeError: in the words of GetValidatedMetadata.
    """
    fields = tree if isinstance(tree, dict) else {}
    if all(is_nothing(fields.get(name)) for name in ("apiVersion", "kind", "metadata")):
        raise KustomizeError("missing Resource metadata")
    version, kind = text_of(fields.get("apiVersion")), text_of(fields.get("kind"))
    if not kind:
        raise KustomizeError(f"missing kind in object {_meta_text(fields, version, kind)}")
    metadata = fields.get("metadata")
    name = text_of(metadata.get("name")) if isinstance(metadata, dict) else ""
    if not name and not kind.endswith("List"):
        raise KustomizeError(f"missing metadata.name in object {_meta_text(fields, version, kind)}")


def _meta_text(fields: dict[str, Any], version: str, kind: str) -> str:
    metadata = fields.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}

    def shown(name: str) -> str:
        pairs = inner.get(name)
        if not isinstance(pairs, dict):
            return "map[]"
        return "map[" + " ".join(f"{key}:{text_of(pairs[key])}" for key in sorted(pairs, key=text_of)) + "]"

    names = f"{{{text_of(inner.get('name'))} {text_of(inner.get('namespace'))}}}"
    return f"{{{{{version} {kind}}} {{{names} {shown('labels')} {shown('annotations')}}}}}"


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, bool):
        return "bool"
    return "string" if isinstance(value, str) else "int" if isinstance(value, int) else "float64"
