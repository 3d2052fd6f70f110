"""`kubectl events`: what happened, oldest first."""

from __future__ import annotations

from env_core.apiserver.typed import in_type_order
from env_core.kubectl.context import Context
from env_core.kubectl.events import EventTable, by_time
from env_core.kubectl.output.printing import (
    FORMATS,
    object_printer,
    output_format,
    to_ordered_json,
    without_managed_fields,
)
from env_core.kubectl.resolve import Listing, find_kind, kind_named, unknown_type
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import ALL_NAMESPACES, CHUNK_SIZE, NO_HEADERS, PRINT_FLAGS, Args, Flag, Slice, Verb
from env_core.kubectl.verbs._get_watch import timeout_ms
from env_core.world import Object, Output

_TYPES = ("Normal", "Warning")


def _run(ctx: Context, args: Args) -> Output:
    namespace = "" if args.is_set("all-namespaces") else ctx.namespace
    for name in args.items("types"):
        if name.capitalize() not in _TYPES:
            raise Failure("valid --types are Normal or Warning")
    listing = Listing(kind_named(ctx, "events"), namespace, "", _fields(ctx, args, namespace))
    found = _wanted(args, listing.fetch(ctx, limit=args.number("chunk-size")))
    chosen = output_format(args)
    printer = object_printer(ctx, args, formats=FORMATS) if chosen else None
    if args.is_set("watch"):
        return _watch(ctx, args, listing, found)
    if not found:
        where = f" in {namespace} namespace." if namespace else "."
        args.screen.err(f"No events found{where}\n")
        return args.screen.done()
    ordered = by_time(found)
    if printer is not None:
        listed = {"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": ordered}
        if chosen.lower() == "json":
            typed = [in_type_order(event) for event in ordered]
            if not args.is_set("show-managed-fields"):
                typed = [without_managed_fields(event) for event in typed]
            args.screen.out(to_ordered_json({**listed, "items": typed}))
        elif chosen != "name":
            # Names would come from the list's own kind, of which there is nothing to tell.
            printer.print(listed, args.screen)
    else:
        args.screen.out(_table(args).rows(ordered, ctx.clock.now_ms))
    return args.screen.done()


def _fields(ctx: Context, args: Args, _namespace: str) -> str:
    about = args.text("for")
    if not about:
        return ""
    resource, slash, name = about.partition("/")
    if not slash:
        raise Failure("--for must be in resource/name form")
    if "/" in name:
        raise Failure("arguments in resource/name form may not have more than one slash")
    if not resource:
        raise Failure("a resource must be present, got: /, Resource=")
    kind = find_kind(ctx, resource)
    if kind is None:
        raise Failure(unknown_type(resource).text, is_bare=True)
    if not name:
        return ""
    return f"involvedObject.apiVersion={kind.api_version},involvedObject.kind={kind.kind},involvedObject.name={name}"


def _wanted(args: Args, found: list[Object]) -> list[Object]:
    types = {name.lower() for name in args.items("types")}
    return [event for event in found if not types or str(event.get("type", "")).lower() in types]


def _table(args: Args) -> EventTable:
    return EventTable(has_headers=not args.is_set("no-headers"), has_namespace=args.is_set("all-namespaces"))


def _watch(ctx: Context, args: Args, listing: Listing, first: list[Object]) -> Output:
    """Print one event after the other, in the order in which the server tells them."""
    table = _table(args)
    for event in first:
        args.screen.out(table.rows([event], ctx.clock.now_ms))
    seen = {_key(event): event for event in first}
    deadline = ctx.clock.now_ms + timeout_ms(args)
    while ctx.clock.now_ms < deadline:
        changed: list[Object] = []

        def has_changed(changed: list[Object] = changed) -> bool:
            now = _wanted(args, listing.fetch(ctx))
            changed[:] = [event for event in now if seen.get(_key(event)) != event]
            return bool(changed)

        if not ctx.clock.advance_until(has_changed, deadline - ctx.clock.now_ms):
            break
        for event in changed:
            seen[_key(event)] = event
            args.screen.out(table.rows([event], ctx.clock.now_ms))
    return args.screen.done()


def _key(event: Object) -> tuple[str, str]:
    return event["metadata"].get("namespace", ""), event["metadata"]["name"]


VERB = Verb(
    name="events",
    usage=(
        "events [(-o|--output=)json|yaml|kyaml|name|go-template|go-template-file|template|templatefile|jsonpath|"
        "jsonpath-as-json|jsonpath-file] [--for TYPE/NAME] [--watch] [--types=Normal,Warning]"
    ),
    summary="Shows what happened, oldest first.",
    flags=(
        *PRINT_FLAGS,
        ALL_NAMESPACES,
        CHUNK_SIZE,
        NO_HEADERS,
        Flag("for", str, words="Only events about this object."),
        Flag("types", Slice, words="Only events of these types."),
        Flag("watch", bool, shorthand="w", words="Go on with what happens."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/events",
)
