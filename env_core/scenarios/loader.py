"""Apply a folder of manifests to a cluster through its API, in file order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any

import yaml

from env_core.apiserver.client import ApiClient
from env_core.apiserver.request import Options
from env_core.cluster import registry
from env_core.world import Object

_STRICT = Options(field_validation="Strict", field_manager="kubectl-client-side-apply")


@lru_cache(maxsize=64)
def manifests(folder: str) -> tuple[Object, ...]:
    """Return the objects of every YAML file in a folder of `env_core/scenarios`, in order of file names."""
    found: list[Any] = []
    place = files("env_core.scenarios").joinpath(folder)
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            found += [
                document for document in yaml.load_all(entry.read_text(), Loader=yaml.CSafeLoader) if document
            ]
    return tuple(found)


@lru_cache(maxsize=64)
def _template(path: str) -> Template:
    return Template(files("env_core.scenarios").joinpath(path).read_text())


def text_of(path: str, values: Mapping[str, str]) -> str:
    """Return a file of `env_core/scenarios` with its `${placeholders}` filled; raises `KeyError` for one without a value."""
    return _template(path).substitute(values)


def filled(path: str, values: Mapping[str, str]) -> tuple[Object, ...]:
    """Return the objects of a YAML file of `env_core/scenarios` with its `${placeholders}` filled.

    Fields whose value is null are left out.

    Raises:
        KeyError: if a placeholder has no value.
    """
    text = text_of(path, values)
    documents = yaml.load_all(text, Loader=yaml.CSafeLoader)
    return tuple(_without_nulls(document) for document in documents if document)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def create_filled(client: ApiClient, path: str, values: Mapping[str, str]) -> None:
    """Create every object of a file with placeholders; raises `StatusError` if the API refuses one."""
    for manifest in filled(path, values):
        create(client, manifest)


def apply_filled(client: ApiClient, folder: str, values: Mapping[str, str]) -> None:
    """Create every object of a folder of files with placeholders; raises `StatusError` if the API refuses one."""
    place = files("env_core.scenarios").joinpath(folder)
    for name in sorted(entry.name for entry in place.iterdir() if entry.name.endswith(".yaml")):
        create_filled(client, f"{folder}/{name}", values)


def apply(client: ApiClient, folder: str) -> None:
    """Create every object of a folder; raises `StatusError` if the API refuses one."""
    for manifest in manifests(folder):
        create(client, manifest)


def create(client: ApiClient, manifest: Object) -> Object:
    """Create one object from a manifest."""
    kind = registry().by_gvk(manifest["apiVersion"], manifest["kind"])
    if kind is None:
        raise ValueError(f"no kind serves {manifest['apiVersion']} {manifest['kind']}")
    namespace = manifest["metadata"].get("namespace", "default") if kind.is_namespaced else ""
    return client.create(kind.resource, namespace, manifest, options=_STRICT)
