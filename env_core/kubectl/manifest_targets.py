"""Objects of -f for verbs that write them: read, checked as far as the client checks, with their kinds.

Source: k8s.io/cli-runtime pkg/resource visitor.go (StreamVisitor, FlattenListVisitor), mapper.go;
k8s.io/kubectl pkg/validation; tests/golden/l2/flows/apply-client, wrong-refs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from env_core.kubectl._list_check import problems_of
from env_core.kubectl._manifest_files import NO_VERSION, Stream, kind_of_manifest, streams_of
from env_core.kubectl.context import Context
from env_core.kubectl.klog import klog_line
from env_core.kubectl.manifests import Manifests, read_manifests
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args
from env_core.objects import gojson, selectors
from env_core.world import Object

_STOP = "if you choose to ignore these errors, turn validation off with --validate=false"
_NO_WARNINGS = (
    "cannot perform warn validation if server-side field validation is unsupported, skipping validation"
)
_NO_KIND = re.compile(r"unable to decode \".*?\": Object 'Kind' is missing in '(.*)'\Z", re.DOTALL)
_IS_LIST = re.compile(
    r"""^\s*["']?kind["']?\s*:\s*["']?\w*List["']?\s*,?\s*$|"kind"\s*:\s*"\w*List\"""", re.MULTILINE
)


def check_files_named(args: Args) -> None:
    """Refuse a line without -f and -k, and one with both.

    Raises:
        Failure: in the words of FilenameOptions.
    """
    if not args.items("filename") and not args.text("kustomize"):
        raise Failure("must specify one of -f and -k")
    if args.items("filename") and args.text("kustomize"):
        raise Failure("only one of -f or -k can be specified")


def manifest_infos(
    ctx: Context, args: Args, *, validation: str, label_selector: str = ""
) -> tuple[list[Info], list[Exception]]:
    """Return the objects of -f and the errors met while reading them, going on after errors.

    `validation` is "Ignore" to skip the client's check of apiVersion and kind.

    Raises:
        Failure: when a path does not exist, or a kustomization cannot be built.
    """
    infos, errors = _infos_of(ctx, streams_of(ctx, args), validation, args.screen)
    if label_selector:
        wanted = selectors.parse_labels(label_selector)
        infos = [
            info for info in infos if wanted.matches((info.found().get("metadata") or {}).get("labels") or {})
        ]
    return infos, errors


def _infos_of(
    ctx: Context, streams: Sequence[Stream], validation: str, screen: Screen
) -> tuple[list[Info], list[Exception]]:
    """Return the objects of files, and the errors."""
    infos: list[Info] = []
    errors: list[Exception] = []
    for stream in streams:
        source, text = stream.source, stream.text
        manifests = read_manifests(text, source)
        error: Exception | None = manifests.error
        is_list = _IS_LIST.search(text) is not None
        checked = 0
        for index, obj in enumerate(manifests.objects):
            number = manifests.lists[index]
            problems: list[str] = []
            if number > 0 and number != checked:
                checked = number
                problems = _list_problems(ctx, manifests, number, validation, screen)
            elif validation != "Ignore" and number <= 0 and not obj.get("apiVersion"):
                problems = ["apiVersion not set"]
            if problems:
                error = _invalid(source, problems)
                break
            try:
                if number and not obj.get("apiVersion"):
                    raise Failure(NO_VERSION, is_bare=True)
                infos.append(_info(ctx, obj, source, is_list, screen if validation == "Warn" else None))
            except Failure as failure:
                errors.append(failure)
        if error is not None:
            errors.append(_validated(error, source) if validation != "Ignore" else error)
    return infos, errors


def _list_problems(
    ctx: Context, manifests: Manifests, number: int, validation: str, screen: Screen
) -> list[str]:
    """Return what the client finds wrong with a list, of which no server can be asked to check the fields."""
    if validation == "Warn":
        screen.err(klog_line(ctx, "W", "schema.go:145", _NO_WARNINGS))
    if validation != "Strict":
        return []
    items = [obj for obj, own in zip(manifests.objects, manifests.lists, strict=True) if own == number]
    return problems_of(
        items, [ctx.discovery.by_gvk(item.get("apiVersion") or "", item["kind"]) for item in items]
    )


def local_objects(ctx: Context, args: Args) -> tuple[list[Object], list[Exception]]:
    """Return the objects of -f as the files have them, for --local: no server is asked.

    Raises:
        Failure: when a path does not exist, or a kustomization cannot be built.
    """
    objects: list[Object] = []
    errors: list[Exception] = []
    for stream in streams_of(ctx, args):
        manifests = read_manifests(stream.text, stream.source)
        objects.extend(manifests.objects)
        if manifests.error is not None:
            errors.append(manifests.error)
    return objects, errors


def _invalid(source: str, problems: list[str]) -> Failure:
    text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return Failure(f'error validating "{source}": error validating data: {text}; {_STOP}')


def _validated(error: Exception, source: str) -> Exception:
    """Return the error of the check that comes before decoding, if that is what would have failed."""
    assert isinstance(error, Failure)
    found = _NO_KIND.match(error.text)
    if found is None:
        return error
    try:
        document = gojson.loads(found.group(1))
    except json.JSONDecodeError:
        return error
    problems = [] if document.get("apiVersion") is not None else ["apiVersion not set"]
    problems.append("kind not set" if document.get("kind") is None else "kind isn't string type")
    return _invalid(source, problems)


def _info(ctx: Context, obj: Object, source: str, is_list: bool, screen: Screen | None) -> Info:
    metadata = obj.get("metadata") or {}
    name = metadata.get("name") or ""
    version = obj.get("apiVersion") or ""
    kind = kind_of_manifest(ctx, version, obj["kind"])
    if kind is None:
        if screen is not None and not is_list:
            screen.err(klog_line(ctx, "W", "schema.go:145", _NO_WARNINGS))
        missing = f'no matches for kind "{obj["kind"]}" in version "{version}"'
        if is_list:
            raise Failure(f"unable to recognize {missing}", is_bare=True)
        raise Failure(
            f'resource mapping not found for name: "{name}" namespace: "{metadata.get("namespace") or ""}" '
            f'from "{source}": {missing}\nensure CRDs are installed first'
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
