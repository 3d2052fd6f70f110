"""The files behind -f: which ones a path means, and the objects in them.

Source: k8s.io/cli-runtime pkg/resource builder.go (FilenameParam, Path), visitor.go (FileVisitor).
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from env_core.kubectl._targets import Info
from env_core.kubectl.connection import connection_failure
from env_core.kubectl.context import Context
from env_core.kubectl.manifests import read_manifests
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object

_EXTENSIONS = (".json", ".yaml", ".yml")


def read_files(
    ctx: Context, paths: Sequence[str], *, is_typed: bool = False
) -> tuple[list[Info], list[Exception]]:
    """Return the objects of files and the problems, going on with the next file after one.

    Objects without a namespace get the current one, as `DefaultNamespace` gives it. `is_typed` is for verbs that
    decode files into the client's own types.
    """
    infos: list[Info] = []
    errors: list[Exception] = []
    for path in paths:
        source = "STDIN" if path == "-" else path
        text = ctx.stdin if path == "-" else ctx.files.read(path)
        manifests = read_manifests(text, source)
        for obj, number in zip(manifests.objects, manifests.lists, strict=True):
            try:
                info = _info_of_manifest(ctx, obj, source, is_typed=is_typed)
                infos.append(replace(info, list=f"{source} {number}" if number else ""))
            except Failure as failure:
                errors.append(failure)
        if manifests.error is not None:
            errors.append(manifests.error)
    return infos, errors


def _info_of_manifest(ctx: Context, obj: Object, source: str, *, is_typed: bool) -> Info:
    metadata = obj.get("metadata") or {}
    name = metadata.get("name") or ""
    version = obj.get("apiVersion") or ""
    kind = ctx.discovery.by_gvk(version, obj["kind"])
    if is_typed and not version:
        raise Failure(
            f"unable to decode \"{source}\": Object 'apiVersion' is missing in '{to_compact_json(obj)}'"
        )
    if kind is None and is_typed:
        raise Failure(
            f'unable to decode "{source}": no kind "{obj["kind"]}" is registered for version "{version}" '
            'in scheme "pkg/scheme/scheme.go:28"'
        )
    if kind is None:
        raise Failure(
            f'resource mapping not found for name: "{name}" namespace: "{metadata.get("namespace") or ""}" '
            f'from "{source}": no matches for kind "{obj["kind"]}" in version "{version}"\n'
            "ensure CRDs are installed first"
        )
    if not kind.is_namespaced:
        return Info(kind, "", name, obj, source)
    namespace = metadata.get("namespace") or ""
    if namespace and ctx.is_namespace_explicit and namespace != ctx.namespace:
        raise Failure(
            f'the namespace from the provided object "{namespace}" does not match the namespace "{ctx.namespace}". '
            f"You must pass '--namespace={namespace}' to perform this operation."
        )
    if not namespace:
        namespace = ctx.namespace
        obj = {**obj, "metadata": {**metadata, "namespace": namespace}}
    return Info(kind, namespace, name, obj, source)


def file_paths(ctx: Context, args: Args) -> list[str]:
    """Return the paths that -f means, directories opened.

    Raises:
        Failure: when a path does not exist or a directory has no manifest.
    """
    recursive = args.has("recursive") and args.is_set("recursive")
    return [path for name in args.items("filename") for path in expand(ctx, name, recursive)]


def expand(ctx: Context, name: str, recursive: bool) -> list[str]:
    if name == "-":
        return [name]
    if name.startswith(("http://", "https://")):
        host = name.split("/", 3)[2]
        raise connection_failure(name, f"dial tcp: lookup {host.split(':')[0]}: no such host")
    if ctx.files.is_dir(name):
        found = _walk(ctx, name.rstrip("/") or "/", recursive)
        if not found:
            raise Failure(f"error reading [{name}]: recognized file extensions are [.json .yaml .yml]")
        return found
    try:
        ctx.files.read(name)
    except FileNotFoundError:
        matches = _glob(ctx, name)
        if not matches:
            raise Failure(f'the path "{name}" does not exist') from None
        return matches
    return [name]


def _glob(ctx: Context, pattern: str) -> list[str]:
    if not any(char in pattern for char in "*?["):
        return []
    directory, slash, last = pattern.rpartition("/")
    if not ctx.files.is_dir(directory or "."):
        return []
    return [
        f"{directory}{slash}{name}" for name in ctx.files.listdir(directory or ".") if fnmatchcase(name, last)
    ]


def _walk(ctx: Context, directory: str, recursive: bool) -> list[str]:
    found: list[str] = []
    for name in ctx.files.listdir(directory):
        path = posixpath.normpath(f"{directory}/{name}")
        if ctx.files.is_dir(path):
            if recursive:
                found.extend(_walk(ctx, path, recursive))
        elif name.endswith(_EXTENSIONS):
            found.append(path)
    return found


def kustomization_missing(ctx: Context, directory: str) -> Failure:
    """Return the error of -k: this terminal holds no kustomizations.

    Source: sigs.k8s.io/kustomize/api internal/loader, internal/target (paths are told from the root on).
    """
    path = ctx.files.absolute(directory)
    if ctx.files.is_dir(directory):
        return Failure(
            "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' "
            f"in directory '{path}'"
        )
    try:
        ctx.files.read(directory)
    except FileNotFoundError:
        return Failure(
            f"must build at directory: not a valid directory: evalsymlink failure on '{directory}' : "
            f"lstat {path}: no such file or directory"
        )
    return Failure(f"must build at directory: '{directory}': file is not directory")
