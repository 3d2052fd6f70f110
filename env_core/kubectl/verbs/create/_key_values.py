"""Keys and values of config maps and secrets from literals, files and env files.

Source: k8s.io/kubectl pkg/util util.go (ParseLiteralSource, ParseFileSource), pkg/cmd/util env_file.go,
pkg/util/hash; tests/golden/l0/kubectl_commands, tests/golden/l2/kubectl/web.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Array, Flag, Slice
from env_core.objects import names
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import quoted
from env_core.world import Object

SOURCE_FLAGS = (
    Flag("append-hash", bool, words="Put a hash of the content behind the name."),
    Flag("from-env-file", Slice, words="File of KEY=VALUE lines."),
    Flag("from-file", Slice, words="File, KEY=FILE or directory."),
    Flag("from-literal", Array, words="KEY=VALUE."),
)
_HASH_LETTERS = str.maketrans("013ae", "ghkmt")

Add = Callable[[str, str], None]


def check_sources(args: Args) -> None:
    """Refuse env files together with other sources.

    Raises:
        Failure: in the words of the verb.
    """
    if args.items("from-env-file") and (args.items("from-file") or args.items("from-literal")):
        raise Failure("from-env-file cannot be combined with from-file or from-literal")


def add_literals(args: Args, add: Add) -> None:
    """Add what --from-literal says.

    Raises:
        Failure: for a source that is not key=value.
    """
    for source in args.items("from-literal"):
        key, equals, value = source.partition("=")
        if not source:
            raise Failure(f"invalid literal source {source}, expected key=value")
        if not equals or not key:
            raise Failure(f"invalid literal source {source}, expected key=value")
        if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        add(key, value)


def add_files(ctx: Context, args: Args, add: Add) -> None:
    """Add what --from-file says.

    Raises:
        Failure: for a source that makes no sense or cannot be read.
    """
    for source in args.items("from-file"):
        key, path = _file_source(source)
        if ctx.files.is_dir(path):
            if "=" in source:
                raise Failure("cannot give a key name for a directory path")
            directory = path.rstrip("/")
            for name in ctx.files.listdir(path):
                if not ctx.files.is_dir(f"{directory}/{name}"):
                    add(name, ctx.files.read(f"{directory}/{name}"))
        else:
            add(key, _read(ctx, path))


def _file_source(source: str) -> tuple[str, str]:
    count = source.count("=")
    if count == 0:
        return source.rstrip("/").rpartition("/")[2], source
    if count == 1 and source.startswith("="):
        raise Failure(f"key name for file path {source.removeprefix('=')} missing")
    if count == 1 and source.endswith("="):
        raise Failure(f"file path for key name {source.removesuffix('=')} missing")
    if count > 1:
        raise Failure("key names or file paths cannot contain '='")
    key, _, path = source.partition("=")
    return key, path


def _read(ctx: Context, path: str) -> str:
    try:
        return ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(f"error reading {path}: no such file or directory") from None


def add_env_files(ctx: Context, args: Args, what: str, add: Add) -> None:
    """Add the lines of --from-env-file.

    Raises:
        Failure: for a file that cannot be read or a key that is no variable's name.
    """
    for path in args.items("from-env-file"):
        if ctx.files.is_dir(path):
            raise Failure(f"env {what} file cannot be a directory")
        text = _read(ctx, path)
        for line in text.removeprefix("\ufeff").splitlines():
            line = line.lstrip()
            if not line or line.startswith("#"):
                continue
            key, _, value = line.partition("=")
            complaints = names.is_strict_env_var_name(key)
            if complaints:
                raise Failure(f"{quoted(key)} is not a valid key name: {';'.join(complaints)}")
            add(key, value)


def hashed_name(obj: Object) -> str:
    """Return the object's name with the hash of its content behind it."""
    content: Object = {"data": obj.get("data") or {}, "kind": obj["kind"], "name": obj["metadata"]["name"]}
    if obj["kind"] == "Secret":
        content["type"] = obj.get("type", "")
    digest = sha256(to_compact_json(content).encode()).hexdigest()[:10]
    return f"{obj['metadata']['name']}-{digest.translate(_HASH_LETTERS)}"
