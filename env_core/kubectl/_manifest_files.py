"""The files behind -f: which ones a path means, and the objects in them.

Source: k8s.io/cli-runtime pkg/resource builder.go (FilenameParam, Path), visitor.go (FileVisitor).
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from env_core.apiserver.kind import Kind
from env_core.kubectl._targets import Info
from env_core.kubectl.connection import connection_failure
from env_core.kubectl.context import Context
from env_core.kubectl.klog import klog_line
from env_core.kubectl.kustomize import DEFAULT, Built, KustomizeError, Options, build
from env_core.kubectl.manifests import read_manifests
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object

NO_VERSION = (
    'unable to get type info from the object "*unstructured.Unstructured": '
    "Object 'apiVersion' is missing in 'object has no apiVersion field'"
)
"""What is said of an item of a list that has no apiVersion."""
_EXTENSIONS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Stream:
    """A text with manifests, and what errors call its origin."""

    source: str
    text: str


def stream_of(ctx: Context, path: str) -> Stream:
    """Return the text of a path of -f, - for standard input."""
    return Stream("STDIN", ctx.stdin) if path == "-" else Stream(path, ctx.files.read(path))


def built(ctx: Context, args: Args, directory: str, options: Options = DEFAULT) -> Built:
    """Return what a kustomization builds, with its warnings on the screen.

    Raises:
        KustomizeError: when it cannot be built.
    """
    return build(
        ctx.files,
        directory,
        lambda line: args.screen.err(f"{line}\n"),
        lambda line: args.screen.err(klog_line(ctx, "I", "log.go:244", line)),
        options=options,
    )


K_WITH_R = "the -k flag can't be used with -f or -R"
"""What is said of -k beside -R."""


def kustomized(ctx: Context, args: Args, directory: str) -> Stream:
    """Return what a kustomization builds (-k).

    Raises:
        Failure: when it cannot be built.
    """
    if args.has("recursive") and args.is_set("recursive"):
        raise Failure(K_WITH_R)
    try:
        return Stream(directory, built(ctx, args, directory).as_yaml())
    except KustomizeError as error:
        raise Failure(error.text) from None


def read_streams(
    ctx: Context, streams: Sequence[Stream], *, is_typed: bool = False
) -> tuple[list[Info], list[Exception]]:
    """Return the objects of files and the problems, going on with the next file after one.

    Objects without a namespace get the current one, as `DefaultNamespace` gives it. `is_typed` is for verbs that
    decode files into the client's own types.
    """
    infos: list[Info] = []
    errors: list[Exception] = []
    for stream in streams:
        source = stream.source
        manifests = read_manifests(stream.text, source)
        for obj, number in zip(manifests.objects, manifests.lists, strict=True):
            try:
                if number and not obj.get("apiVersion"):
                    raise Failure(NO_VERSION)
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
    kind = kind_of_manifest(ctx, version, obj["kind"])
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


def kind_of_manifest(ctx: Context, version: str, name: str) -> Kind | None:
    """Return the kind of a manifest; one without apiVersion means the core's, at a path that nothing serves.

    Source: what kubectl 1.37.1 makes of files without apiVersion: the mapping is found, the version in paths is empty.
    """
    if version:
        return ctx.discovery.by_gvk(version, name)
    for kind in ctx.discovery.all():
        if kind.group == "" and kind.kind == name:
            unserved = replace(kind, version="")
            object.__setattr__(unserved, "resource", f"{kind.plural}/")
            return unserved
    return None


def streams_of(ctx: Context, args: Args) -> list[Stream]:
    """Return what -k builds, or the files that -f means, directories opened.

    Raises:
        Failure: when a path does not exist, a directory has no manifest, or a kustomization cannot be built.
    """
    if args.has("kustomize") and args.text("kustomize"):
        return [kustomized(ctx, args, args.text("kustomize"))]
    recursive = args.has("recursive") and args.is_set("recursive")
    paths = [path for name in args.items("filename") for path in expand(ctx, name, recursive)]
    return [stream_of(ctx, path) for path in paths]


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
