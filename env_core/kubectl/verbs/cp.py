"""`kubectl cp`: one file between this terminal and a container."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import ExecOptions
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs._streams import refused
from env_core.world import Output

_NOT_SIMULATED = "copying files is not simulated: use kubectl exec POD -- cat FILE to read a file, or a config map to bring one in"


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
        _execute(ctx, args, source, ("tar", "cf", "-", source.path))
    elif target.pod:
        if not ctx.files.is_dir(source.path):
            try:
                ctx.files.read(source.path)
            except FileNotFoundError:
                raise Failure(f"{source.path} doesn't exist in local filesystem") from None
        directory = target.path.rpartition("/")[0] or "/"
        _execute(ctx, args, target, ("tar", "-xmf", "-", "-C", directory))
    else:
        raise Failure("one of src or dest must be a remote file specification")
    raise Failure(_NOT_SIMULATED)


def _place(ctx: Context, word: str) -> _Place:
    head, colon, path = word.partition(":")
    if not colon:
        return _Place("", "", word)
    parts = head.split("/")
    if not head or len(parts) > 2:
        raise Failure("filespec must match the canonical format: [[namespace/]pod:]file/path")
    if len(parts) == 2:
        return _Place(parts[0], parts[1], path)
    return _Place(ctx.namespace, parts[0], path)


def _execute(ctx: Context, args: Args, place: _Place, command: tuple[str, ...]) -> None:
    """Run the command that the copying needs; what refuses it is the error.

    Raises:
        StatusError: when there is no such pod.
        Failure: when the command cannot be run.
    """
    pod = ctx.api.get("pods", place.namespace, place.pod)
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise Failure(f"cannot exec into a container in a completed pod; current phase is {phase}")
    container = pods.chosen_container(pod, args.text("container"), args.screen)
    try:
        result = ctx.api.exec(place.namespace, place.pod, ExecOptions(command=command, container=container))
    except StatusError as error:
        raise refused(error) from None
    if result.exit_code:
        args.screen.err(result.stderr)
        raise Failure(f"command terminated with exit code {result.exit_code}", result.exit_code, is_bare=True)


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
    unrecorded="copying itself: it is refused",
)
