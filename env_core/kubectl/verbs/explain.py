"""`kubectl explain`: the fields of a type, their types and enumerations, without descriptions.

Source: k8s.io/kubectl pkg/explain/v2 templates/plaintext.tmpl.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import Field, GoType, StructType, schema_for
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs._explain_openapi2 import inner_struct, render
from env_core.objects._jsonpath_nodes import Field as PathField
from env_core.objects._jsonpath_nodes import JSONPathError, Node
from env_core.objects._jsonpath_nodes import Sequence as NodeSequence
from env_core.objects._jsonpath_parser import parse_nodes
from env_core.objects.problems import quoted
from env_core.world import Output

_MISSING = (
    "You must specify the type of resource to explain. "
    'Use "kubectl api-resources" for a complete list of supported resources.'
)
_SCALARS = {
    "string": "string", "bytes": "string", "bool": "boolean", "interface": "Object",
    "int": "integer", "int32": "integer", "int64": "integer", "uint8": "integer", "float64": "number",
}  # fmt: skip
_SPECIAL = {"time": "string", "microTime": "string", "duration": "string"}
_VALUES_MAX = 4
_NO_DESCRIPTION = "<no description>"


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if not words:
        raise Failure(_MISSING)
    if len(words) > 1:
        raise Failure("We accept only this format: explain RESOURCE")
    if args.number("max-depth") > 0 and not args.is_set("recursive"):
        raise Failure("--max-depth requires --recursive")
    if args.number("max-depth") < 0:
        raise Failure("--max-depth must be non-negative")
    kind, path = _target(ctx, args, words[0])
    wanted = args.text("api-version")
    if wanted and wanted != kind.api_version:
        found = ctx.discovery.by_gvk(wanted, kind.kind)
        if found is None or found.plural != kind.plural:
            raise Failure(f"couldn't find resource for {quoted(f'{wanted}, Resource={kind.plural}')}")
        kind = found
    screen = args.screen
    is_older = args.text("output") == "plaintext-openapiv2"
    if not is_older:
        if args.text("output") != "plaintext":
            raise Failure(f"unrecognized format: {args.text('output')}")
        if kind.group:
            screen.out(f"GROUP:      {kind.group}\n")
        screen.out(f"KIND:       {kind.kind}\nVERSION:    {kind.version}\n\n")
    struct = kind.struct or schema_for(kind.group, kind.version, kind.kind)
    descriptions = struct.descriptions if struct is not None else ()
    field: Field | None = None
    for name in path:
        if struct is None or name not in struct.fields:
            # The plain text names the end of the path, wherever it breaks off.
            raise Failure(f"field {quoted(name if is_older else path[-1])} does not exist")
        field = struct.fields[name]
        struct = inner_struct(field.type)
        descriptions = field.descriptions
    if is_older:
        render(args, kind, field, struct)
        return screen.done()
    if field is not None:
        _print_field(args, field)
    screen.out(f"DESCRIPTION:\n{_description(descriptions)}\n")
    if struct is not None and not struct.special:
        screen.out("FIELDS:\n")
        _print_fields(args, struct, is_recursive=args.is_set("recursive"))
    screen.out("\n")
    return screen.done()


def _target(ctx: Context, args: Args, word: str) -> tuple[Kind, list[str]]:
    """Return the type and the path below it; a plural may have its group behind it.

    Raises:
        Failure: for what is no path, and for a type that the server does not have.

    Source: k8s.io/kubectl pkg/explain explain.go (SplitAndParseResourceRequestWithMatchingPrefix).
    """
    nodes = _path_nodes(word)
    resource = _field_names(nodes[:1], "first node must be field node")[0]
    if not resource:
        raise Failure("a resource must be present, got: /, Resource=")
    kind = ctx.discovery.find(resource)
    if kind is None:
        raise Failure(f"the server doesn't have a resource type {quoted(resource)}", is_bare=True)
    if args.text("api-version"):
        return kind, _field_names(nodes[1:], "all nodes must be field nodes")
    for candidate in ctx.discovery.all():
        if candidate.plural == kind.plural and word.startswith(candidate.resource):
            rest = word[len(candidate.resource) :]
            below = _path_nodes(rest)[1:] if rest else ()
            return candidate, _field_names(below, "first node must be field node")
    return kind, _field_names(nodes[1:], "first node must be field node")


def _path_nodes(text: str) -> Sequence[Node]:
    try:
        parsed = parse_nodes("{." + text.removesuffix(".") + "}")
    except JSONPathError as error:
        raise Failure(str(error)) from None
    first = parsed[0] if len(parsed) == 1 else None
    if not isinstance(first, NodeSequence):
        raise Failure("must pass in 1 jsonpath string")
    return first.nodes


def _field_names(nodes: Sequence[Node], problem: str) -> list[str]:
    if not all(isinstance(node, PathField) for node in nodes):
        raise Failure(f"invalid jsonpath syntax, {problem}")
    return [node.name for node in nodes if isinstance(node, PathField)]


def _description(descriptions: tuple[str, ...]) -> str:
    """Return what is said of a type; built-in types, of which nothing is kept here, look as if it were left out."""
    if not descriptions:
        return "    <empty>\n    "
    text = "".join(f"{each}\n" for each in descriptions if each)
    return _indented(text or "<empty>", 76, 4)


def _indented(text: str, width: int, indent: int) -> str:
    pad = " " * indent
    return "\n".join(pad + line for each in text.split("\n") for line in _wrapped(each, width))


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line broken at blanks, words longer than the width whole.

    Source: github.com/mitchellh/go-wordwrap.
    """
    found = [""]
    for word in line.split(" "):
        if found[-1] and len(found[-1]) + 1 + len(word) > width:
            found.append(word)
        else:
            found[-1] = f"{found[-1]} {word}" if found[-1] else word
    return found


