"""What writing verbs share: query options, validation flags, error wording, objects as their Go types have them.

Source: k8s.io/kubectl pkg/cmd/util helpers.go (AddSourceToErr, GetValidationDirective), cli-runtime pkg/printers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.apiserver.schema import schema_for
from env_core.apiserver.strict import IGNORE, decode
from env_core.apiserver.typed import in_type_order
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import (
    FORMATS,
    Printer,
    compact_ordered_json,
    names_text,
    object_printer,
    output_format,
    to_ordered_json,
    without_managed_fields,
)
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Failures
from env_core.kubectl.verb import Args, Flag
from env_core.objects.kyamlout import to_kyaml
from env_core.objects.problems import quoted
from env_core.world import Object

VALIDATE = Flag("validate", str, default="strict", no_value="strict", words="strict, warn or ignore.")
SAVE_CONFIG = Flag("save-config", bool, words="Keep the configuration in an annotation for apply.")
SUBRESOURCE = Flag("subresource", str, words="Subresource to write.")
BOUND_MS = 15 * 60 * 1000
"""How long a command waits without --timeout: the real one never gives up."""
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), "Strict"),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), "Ignore"),
    "strict": "Strict",
    "warn": "Warn",
    "ignore": "Ignore",
}
_NOTES = {"client": " (dry run)", "server": " (server dry run)"}


def validation_of(args: Args) -> str:
    """Return the fieldValidation that --validate means.

    Raises:
        Failure: for another value.
    """
    value = args.text("validate")
    found = _BOOLEANS.get(value)
    if found is None:
        raise Failure(
            f"invalid - validate option {quoted(value)}; must be one of: strict (or true), warn, ignore (or false)"
        )
    return found


def options_of(args: Args, dry_run: str = "", validation: str = "") -> Options:
    """Return the query options of a write: field manager, dry run, field validation."""
    return Options(
        field_manager=args.text("field-manager") if args.has("field-manager") else "",
        dry_run=dry_run == "server",
        field_validation=validation or "Warn",
    )


def unversioned(obj: Object) -> Object:
    """Return the object as kubectl creates it: without a resource version (cli-runtime resource.Helper, modify)."""
    metadata = obj.get("metadata") or {}
    if "resourceVersion" not in metadata:
        return obj
    return {**obj, "metadata": {key: value for key, value in metadata.items() if key != "resourceVersion"}}


def with_source(doing: str, source: str, error: Exception) -> Exception:
    """Return the error with `error when creating "x.yaml": ` in front, if a file is to blame."""
    if not source:
        return error
    head = f"error when {doing} {quoted(source)}: "
    if isinstance(error, StatusError):
        return StatusError({**error.status, "message": head + error.message})
    return Failure(head + (error.text if isinstance(error, Failure) else str(error)))


def describe_target(info: Info) -> str:
    """Return resource, kind, name and namespace in two lines, as errors name an object."""
    kind = info.kind
    group_version = f"{kind.group}/{kind.version}"
    return (
        f"Resource: {quoted(f'{group_version}, Resource={kind.plural}')}, "
        f"GroupVersionKind: {quoted(f'{group_version}, Kind={kind.kind}')}\n"
        f"Name: {quoted(info.name)}, Namespace: {quoted(info.namespace)}"
    )


def as_typed(obj: Object) -> Object:
    """Return the object as it leaves its Go type: fields without omitempty are there. Unknown types stay.

    Raises:
        Failure: when a field does not fit its type.
    """
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    kind = str(obj.get("kind", ""))
    if schema_for(group, version, kind) is None:
        return obj
    try:
        return decode(obj, group, version, kind, IGNORE).object
    except StatusError as error:
        raise Failure(error.message.partition(": ")[2] or error.message) from None


def typed_json(obj: Object) -> str:
    """Return compact JSON with a line end, as the encoder of typed objects writes it."""
    return compact_ordered_json(in_type_order(obj)) + "\n"


def result_printer_of(
    ctx: Context, args: Args, dry_run: str = "", *, is_typed: bool = False
) -> Callable[[str], Printer]:
    """Return the function from an operation ("created") to the printer of its result; -o is checked at once.

    Raises:
        Failure: for an unknown format.
    """
    chosen = output_format(args)
    if not chosen:
        note = _NOTES.get(dry_run, "")
        return lambda operation: Printer(lambda obj: names_text(obj, operation=operation + note))
    if is_typed and chosen.lower() in ("json", "kyaml"):
        keeps = args.has("show-managed-fields") and args.is_set("show-managed-fields")
        write = to_ordered_json if chosen.lower() == "json" else ordered_kyaml
        printer = Printer(lambda obj: write(in_type_order(obj if keeps else without_managed_fields(obj))))
    else:
        printer = object_printer(ctx, args, formats=FORMATS)
    return lambda _operation: printer


class _RankedKey(str):
    """A key that sorts by its place in a Go type."""

    rank = 0

    def __lt__(self, other: object) -> bool:
        return isinstance(other, _RankedKey) and self.rank < other.rank


def ordered_kyaml(obj: Object) -> str:
    """Return KYAML with the fields in the order given."""
    return to_kyaml(_ranked(obj))


def _ranked(value: Any) -> Any:
    if isinstance(value, dict):
        ranked: dict[str, Any] = {}
        for rank, (name, item) in enumerate(value.items()):
            key = _RankedKey(name)
            key.rank = rank
            ranked[key] = _ranked(item)
        return ranked
    return [_ranked(item) for item in value] if isinstance(value, list) else value


def raise_listed(errors: Iterable[Exception]) -> None:
    """Raise nothing, or all errors as a list: even a single one is printed without "error: "."""
    found = list(errors)
    if found:
        raise Failures(found)


def aggregate_text(texts: list[str]) -> str:
    """Return several error texts as Go's aggregate words them: "[a, b]", or the only one."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def error_message(error: Exception) -> str:
    """Return the plain text of an error (Go's err.Error())."""
    if isinstance(error, StatusError):
        return error.message
    return error.text if isinstance(error, Failure) else str(error)


def without_nulls(value: Any) -> Any:
    """Return a value whose maps have no null members."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
