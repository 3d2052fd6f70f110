"""Which objects a command line means: resource arguments, files and selectors.

Source: k8s.io/cli-runtime pkg/resource builder.go, visitor.go, selector.go, helper.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from env_core.apiserver.kind import Kind
from env_core.kubectl._manifest_files import K_WITH_R, Stream, expand, kustomized, read_streams, stream_of
from env_core.kubectl._targets import Info, Listing, Selection, info_of, kind_label
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import Args
from env_core.objects import selectors
from env_core.objects.problems import quoted

__all__ = [
    "MISSING_FILE",
    "MISSING_RESOURCE",
    "Info",
    "Listing",
    "Selection",
    "find_kind",
    "info_of",
    "kind_label",
    "kind_named",
    "select",
    "select_one",
    "split_types",
    "unknown_type",
]

MISSING_RESOURCE = """You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'"""
MISSING_FILE = """you must specify resources by --filename when --local is set.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'"""
_SLASH_MIXED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form "
    "(e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'"
)


def unknown_type(name: str) -> Failure:
    """Return the error for a resource type that the server does not have."""
    resource, _, group = name.partition(".")
    return Failure(no_match_text(resource, group))


def no_match_text(resource: str, group: str = "", version: str = "") -> str:
    """Return what kubectl says of a resource that no kind matches.

    Source: k8s.io/kubectl pkg/cmd/util checkErr; tests/golden/l0/api_errors.jsonl.gz.
    """
    text = f'the server doesn\'t have a resource type "{resource}"'
    if group:
        text += f' in group "{group}"'
    if version:
        text += f'{" and" if group else " in"} version "{version}"'
    return text


def find_kind(ctx: Context, name: str) -> Kind | None:
    """Return the kind that a resource argument names; an incomplete group matches by its start.

    A short name stands for its type's usual version, whatever version is behind it.

    Source: k8s.io/client-go restmapper/shortcut.go.
    """
    short, *place = name.lower().split(".", 2)
    if len(place) == 2:
        for candidate in ctx.discovery.all():
            if (
                candidate.is_preferred
                and short in candidate.short_names
                and place[1] in ("", candidate.group)
            ):
                return candidate
    kind = ctx.discovery.find(name)
    if kind is not None or "." not in name:
        return kind
    resource, _, group = name.lower().partition(".")
    if not group:
        return None
    for candidate in ctx.discovery.all():
        if candidate.group.startswith(group) and resource in (
            candidate.plural,
            candidate.singular or candidate.kind.lower(),
            *candidate.short_names,
        ):
            return candidate
    return None


def kind_named(ctx: Context, name: str) -> Kind:
    """Return the kind that a resource argument names.

    Raises:
        Failure: when the server has none such.
    """
    kind = find_kind(ctx, name)
    if kind is None:
        raise unknown_type(name)
    if name in kind.short_names:
        for other in ctx.discovery.all():
            if name in other.short_names and other.resource != kind.resource:
                ctx.warn(f'short name "{name}" could also match lower priority resource {other.resource}')
    return kind


def split_types(argument: str) -> list[str]:
    """Split "pods,svc" at commas, each type once."""
    return list(dict.fromkeys(argument.split(",")))


