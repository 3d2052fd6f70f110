"""`-o`: from a format's name to a printer of objects, and the errors of wrong names.

Source: k8s.io/cli-runtime pkg/genericclioptions print_flags.go, jsonpath_flags.go, template_flags.go,
name_flags.go; kubectl pkg/cmd/get; tests/golden/l2/kubectl/fmt, web.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from env_core.kubectl.context import Context
from env_core.kubectl.output import customcolumns
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args
from env_core.objects import jsonpath
from env_core.objects.gotemplate import TemplateError
from env_core.objects.jsonout import to_json
from env_core.objects.kyamlout import to_kyaml
from env_core.objects.problems import quoted
from env_core.objects.yamlout import to_yaml
from env_core.world import Object

FORMATS = (
    "go-template", "go-template-file", "json", "jsonpath", "jsonpath-as-json", "jsonpath-file",
    "kyaml", "name", "template", "templatefile", "yaml",
)  # fmt: skip
"""What verbs that print through PrintFlags know."""
GET_FORMATS = tuple(sorted((*FORMATS, "custom-columns", "custom-columns-file", "wide")))
_JSONPATH = ("jsonpath", "jsonpath-as-json", "jsonpath-file")
_TEMPLATE = ("go-template", "go-template-file", "template", "templatefile")
_COLUMNS = ("custom-columns", "custom-columns-file")


@dataclass(slots=True)
class Printer:
    """Prints objects one after the other in one format."""

    text_of: Callable[[Object], str]
    separator: str = ""
    """Printed between objects (`---` of YAML)."""
    printed: int = 0

    def print(self, obj: Object, screen: Screen) -> None:
        """Print an object.

        Raises:
            Failure: when a template does not apply; what it printed before stays.
        """
        if self.printed:
            screen.out(self.separator)
        self.printed += 1
        try:
            screen.out(self.text_of(obj))
        except (customcolumns.CustomColumnsError, TemplateError) as error:
            screen.out(error.output)
            raise Failure(str(error)) from None
        except jsonpath.JSONPathError as error:
            raise Failure(_one_line_end(str(error))) from None


def output_format(args: Args) -> str:
    """Return the format that the flags ask for, "" for the verb's own; a bare --template means go-template."""
    chosen = args.text("output")
    if not chosen and args.has("template") and args.text("template"):
        return "go-template"
    return chosen


def object_printer(
    ctx: Context,
    args: Args,
    chosen: str = "",
    *,
    formats: Sequence[str] = FORMATS,
    operation: str = "",
) -> Printer:
    """Return the printer of a format; `chosen` replaces what the flags ask for.

    Raises:
        Failure: for an unknown format, a missing or wrong template.
    """
    chosen = chosen or output_format(args)
    lowered = chosen.lower()
    managed = args.has("show-managed-fields") and args.is_set("show-managed-fields")
    if lowered in ("json", "yaml", "kyaml") and lowered in formats:
        keep: Callable[[Object], Object] = _same if managed else without_managed_fields
        if lowered == "json":
            return Printer(lambda obj: to_json(keep(obj)))
        if lowered == "yaml":
            return Printer(lambda obj: to_yaml(keep(obj)), separator="---\n")
        return Printer(lambda obj: to_kyaml(keep(obj)))
    if lowered == "name" and "name" in formats:
        return Printer(lambda obj: names_text(obj, operation=""))
    name, value = _split_format(chosen, args)
    if name in formats:
        if name in _JSONPATH:
            return _jsonpath_printer(ctx, args, name, value)
        if name in _TEMPLATE:
            return _template_printer(ctx, args, name, value)
        if name in _COLUMNS:
            return _columns_printer(ctx, args, name, value)
    raise unknown_format(chosen, formats)


def unknown_format(chosen: str, formats: Sequence[str]) -> Failure:
    """Return the error of a format that the verb does not know."""
    return Failure(
        f"unable to match a printer suitable for the output format {quoted(chosen)}, "
        f"allowed formats are: {','.join(sorted(formats))}"
    )


def result_printer(
    ctx: Context, args: Args, operation: str, dry_run: str = "", *, formats: Sequence[str] = FORMATS
) -> Printer:
    """Return the printer of a write's result: `pod/x created` without -o, else as `object_printer`.

    `dry_run` is "", "client" or "server" and adds its note.
    """
    chosen = output_format(args)
    if chosen:
        return object_printer(ctx, args, formats=formats)
    note = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    return Printer(lambda obj: names_text(obj, operation=operation + note))


