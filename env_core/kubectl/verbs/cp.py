"""`kubectl cp`: files and directories between this terminal and a container, packed and unpacked by the container's tar."""

from __future__ import annotations

import io
import posixpath
import tarfile
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs._streams import refused
from env_core.objects.problems import quoted
from env_core.world import Output

_DIRECTORY_MODE = 0o755
_FILE_MODE = 0o644


@dataclass(frozen=True, slots=True)
class _Place:
    namespace: str
    pod: str
    path: str


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 2:
        raise Failure("source and destination are required")
    source, target = (_place(ctx, word) for word in args.positional)
    if source.pod and target.pod:
        raise Failure("one of src or dest must be a local file specification")
    if not source.path or not target.path:
        raise Failure("filepath can not be empty")
    if source.pod:
        _copy_from(ctx, args, source, target.path)
    elif target.pod:
        _copy_to(ctx, args, source.path, target)
    else:
        raise Failure("one of src or dest must be a remote file specification")
    return args.screen.done()


def _place(ctx: Context, word: str) -> _Place:
    head, colon, path = word.partition(":")
    if not colon:
        return _Place("", "", word)
    parts = head.split("/")
    if not head or len(parts) > 2:
        raise Failure("filespec must match the canonical format: [[namespace/]pod:]file/path")
    path = path.replace("\\", "/")
    if len(parts) == 2:
        return _Place(parts[0] or ctx.namespace, parts[1], path)
    return _Place(ctx.namespace, parts[0], path)


def _copy_from(ctx: Context, args: Args, source: _Place, target: str) -> None:
    """Unpack what the container's tar packs. What it complains of goes to standard output, as the real one has it.

    Raises:
        Failure: when tar fails, or a file cannot be written.
    """
    command: tuple[str, ...] = ("tar", "cf", "-", source.path)
    if args.number("retries"):
        escaped = source.path.replace("'", "'\\''")
        command = ("sh", "-c", f"tar cf - '{escaped}' | tail -c+0")
    said = Screen()
    try:
        result = _execute(ctx, args, source, command, said)
    finally:
        args.screen.out("".join(said.err_parts))
    args.screen.out(result.stderr)
    _check(result)
    prefix = _without_shortcuts(_cleaned(source.path.lstrip("/")))
    data = result.stdout.encode("utf-8", "surrogateescape")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as packed:
            for member in packed:
                _unpack(ctx, args, packed, member, prefix, target)
    except (tarfile.TarError, EOFError, ValueError):
        raise Failure("archive/tar: invalid tar header") from None
    except OSError as error:
        raise Failure(str(error)) from None


def _unpack(
    ctx: Context, args: Args, packed: tarfile.TarFile, member: tarfile.TarInfo, prefix: str, target: str
) -> None:
    if not member.name.startswith(prefix):
        raise Failure("tar contents corrupted")
    path = posixpath.normpath(
        posixpath.join(target, _without_shortcuts(member.name[len(prefix) :]).lstrip("/"))
    )
    root = posixpath.normpath(target)
    if not (path == root or root in (".", "/") or path.startswith(f"{root}/")) or path.startswith(".."):
        if not root.startswith(".."):
            args.screen.err(f"warning: file {quoted(path)} is outside target destination, skipping\n")
            return
    ctx.files.makedirs(posixpath.dirname(path) or ".")
    if member.isdir():
        ctx.files.makedirs(path)
    elif member.isfile():
        content = packed.extractfile(member)
        assert content is not None
        ctx.files.write(path, content.read().decode("utf-8", "surrogateescape"))


def _copy_to(ctx: Context, args: Args, source: str, target: _Place) -> None:
    """Pack files here, and let the container's tar unpack them.

    Raises:
        Failure: when there is no such file, or tar fails.
    """
    if not ctx.files.is_dir(source):
        try:
            ctx.files.read(source)
        except FileNotFoundError:
            raise Failure(f"{source} doesn't exist in local filesystem") from None
    path = target.path
    if _is_directory(ctx, args, target):
        path = posixpath.join(path, posixpath.basename(source.rstrip("/")) or source)
    flags = ("--no-same-permissions", "--no-same-owner") if args.is_set("no-preserve") else ()
    command = ("tar", *flags, "-xmf", "-", "-C", posixpath.dirname(_kept_slash(path)) or ".")
    packed = _packed(ctx, posixpath.normpath(source), posixpath.basename(_cleaned(path)))
    result = _execute(ctx, args, target, command, args.screen, stdin=packed)
    args.screen.out(result.stdout)
    args.screen.err(result.stderr)
    _check(result)


def _is_directory(ctx: Context, args: Args, target: _Place) -> bool:
    try:
        return _execute(ctx, args, target, ("test", "-d", target.path), Screen()).exit_code == 0
    except (Failure, StatusError):
        return False


def _packed(ctx: Context, source: str, name: str) -> str:
    """Return files as an archive in which they have another name."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as packed:
        _pack(ctx, packed, source, name)
    return data.getvalue().decode("utf-8", "surrogateescape")


def _pack(ctx: Context, packed: tarfile.TarFile, path: str, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.mtime = ctx.clock.now_ms // 1000
    if ctx.files.is_dir(path):
        names = ctx.files.listdir(path)
        if not names:
            member.type, member.mode = tarfile.DIRTYPE, _DIRECTORY_MODE
            packed.addfile(member)
        for each in names:
            _pack(ctx, packed, posixpath.join(path, each), posixpath.join(name, each))
        return
    content = ctx.files.read(path).encode("utf-8", "surrogateescape")
    member.size, member.mode = len(content), _FILE_MODE
    packed.addfile(member, io.BytesIO(content))


def _execute(
    ctx: Context, args: Args, place: _Place, command: tuple[str, ...], screen: Screen, *, stdin: str = ""
) -> Output:
    """Run the command that the copying needs.

    Raises:
        StatusError: when there is no such pod.
        Failure: when the command cannot be run.
    """
    pod = ctx.api.get("pods", place.namespace, place.pod)
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise Failure(f"cannot exec into a container in a completed pod; current phase is {phase}")
    container = pods.chosen_container(pod, args.text("container"), screen)
    options = ExecOptions(command=command, container=container, stdin=stdin)
    try:
        return ctx.api.exec(place.namespace, place.pod, options)
    except StatusError as error:
        raise refused(error) from None


def _check(result: Output) -> None:
    if result.exit_code:
        raise Failure(f"command terminated with exit code {result.exit_code}", result.exit_code, is_bare=True)


def _cleaned(path: str) -> str:
    """Return a path as Go's path.Clean has it."""
    found = posixpath.normpath(path) if path else "."
    return found[1:] if found.startswith("//") else found


def _kept_slash(path: str) -> str:
    """Return a path whose directory is told as path.Dir tells it."""
    directory, _, name = path.rpartition("/")
    return f"{_cleaned(directory or '/') if path.startswith('/') or directory else '.'}/{name}".replace(
        "//", "/"
    )


def _without_shortcuts(path: str) -> str:
    """Return a path without what would lead upwards."""
    while path.startswith("../"):
        path = path[3:]
    return "" if path in (".", "..") else path


VERB = Verb(
    name="cp",
    usage="cp <file-spec-src> <file-spec-dest>",
    summary="Copies files from and to containers.",
    flags=(
        Flag("container", str, shorthand="c", words="The container."),
        Flag("no-preserve", bool, words="Do not keep owners and permissions."),
        Flag("retries", int, words="How often to try again."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/cp",
    unrecorded="owners and permission bits: files have the usual ones",
)
