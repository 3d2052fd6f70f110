"""`get -w`: the list, then what changes, until the time is up."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.kubectl.context import Context
from env_core.kubectl.govalues import duration_ms
from env_core.kubectl.output.printing import GET_FORMATS, Printer, object_printer, output_format
from env_core.kubectl.output.table import TableOptions, align, headers, table_rows
from env_core.kubectl.resolve import Listing, Selection
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.world import Object, Output

BOUND_MS = 30_000
"""How long a watch goes on without --request-timeout: a terminal that nobody interrupts must come back."""

_Snapshot = dict[tuple[str, str], Object]


def timeout_ms(args: Args) -> int:
    """Return how long a command that follows something may go on."""
    text = args.text("request-timeout")
    if text.isdigit():
        return int(text) * 1000 or BOUND_MS
    return duration_ms(text) or BOUND_MS


class _Watch:
    """The rows of a watch, in columns that only grow."""

    def __init__(self, ctx: Context, args: Args, listing: Listing, name: str) -> None:
        self._ctx = ctx
        self._args = args
        self._listing = listing
        self._name = name
        chosen = output_format(args)
        self._printer: Printer | None = None
        if chosen not in ("", "wide"):
            self._printer = object_printer(ctx, args, formats=GET_FORMATS)
        self._options = TableOptions(
            is_wide=chosen == "wide",
            has_headers=not args.is_set("no-headers"),
            has_namespace=args.is_set("all-namespaces") and listing.kind.is_namespaced,
            has_kind=args.is_set("show-kind"),
            label_columns=args.items("label-columns"),
            has_labels=args.is_set("show-labels"),
        )
        self._widths: list[int] = []
        self._has_header = False
        self.seen: _Snapshot = {}

    @property
    def kind(self) -> Kind:
        return self._listing.kind

    def snapshot(self) -> _Snapshot:
        """Return what is there now, by namespace and name."""
        if self._name:
            found = self._ctx.api.find(self.kind.resource, self._listing.namespace, self._name)
            objects = [] if found is None else [found]
        else:
            objects = self._listing.fetch(self._ctx)
        return {(obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): obj for obj in objects}

    def changes(self, now: _Snapshot) -> list[tuple[str, Object]]:
        """Return what changed since the last look, in the order of resourceVersion where there is one."""
        found: list[tuple[str, Object]] = []
        for key, obj in now.items():
            before = self.seen.get(key)
            if before is None:
                found.append(("ADDED", obj))
            elif before is not obj and before != obj:
                found.append(("MODIFIED", obj))
        found.sort(key=lambda change: _version(change[1]))
        found.extend(("DELETED", obj) for key, obj in self.seen.items() if key not in now)
        return found

    def print(self, changes: list[tuple[str, Object]]) -> None:
        """Print a row, or an object, for each change."""
        if self._printer is not None:
            for event, obj in changes:
                shown = obj
                if self._args.is_set("output-watch-events"):
                    shown = {"type": event, "object": obj}
                self._printer.print(shown, self._args.screen)
            return
        if not changes:
            return
        rows = table_rows(self.kind, [obj for _, obj in changes], self._ctx.clock.now_ms, self._options)
        if self._args.is_set("output-watch-events"):
            rows = [[event, *row] for (event, _), row in zip(changes, rows, strict=True)]
        if self._options.has_headers and not self._has_header:
            head = headers(self.kind, self._options)
            rows.insert(0, ["EVENT", *head] if self._args.is_set("output-watch-events") else head)
            self._has_header = True
        self._args.screen.out(self._aligned(rows))

    def _aligned(self, rows: list[list[str]]) -> str:
        """Align like a tabwriter that remembers its widths."""
        if not self._widths:
            self._widths = [0] * len(rows[0])
        # A line as wide as everything before it makes `align` keep the columns.
        filler = ["x" * width for width in self._widths]
        self._widths = [
            max(width, *(len(row[index]) for row in rows)) for index, width in enumerate(self._widths)
        ]
        return align([filler, *rows]).partition("\n")[2]


def _version(obj: Object) -> int:
    text = obj["metadata"].get("resourceVersion", "")
    return int(text) if text.isdigit() else 0


def run(ctx: Context, args: Args, selection: Selection) -> Output:
    """Print the list and what changes.

    Raises:
        Failure: when several types or objects are asked for.
        StatusError: when the server refuses.
    """
    listing, name = _target(ctx, args, selection)
    watch = _Watch(ctx, args, listing, name)
    if name:
        selection.infos[0].fetch(ctx)
    first = watch.snapshot()
    if not args.is_set("watch-only"):
        watch.print([("ADDED", obj) for obj in first.values()])
    watch.seen = first
    deadline = ctx.clock.now_ms + timeout_ms(args)
    while ctx.clock.now_ms < deadline:
        changed: list[tuple[str, Object]] = []

        def has_changed(changed: list[tuple[str, Object]] = changed) -> bool:
            now = watch.snapshot()
            changed[:] = watch.changes(now)
            if changed:
                watch.seen = now
            return bool(changed)

        try:
            if not ctx.clock.advance_until(has_changed, deadline - ctx.clock.now_ms):
                break
        except StatusError:
            break
        for change in changed:
            watch.print([change])
    return args.screen.done()


def _target(ctx: Context, args: Args, selection: Selection) -> tuple[Listing, str]:
    if args.text("sort-by"):
        args.screen.err("warning: --watch requested, --sort-by will be ignored for watch events received\n")
    if selection.errors:
        raise selection.errors[0]
    if len(selection.listings) == 1 and not selection.infos:
        return selection.listings[0], ""
    if len(selection.infos) == 1 and not selection.listings:
        info = selection.infos[0]
        return Listing(info.kind, info.namespace), info.name
    raise Failure("you may only specify a single resource type")