def _type_name(go_type: GoType) -> str:
    if go_type.kind == "ptr" and go_type.element is not None:
        return _type_name(go_type.element)
    if go_type.kind == "slice" and go_type.element is not None:
        return f"[]{_type_name(go_type.element)}"
    if go_type.kind == "map" and go_type.element is not None:
        return f"map[string]{_type_name(go_type.element)}"
    if go_type.kind == "struct":
        struct = go_type.struct
        return _SPECIAL.get(struct.special, struct.name)
    return _SCALARS.get(go_type.kind, go_type.kind)


def _values(field: Field) -> list[str]:
    """Return the values of an enumerated string field."""
    go_type = field.type.element if field.type.kind == "ptr" else field.type
    return list(field.enum) if go_type is not None and go_type.kind == "string" else []


def _print_field(args: Args, field: Field) -> None:
    args.screen.out(f"FIELD: {field.json} <{_type_name(field.type)}>\n")
    values = _values(field)
    if values:
        args.screen.out("ENUM:\n" + "".join(f"    {value}\n" for value in values) + "\n")
    else:
        args.screen.out("\n\n")


def _print_fields(
    args: Args, struct: StructType, *, is_recursive: bool, depth: int = 1, above: tuple[str, ...] = ()
) -> None:
    pad = "  " * depth
    most = args.number("max-depth")
    for name in sorted(struct.fields):
        field = struct.fields[name]
        mark = " -required-" if name in struct.required else ""
        args.screen.out(f"{pad}{name}\t<{_type_name(field.type)}>{mark}\n")
        values = _values(field)
        if values:
            shown = [*values[:_VALUES_MAX], "...."] if len(values) > _VALUES_MAX else values
            args.screen.out(f"{pad}enum: {', '.join(shown)}\n")
        if not is_recursive:
            own = field.descriptions[0] if field.descriptions else ""
            args.screen.out(f"{_indented(own or _NO_DESCRIPTION, 78 - 2 * depth, 2 * depth + 2)}\n\n")
            continue
        inner = inner_struct(field.type)
        if inner is None or inner.special or inner.path in above or (most and depth >= most):
            continue
        _print_fields(
            args, inner, is_recursive=True, depth=depth + 1, above=(*above, struct.path, inner.path)
        )


VERB = Verb(
    name="explain",
    usage=(
        "explain TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group] "
        "[-o|--output=plaintext|plaintext-openapiv2]"
    ),
    summary="Lists the fields of a type.",
    flags=(
        Flag("api-version", str, words="Version of the type."),
        Flag("max-depth", int, words="How deep to go with --recursive."),
        Flag("output", str, shorthand="o", default="plaintext", words="plaintext or plaintext-openapiv2."),
        Flag("recursive", bool, shorthand="R", words="Show the fields of fields."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/explain",
    unrecorded="Descriptions are left out: the prose is Kubernetes' own.",
)
