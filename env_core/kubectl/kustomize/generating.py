"""Config maps and secrets made of literals and files, and the hashes of their content.

Source: sigs.k8s.io/kustomize/api internal/generators, kv, hasher, types (generatoroptions.go).
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from base64 import b64encode
from typing import Any, Final

from env_core.kubectl.kustomize.loading import Loader
from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.kubectl.kustomize.resource import Resource
from env_core.kubectl.kustomize.values import is_null, plain, text_of
from env_core.objects.jsonout import to_compact_json

_LINE: Final = 70
_LETTERS: Final = str.maketrans("013ae", "ghkmt")


def generate(loader: Loader, args: dict[str, Any], options: dict[str, Any] | None, kind: str) -> Resource:
    """Return the resource of one entry of configMapGenerator or secretGenerator.

    Raises:
        KustomizeError: for entries without a name, and sources that cannot be read.
    """
    name = args.get("name") or ""
    if not name:
        raise KustomizeError("a configmap must have a name")
    metadata: dict[str, Any] = {"name": name}
    if args.get("namespace"):
        metadata["namespace"] = args["namespace"]
    tree: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Secret":
        tree["type"] = args.get("type") or "Opaque"
    try:
        pairs = _pairs(loader, args)
    except KustomizeError as error:
        raise error.within("loading KV pairs") from None
    data: dict[str, str] = {}
    for key, value in pairs:
        if key in data:
            raise KustomizeError(f"configmap {name} illegally repeats the key `{key}`")
        data[key] = value
    _fill(tree, data, kind)
    merged = _options(args.get("options"), options)
    for field in ("labels", "annotations"):
        if merged.get(field):
            metadata[field] = {key: merged[field][key] for key in sorted(merged[field])}
    if merged.get("immutable"):
        tree["immutable"] = True
    resource = Resource(tree)
    if not merged.get("disableNameSuffixHash"):
        resource.wants_hash()
    resource.behavior = args.get("behavior") or ""
    return resource


def _options(own: dict[str, Any] | None, common: dict[str, Any] | None) -> dict[str, Any]:
    mine, theirs = own or {}, common or {}
    return {
        "labels": {**(theirs.get("labels") or {}), **(mine.get("labels") or {})},
        "annotations": {**(theirs.get("annotations") or {}), **(mine.get("annotations") or {})},
        "disableNameSuffixHash": mine.get("disableNameSuffixHash") or theirs.get("disableNameSuffixHash"),
        "immutable": mine.get("immutable") or theirs.get("immutable"),
    }


def _fill(tree: dict[str, Any], data: dict[str, str], kind: str) -> None:
    if kind == "Secret":
        tree["data"] = {key: _base64(data[key]) for key in sorted(data)}
        return
    for key in sorted(data):
        value = data[key]
        is_text = not any("\ud800" <= char <= "\udfff" for char in value)
        field = "data" if is_text else "binaryData"
        tree.setdefault(field, {})[key] = value if is_text else _base64(value)


def _base64(text: str) -> str:
    """Return base64 in lines of 70, each ended where there are several."""
    encoded = b64encode(text.encode("utf-8", "surrogateescape")).decode()
    if len(encoded) // _LINE + 1 == 1:
        return encoded
    return "".join(encoded[start : start + _LINE] + "\n" for start in range(0, len(encoded), _LINE))


def _pairs(loader: Loader, args: dict[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    envs, literals, files = (args.get(name) or [] for name in ("envs", "literals", "files"))
    try:
        for path in envs:
            found.extend(_env_pairs(loader.load(path)))
    except KustomizeError as error:
        raise error.within(f"env source files: [{' '.join(envs)}]") from None
    try:
        found.extend(_literal(source) for source in literals)
    except KustomizeError as error:
        raise error.within(f"literal sources [{' '.join(literals)}]") from None
    try:
        for source in files:
            key, path = _file_source(source)
            found.append((key, loader.load(path)))
    except KustomizeError as error:
        raise error.within(f"file sources: [{' '.join(files)}]") from None
    return found


def _env_pairs(text: str) -> list[tuple[str, str]]:
    found = []
    lines = text.split("\n")
    for index, raw in enumerate(lines[:-1] if lines[-1] == "" else lines):
        line = raw.removesuffix("\r")
        if any("\ud800" <= char <= "\udfff" for char in line):
            data = list(line.encode("utf-8", "surrogateescape"))
            raise KustomizeError(f"line {data} has invalid utf8 bytes : {line}".replace(",", ""))
        if index == 0:
            line = line.removeprefix("\ufeff")
        line = line.lstrip()
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((key, value))
    return found


def _literal(source: str) -> tuple[str, str]:
    key, equals, value = source.partition("=")
    if not equals or not key:
        raise KustomizeError(f"invalid literal source {source}, expected key=value")
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return key, value


def _file_source(source: str) -> tuple[str, str]:
    count = source.count("=")
    key, _, path = source.partition("=")
    if count == 0:
        return posixpath.basename(source.rstrip("/")) or "/", source
    if count == 1 and not key:
        raise KustomizeError(f'missing key name for file path "{path}" in source "{source}"')
    if count == 1 and not path:
        raise KustomizeError(f'missing file path for key name "{key}" in source "{source}"')
    if count > 1:
        raise KustomizeError(f"source \"{source}\" key name or file path contains '='")
    return key, path


def add_hashes(resources: list[Resource]) -> None:
    """Put the hash of its content behind the name of each resource that wants it."""
    for resource in resources:
        if resource.needs_hash:
            value = content_hash(resource)
            resource.remember()
            resource.rename(f"{resource.name}-{value}")


def content_hash(resource: Resource) -> str:
    """Return the hash of a resource's content, as ten letters and digits."""
    tree = resource.tree
    if resource.kind in ("ConfigMap", "Secret"):
        extra = "stringData" if resource.kind == "Secret" else "binaryData"
        # The name is looked for in a field called "metadata/name", which nothing has.
        hashed: dict[str, Any] = {"kind": resource.kind, "name": "", "data": _hashed(tree, "data")}
        if resource.kind == "Secret":
            hashed["type"] = _hashed(tree, "type")
        if isinstance(tree.get(extra), dict):
            hashed[extra] = _hashed(tree, extra)
        encoded = to_compact_json(hashed)
    else:
        encoded = json.dumps(plain(tree), sort_keys=True)
    return hashlib.sha256(encoded.encode("utf-8", "surrogatepass")).hexdigest()[:10].translate(_LETTERS)


def _hashed(tree: dict[str, Any], field: str) -> Any:
    value = tree.get(field)
    if field not in tree or is_null(value):
        return "" if field not in tree else text_of(value)
    return plain(value) if isinstance(value, (dict, list)) else text_of(value)
