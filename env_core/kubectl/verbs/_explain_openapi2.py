"""`explain -o plaintext-openapiv2`: the older layout, with the types of OpenAPI instead of Go's names.

Source: k8s.io/kubectl pkg/explain model_printer.go, fields_printer.go, recursive_fields_printer.go, typename.go.
"""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import Field, GoType, StructType
from env_core.kubectl.verb import Args

_SCALARS = {
    "string": "string", "bytes": "string", "bool": "boolean", "interface": "",
    "int": "integer", "int32": "integer", "int64": "integer", "uint8": "integer", "float64": "number",
}  # fmt: skip
_SPECIAL = {"fields": "map[string]", "rawExtension": "map[string]"}
_INDENT = " " * 3


def render(args: Args, kind: Kind, field: Field | None, struct: StructType | None) -> None:
    """Print a type, or a field of one."""
    screen = args.screen
    screen.out(f"KIND:     {kind.kind}\nVERSION:  {kind.api_version}\n\n")
    if struct is None or struct.special:
        if field is not None:
            screen.out(f"FIELD:    {field.json} <{_type_name(field.type)}>\n\n")
        screen.out("DESCRIPTION:\n     <empty>\n")
        return
    if field is not None:
        screen.out(f"RESOURCE: {field.json} <{_type_name(field.type)}>\n\n")
    screen.out("DESCRIPTION:\n     <empty>\n\nFIELDS:\n")
    if args.is_set("recursive"):
        _print_deeply(args, struct, 1, (struct.path,))
        return
    for name in sorted(struct.fields):
        mark = " -required-" if name in struct.required else ""
        screen.out(f"{_INDENT}{name}\t<{_type_name(struct.fields[name].type)}>{mark}\n\n")


def _print_deeply(args: Args, struct: StructType, depth: int, above: tuple[str, ...]) -> None:
    most = args.number("max-depth")
    for name in sorted(struct.fields):
        field = struct.fields[name]
        args.screen.out(f"{_INDENT * depth}{name}\t<{_type_name(field.type)}>\n")
        inner = inner_struct(field.type)
        if (
            inner is not None
            and not inner.special
            and inner.path not in above
            and not (most and depth > most)
        ):
            _print_deeply(args, inner, depth + 1, (*above, inner.path))


def inner_struct(go_type: GoType) -> StructType | None:
    """Return the struct behind pointers, lists and maps, None when there is none."""
    while go_type.kind in ("ptr", "slice", "map") and go_type.element is not None:
        go_type = go_type.element
    return go_type.struct if go_type.kind == "struct" else None


def _type_name(go_type: GoType) -> str:
    if go_type.element is not None:
        inner = _type_name(go_type.element)
        return {"ptr": inner, "slice": f"[]{inner}", "map": f"map[string]{inner}"}[go_type.kind]
    if go_type.kind == "struct":
        special = go_type.struct.special
        return _SPECIAL.get(special, "string") if special else "Object"
    return _SCALARS.get(go_type.kind, go_type.kind)
