"""`kubectl get`: tables, or objects in any format."""

from __future__ import annotations

from dataclasses import dataclass, replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.kubectl.context import Context
from env_core.kubectl.klog import klog_line
from env_core.kubectl.output import sortby
from env_core.kubectl.output.printing import GET_FORMATS, as_list, object_printer, output_format
from env_core.kubectl.output.table import TableOptions, format_table, without_columns
from env_core.kubectl.raw import check, send
from env_core.kubectl.resolve import Info, Listing, Selection, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    ALL_NAMESPACES,
    CHUNK_SIZE,
    FIELD_SELECTOR,
    FILE_FLAGS,
    NO_HEADERS,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Flag,
    Slice,
    Verb,
)
from env_core.kubectl.verbs import _get_watch
from env_core.kubectl.writes import aggregate_text, error_message, raise_listed
from env_core.world import Object, Output

_HINT = 'You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported resources.\n\n'
_MISSING = (
    "Required resource not specified.\n"
    'Use "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).\n'
    "See 'kubectl get -h' for help and examples"
)


_TABLE: Object = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "1"}}


@dataclass(frozen=True, slots=True)
class _Block:
    """Objects of one kind whose rows are printed as one table."""

    kind: Kind
    objects: list[Object]


def _run(ctx: Context, args: Args) -> Output:
    screen = args.screen
    words = args.positional
    if args.text("raw"):
        if words:
            raise Failure("arguments may not be passed when --raw is specified")
        if args.is_set("watch") or args.is_set("watch-only") or args.text("selector"):
            raise Failure(
                "--raw may not be specified with other flags that filter the server request or alter the output"
            )
        check(args, most_files=len(args.items("filename")))
        return send(ctx, args, "GET")
    if args.is_set("output-watch-events") and not (args.is_set("watch") or args.is_set("watch-only")):
        raise Failure("--output-watch-events option can only be used with --watch or --watch-only")
    if not words and not args.items("filename") and not args.text("kustomize"):
        screen.err(_HINT)
        raise Failure(_MISSING)
    if args.is_set("all-namespaces"):
        ctx.is_namespace_explicit = False
    chosen = output_format(args)
    is_table = chosen in ("", "wide")
    if args.is_set("show-labels") and not is_table:
        raise Failure(f"--show-labels option cannot be used with {chosen} printer")
    if args.items("label-columns") and chosen.startswith("custom-columns"):
        raise Failure(f"--label-columns option cannot be used with {chosen} printer")
    selection = select(ctx, args, words, allows_no_selector=True)
    if args.is_set("watch") or args.is_set("watch-only"):
        return _get_watch.run(ctx, args, selection)
    if is_table:
        _print_tables(ctx, args, selection)
    else:
        _print_objects(ctx, args, selection)
    return screen.done()


_NAMELESS: Object = {"metadata": {"name": ""}}


def _fetch(ctx: Context, args: Args, selection: Selection) -> tuple[list[Info | _Block], list[Exception]]:
    """Fetch what the selection means: infos for named objects, blocks for lists."""
    found: list[Info | _Block] = []
    errors: list[Exception] = []
    ignore = args.is_set("ignore-not-found")
    subresource = args.text("subresource")
    of_lists: dict[str, list[Exception]] = {}
    for info in selection.infos:
        try:
            found.append(info.fetch(ctx, subresource))
        except StatusError as error:
            if not (ignore and error.code == 404):
                (of_lists.setdefault(info.list, []) if info.list else errors).append(error)
    for several in of_lists.values():
        texts = [error_message(error) for error in several]
        errors.append(several[0] if len(several) == 1 else Failure(aggregate_text(texts), is_bare=True))
    for listing in selection.listings:
        try:
            found.append(_Block(listing.kind, _list(ctx, args, listing)))
        except StatusError as error:
            if not (ignore and error.code == 404):
                errors.append(error)
    errors.extend(selection.errors)
    return found, errors


def _list(ctx: Context, args: Args, listing: Listing) -> list[Object]:
    limit = 0 if args.text("sort-by") else args.number("chunk-size")
    return listing.fetch(ctx, limit=limit)


def _print_tables(ctx: Context, args: Args, selection: Selection) -> None:
    found, errors = _fetch(ctx, args, selection)
    kinds = {id(item.kind): item.kind for item in found}
    options = table_options(args, has_kind=len(kinds) > 1 or args.is_set("show-kind"))
    cluster_wide = replace(options, has_namespace=False)
    blocks: list[_Block] = []
    for item in found:
        if not isinstance(item, Info) and item.kind.columns_of_list:
            columns = item.kind.columns_of_list(item.objects)
            blocks.append(_Block(replace(item.kind, columns=columns), item.objects))
            continue
        if isinstance(item, Info) and not item.name:
            # Without a name the server is asked for a list, which kubectl 1.37.1 prints as one object that it does not know.
            columns = tuple(column for column in item.kind.columns if column.name in ("Name", "Age"))
            blocks.append(_Block(replace(item.kind, columns=columns), [_NAMELESS]))
            continue
        objects = [item.found()] if isinstance(item, Info) else _rows_of(item.kind, item.objects)
        if blocks and blocks[-1].kind is item.kind:
            blocks[-1] = _Block(item.kind, blocks[-1].objects + objects)
        else:
            blocks.append(_Block(item.kind, objects))
    now_ms = ctx.clock.now_ms
    field = args.text("sort-by")
    if field and len(found) > 1:
        _check_sortable(field)
    has_output = False
    for block in blocks:
        kind = block.kind if args.is_set("server-print") else without_columns(block.kind)
        # Cluster-scoped objects have no NAMESPACE column even with -A.
        shown = options if kind.is_namespaced else cluster_wide
        text = format_table(kind, _in_order(ctx, block.objects, field), now_ms, shown)
        if not text:
            continue
        if has_output and options.has_headers:
            args.screen.out("\n")
        args.screen.out(text)
        has_output = True
    if not has_output and not errors and not args.is_set("ignore-not-found"):
        is_namespaced = all(item.kind.is_namespaced for item in found)
        print_nothing_found(ctx, args, is_namespaced=is_namespaced and not args.is_set("all-namespaces"))
    raise_listed(errors)