def select(
    ctx: Context,
    args: Args,
    words: Sequence[str],
    *,
    allows_no_selector: bool = False,
    selects_all: bool = False,
    label_selector: str | None = None,
    field_selector: str | None = None,
    all_namespaces: bool | None = None,
    files: Sequence[str] | None = None,
    default_type: str = "",
    is_typed: bool = False,
    is_served: bool = False,
) -> Selection:
    """Return what `words` and the selector and file flags of `args` mean.

    `allows_no_selector` lets a bare type mean all of its objects; `selects_all` is --all. Flags that the verb
    does not declare count as unset; the keyword arguments replace them. `default_type` is used when the
    words name objects only (`logs`, `exec`). `is_typed` is for verbs that know the client's own types only;
    `is_served` for those that ask for objects of files by their mapping, whatever version a file has.

    Raises:
        Failure: for arguments that make no sense, unknown types and unreadable files.
    """
    if label_selector is None:
        label_selector = args.text("selector").strip() if args.has("selector") else ""
    if field_selector is None:
        field_selector = args.text("field-selector").strip() if args.has("field-selector") else ""
    if all_namespaces is None:
        all_namespaces = args.has("all-namespaces") and args.is_set("all-namespaces")
    if files is None:
        files = args.items("filename") if args.has("filename") else ()
    kustomize = args.text("kustomize") if args.has("kustomize") else ""
    if files and kustomize:
        both = Failure("only one of -f or -k can be specified")
        recursive = args.has("recursive") and args.is_set("recursive")
        raise_all([both, Failure(K_WITH_R)] if recursive else [both])
    recursive = args.has("recursive") and args.is_set("recursive")
    if kustomize:
        try:
            streams = [kustomized(ctx, args, kustomize)]
        except Failure as failure:
            return Selection(is_from_files=True, is_single=True, errors=(failure,))
    else:
        paths = [path for name in files for path in expand(ctx, name, recursive)]
        streams = [stream_of(ctx, path) for path in paths]
    types, names, tuples = _read_words(ctx, words, default_type)
    if selects_all and label_selector:
        raise Failure(
            f"found non-empty label selector {quoted(label_selector)} with previously set 'all' parameter. "
        )
    if selects_all and field_selector:
        raise Failure(
            f"found non-empty field selector {quoted(field_selector)} with previously set 'all' parameter. "
        )
    namespace = "" if all_namespaces else ctx.namespace
    if streams:
        return _by_streams(
            ctx, streams, types, names, tuples, label_selector, is_typed=is_typed, is_served=is_served
        )
    if (
        label_selector
        or field_selector
        or selects_all
        or (allows_no_selector and len(words) == 1 and not tuples)
    ):
        return _by_selector(ctx, namespace, types, names, tuples, label_selector, field_selector)
    if tuples:
        return _by_tuple(ctx, namespace, types, tuples, all_namespaces)
    if names:
        return _by_name(ctx, namespace, types, names, all_namespaces)
    if types:
        for name in types:
            kind_named(ctx, name)
        raise Failure("resource(s) were provided, but no name was specified")
    raise Failure(MISSING_RESOURCE)


def select_one(ctx: Context, args: Args, word: str, default_type: str) -> Info:
    """Return the object of one "name" or "type/name" argument, not fetched yet.

    Raises:
        Failure: as `select`.
    """
    selection = select(
        ctx, args, [word], default_type=default_type, files=(), label_selector="", field_selector=""
    )
    return selection.infos[0]