def _split_format(chosen: str, args: Args) -> tuple[str, str]:
    template = args.text("template") if args.has("template") else ""
    if template:
        return chosen.partition("=")[0], template
    name, _, value = chosen.partition("=")
    return name, value


def _read_file(ctx: Context, path: str, what: str) -> str:
    try:
        return ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(f"error reading {what} {path}, open {path}: no such file or directory") from None


def _jsonpath_printer(ctx: Context, args: Args, name: str, value: str) -> Printer:
    if not value:
        raise Failure("template format specified but no template given")
    if name == "jsonpath-file":
        value = _read_file(ctx, value, "--template")
    allow_missing = not args.has("allow-missing-template-keys") or args.is_set("allow-missing-template-keys")
    try:
        path = jsonpath.printer_for(value)
    except jsonpath.JSONPathError as error:
        raise Failure(str(error)) from None
    as_json = name == "jsonpath-as-json"
    return Printer(lambda obj: path.render(obj, allow_missing=allow_missing, as_json=as_json))


def _template_printer(ctx: Context, args: Args, name: str, value: str) -> Printer:
    from env_core.kubectl.output import gotemplate

    if not value:
        raise Failure("template format specified but no template given")
    if name in ("go-template-file", "templatefile"):
        value = _read_file(ctx, value, "--template")
    allow_missing = not args.has("allow-missing-template-keys") or args.is_set("allow-missing-template-keys")
    try:
        template = gotemplate.printer_for(value)
    except gotemplate.TemplateError as error:
        raise Failure(_one_line_end(str(error))) from None

    return Printer(lambda obj: template.render(obj, allow_missing=allow_missing))


def _columns_printer(ctx: Context, args: Args, name: str, value: str) -> Printer:
    try:
        if name == "custom-columns":
            columns = customcolumns.parse_columns(value)
        else:
            if not value:
                raise Failure("custom-columns format specified but no custom columns given")
            columns = customcolumns.parse_columns_file(_read_file(ctx, value, "template"))
    except customcolumns.CustomColumnsError as error:
        raise Failure(str(error)) from None
    no_headers = args.has("no-headers") and args.is_set("no-headers")
    return Printer(lambda obj: customcolumns.render(columns, obj, no_headers=no_headers))


def _one_line_end(text: str) -> str:
    return text


def _same(obj: Object) -> Object:
    return obj


def without_managed_fields(obj: Object) -> Object:
    """Return the object, or each item of a list, without metadata.managedFields."""
    items = obj.get("items")
    if isinstance(items, list) and str(obj.get("kind", "")).endswith("List"):
        return {**obj, "items": [without_managed_fields(item) for item in items]}
    metadata = obj.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        kept = {key: value for key, value in metadata.items() if key != "managedFields"}
        return {**obj, "metadata": kept}
    return obj


def names_text(obj: Object, *, operation: str) -> str:
    """Return `pod/x`, with the operation behind it, one line for each item of a list."""
    items = obj.get("items")
    if isinstance(items, list) and str(obj.get("kind", "")).endswith("List"):
        return "".join(names_text(item, operation=operation) for item in items)
    name = (obj.get("metadata") or {}).get("name") or "<unknown>"
    kind = str(obj.get("kind", "")).lower() or "<unknown>"
    group, slash, _ = str(obj.get("apiVersion", "")).partition("/")
    label = f"{kind}.{group}" if slash else kind
    return f"{label}/{name}{' ' + operation if operation else ''}\n"


def as_list(items: Sequence[Object]) -> Object:
    """Return the v1 List that wraps several objects."""
    return {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}}


def to_ordered_json(value: Any, indent: int = 4) -> str:
    """Return JSON as `-o json` prints a typed object: fields in the order given, with a final line end."""
    return _html_safe(json.dumps(value, indent=indent, ensure_ascii=False)) + "\n"


def compact_ordered_json(value: Any) -> str:
    """Return JSON without blanks, fields in the order given."""
    return _html_safe(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def _html_safe(text: str) -> str:
    for char, escape in (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")):
        text = text.replace(char, escape)
    return text