def _check_sortable(field: str) -> None:
    """Refuse to sort several tables: the field is looked for in the tables, not in their rows.

    Raises:
        Failure: nearly always.
    """
    try:
        sortby.sort_objects([_TABLE, _TABLE], field)
    except sortby.SortError as error:
        raise Failure(str(error)) from None


def _rows_of(kind: Kind, objects: list[Object]) -> list[Object]:
    """Return the objects of a list in the order in which the server's table has them."""
    return objects if kind.row_order is None else sorted(objects, key=kind.row_order)


def _in_order(ctx: Context, objects: list[Object], field: str) -> list[Object]:
    if not field or len(objects) < 2:
        return objects
    try:
        return sorted_objects(ctx, objects, field, of_rows=True)
    except Failure as failure:
        if failure.is_bare:
            raise
        # The printer fails before its rows, and nobody asks it for its error.
        return []


def print_nothing_found(ctx: Context, args: Args, *, is_namespaced: bool) -> None:
    """Tell on standard error that there is nothing."""
    where = f" in {ctx.namespace} namespace." if is_namespaced else ""
    args.screen.err(f"No resources found{where}\n")


def table_options(args: Args, *, has_kind: bool) -> TableOptions:
    """Return what the flags ask of tables."""
    return TableOptions(
        is_wide=args.text("output") == "wide",
        has_headers=not args.is_set("no-headers"),
        has_namespace=args.is_set("all-namespaces"),
        has_kind=has_kind,
        label_columns=args.items("label-columns"),
        has_labels=args.is_set("show-labels"),
    )


def sorted_objects(ctx: Context, objects: list[Object], field: str, *, of_rows: bool) -> list[Object]:
    """Return the objects in the order of --sort-by; table rows and objects differ in error texts.

    Raises:
        Failure: when they cannot be sorted.
    """
    try:
        if of_rows:
            return sortby.sort_rows(objects, field, lambda obj: obj)
        return sortby.sort_objects(objects, field)
    except sortby.SortFatal as error:
        raise Failure(
            klog_line(ctx, "F", "sorter.go:375" if of_rows else "sorter.go:329", str(error)), is_bare=True
        ) from None
    except sortby.SortError as error:
        raise Failure(str(error)) from None


def _print_objects(ctx: Context, args: Args, selection: Selection) -> None:
    found, errors = _fetch(ctx, args, selection)
    if errors and selection.is_single:
        raise_all(errors)
    objects: list[Object] = []
    for item in found:
        objects.extend([item.found()] if isinstance(item, Info) else item.objects)
    if not objects and args.is_set("ignore-not-found"):
        raise_all(errors)
        return
    printer = object_printer(ctx, args, formats=GET_FORMATS)
    field = args.text("sort-by")
    try:
        if selection.is_single and len(objects) == 1:
            printer.print(objects[0], args.screen)
        else:
            if field:
                objects = sorted_objects(ctx, objects, field, of_rows=False)
            printer.print(as_list(objects), args.screen)
    except Failure as failure:
        errors.append(failure)
    raise_all(errors)


VERB = Verb(
    name="get",
    usage=(
        "get [(-o|--output=)json|yaml|kyaml|name|go-template|go-template-file|template|templatefile|jsonpath|"
        "jsonpath-as-json|jsonpath-file|custom-columns|custom-columns-file|wide] "
        "(TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...) [flags]"
    ),
    summary="Shows objects, one line each or whole.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        ALL_NAMESPACES,
        CHUNK_SIZE,
        FIELD_SELECTOR,
        SELECTOR,
        NO_HEADERS,
        Flag("ignore-not-found", bool, words="Do not fail when an object does not exist."),
        Flag("label-columns", Slice, shorthand="L", words="Labels to show as columns."),
        Flag("output-watch-events", bool, words="Print the kind of each watch event."),
        Flag("raw", str, words="Path to get from the server."),
        Flag("server-print", bool, default=True, words="Let the server make the tables."),
        Flag("show-kind", bool, words="Put the type before each name."),
        Flag("show-labels", bool, words="Show all labels in the last column."),
        Flag("sort-by", str, words="JSONPath of the field to sort by."),
        Flag("subresource", str, words="Subresource to get."),
        Flag("watch", bool, shorthand="w", words="Go on with what changes."),
        Flag("watch-only", bool, words="Only what changes."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/get",
)