def _read_words(
    ctx: Context, words: Sequence[str], default_type: str
) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Return types, names, and (type, name) pairs."""
    words = list(words)
    if default_type:
        words = [word if "/" in word else f"{default_type}/{word}" for word in words]
    if len(words) >= 2 and "," in words[0] and "/" not in words[0]:
        types = split_types(words[0])
        if len(types) > 1:
            words = [f"{name}/{word}" for name in types for word in words[1:]]
    slashed = sum("/" in word for word in words)
    if slashed and slashed != len(words):
        raise Failure(_SLASH_MIXED)
    if slashed:
        return [], [], [_split_slash(word) for word in words]
    if not words:
        return [], [], []
    return _expand_categories(ctx, words[0]), words[1:], []


def _split_slash(word: str) -> tuple[str, str]:
    parts = word.split("/")
    if len(parts) != 2:
        raise Failure("arguments in resource/name form may not have more than one slash")
    if not parts[0] or not parts[1] or len(split_types(parts[0])) != 1:
        raise Failure("arguments in resource/name form must have a single resource and name")
    return parts[0], parts[1]


def _expand_categories(ctx: Context, argument: str) -> list[str]:
    types: list[str] = []
    for name in split_types(argument):
        if ctx.discovery.find(name) is None:
            members = [kind for kind in ctx.discovery.all() if name in kind.categories]
            # The aggregated discovery document names the group apps right after the core.
            members.sort(key=lambda kind: 0 if not kind.group else 1 if kind.group == "apps" else 2)
            types.extend([kind.resource for kind in members] or [name])
        else:
            types.append(name)
    return list(dict.fromkeys(types))


def _by_selector(
    ctx: Context,
    namespace: str,
    types: list[str],
    names: list[str],
    tuples: list[tuple[str, str]],
    label_selector: str,
    field_selector: str,
) -> Selection:
    if names:
        raise Failure("name cannot be provided when a selector is specified")
    if tuples:
        raise Failure("selectors and the all flag cannot be used when passing resource/name arguments")
    if not types:
        raise Failure("at least one resource must be specified to use a selector")
    kinds = dict.fromkeys(kind_named(ctx, name) for name in types)
    return Selection(
        listings=tuple(
            Listing(kind, namespace if kind.is_namespaced else "", label_selector, field_selector)
            for kind in kinds
        )
    )


def _by_tuple(
    ctx: Context, namespace: str, types: list[str], tuples: list[tuple[str, str]], all_namespaces: bool
) -> Selection:
    if types:
        raise Failure("you may not specify individual resources and bulk resources in the same call")
    infos = []
    kinds = {name: kind_named(ctx, name) for name, _ in tuples}
    for resource, name in tuples:
        infos.append(_named(kinds[resource], namespace, name, all_namespaces))
    return Selection(infos=tuple(infos), is_single=len(infos) == 1)


def _by_name(
    ctx: Context, namespace: str, types: list[str], names: list[str], all_namespaces: bool
) -> Selection:
    if not types:
        raise Failure("you must provide a resource and a resource name together")
    if len(types) > 1:
        raise Failure("you must specify only one resource")
    kind = kind_named(ctx, types[0])
    infos = tuple(_named(kind, namespace, name, all_namespaces) for name in names)
    return Selection(infos=infos, is_single=len(infos) == 1)


def _named(kind: Kind, namespace: str, name: str, all_namespaces: bool) -> Info:
    if not kind.is_namespaced:
        return Info(kind, "", name)
    if not namespace:
        if all_namespaces:
            raise Failure("a resource cannot be retrieved by name across all namespaces")
        raise Failure("namespace may not be empty when retrieving a resource by name")
    return Info(kind, namespace, name)


def _labels_wanted(text: str) -> selectors.LabelSelector | None:
    if not text:
        return None
    try:
        return selectors.parse_labels(text)
    except selectors.SelectorError as error:
        raise Failure(str(error)) from None


def _served(ctx: Context, kind: Kind) -> Kind:
    """Return a kind in its served version, where a file had none."""
    return kind if kind.version else ctx.discovery.find(kind.plural) or kind


def _by_streams(
    ctx: Context,
    streams: list[Stream],
    types: list[str],
    names: list[str],
    tuples: list[tuple[str, str]],
    label_selector: str,
    *,
    is_typed: bool,
    is_served: bool,
) -> Selection:
    if types:
        raise Failure(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )
    if names:
        raise Failure("name cannot be provided when a path is specified")
    if tuples:
        raise Failure("resource/name arguments cannot be provided when a path is specified")
    wanted = _labels_wanted(label_selector)
    infos, errors = read_streams(ctx, streams, is_typed=is_typed)
    if is_served:
        infos = [replace(info, kind=_served(ctx, info.kind)) for info in infos]
    if wanted is not None:
        infos = [
            info for info in infos if wanted.matches(info.found().get("metadata", {}).get("labels") or {})
        ]
    return Selection(
        infos=tuple(infos),
        is_single=len(streams) == 1
        and (len(infos) < 2 or (streams[0].source != "STDIN" and not any(info.list for info in infos))),
        is_from_files=True,
        errors=tuple(errors),
    )
