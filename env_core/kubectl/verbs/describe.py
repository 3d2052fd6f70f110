"""`kubectl describe`: an object and what belongs to it, for reading."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kubectl.context import Context
from env_core.kubectl.reader import ClientReader
from env_core.kubectl.resolve import Info, kind_named, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import ALL_NAMESPACES, CHUNK_SIZE, FILE_FLAGS, SELECTOR, Args, Flag, Verb
from env_core.kubectl.writes import raise_listed
from env_core.world import Output

_MISSING = (
    "You must specify the type of resource to describe. "
    'Use "kubectl api-resources" for a complete list of supported resources.'
)


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if not words and not args.items("filename") and not args.text("kustomize"):
        raise Failure(_MISSING)
    if args.is_set("all-namespaces"):
        ctx.is_namespace_explicit = False
    selection = select(ctx, args, words, allows_no_selector=True, is_served=True)
    infos, errors = selection.load(ctx)
    if errors and len(words) == 2 and len(errors) == 1 and _is_not_found(errors[0]):
        return _describe_prefix(ctx, args, words[0], words[1], errors[0])
    is_alone = len(infos) <= 1 and not errors
    has_events = args.is_set("show-events") and (is_alone or "show-events" in args.given)
    is_first, nameless = True, list[Exception]()
    for info in infos:
        try:
            info.check_name()
        except Failure as failure:
            nameless.append(failure)
            continue
        text = _describe(ctx, info, has_events)
        args.screen.out(text if is_first else f"\n\n{text}")
        is_first = False
    if not infos and not errors:
        where = "" if args.is_set("all-namespaces") else f" in {ctx.namespace} namespace."
        args.screen.err(f"No resources found{where}\n")
    if not errors:
        raise_all(nameless)
    raise_listed([*errors, *nameless])
    return args.screen.done()


def _is_not_found(error: Exception) -> bool:
    return isinstance(error, StatusError) and error.code == 404


def _describe_prefix(ctx: Context, args: Args, type_name: str, prefix: str, error: Exception) -> Output:
    """Describe every object whose name starts with `prefix`; without any, the object is not found."""
    if "/" in type_name:
        raise error
    kind = kind_named(ctx, type_name)
    namespace = ctx.namespace if kind.is_namespaced and not args.is_set("all-namespaces") else ""
    found = [
        Info(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"], obj)
        for obj in ctx.api.list(kind.resource, namespace)
        if obj["metadata"]["name"].startswith(prefix)
    ]
    if not found:
        raise error
    has_events = args.is_set("show-events") and "show-events" in args.given
    for info in found:
        args.screen.out(f"{_describe(ctx, info, has_events)}\n")
    return args.screen.done()


def _describe(ctx: Context, info: Info, has_events: bool) -> str:
    obj = info.found()
    reader = ClientReader(ctx)
    if info.kind.describe is None:
        return describe_unstructured(obj, reader, has_events)
    return info.kind.describe(obj, reader, has_events)


VERB = Verb(
    name="describe",
    usage="describe (-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)",
    summary="Shows objects in detail, with their events.",
    flags=(
        *FILE_FLAGS,
        ALL_NAMESPACES,
        CHUNK_SIZE,
        SELECTOR,
        Flag("show-events", bool, default=True, words="Show the events of a single object."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/describe",
)
