"""What the sub-commands of `rollout` have in common: flags, and the objects they are about."""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import STRATEGIC_PATCH, Options
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import result_printer
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, SELECTOR, Args, Flag, field_manager
from env_core.kubectl.writes import raise_listed
from env_core.world import Object, Output

TARGET_FLAGS = (*FILE_FLAGS, SELECTOR)
_VISITED = frozenset(
    {
        ("batch", "Job"),
        ("batch", "CronJob"),
        ("", "Pod"),
        ("", "ReplicationController"),
        ("apps", "ReplicaSet"),
    }
)
_RETRIEVED = {"history viewer": "history", "rollbacker": "rollbacker"}
WRITE_FLAGS: tuple[Flag, ...] = (*TARGET_FLAGS, *PRINT_FLAGS, field_manager("kubectl-rollout"))


def check_named(args: Args) -> None:
    """Refuse a line that names nothing.

    Raises:
        Failure: always in the same words.
    """
    if not args.positional and not args.items("filename") and not args.text("kustomize"):
        raise Failure("required resource not specified")


def targets(ctx: Context, args: Args) -> tuple[list[Info], list[Exception]]:
    """Return the objects that the arguments mean, and the errors of those that could not be had.

    Raises:
        Failure: when there are no arguments.
    """
    check_named(args)
    return select(ctx, args, args.positional, allows_no_selector=True, is_typed=True).load(ctx)


def unhandled(kind: Kind, what: str) -> Failure:
    """Return the error for a kind without what `history` or `undo` needs; most kinds are not even visited.

    Source: k8s.io/kubectl pkg/apps kind_visitor.go, pkg/polymorphichelpers history.go, rollback.go.
    """
    quoted_kind = f'"{group_kind(kind)}"'
    if (kind.group, kind.kind) in _VISITED:
        return Failure(f"no {what} has been implemented for {quoted_kind}")
    return Failure(
        f"error retrieving {_RETRIEVED[what]} for {quoted_kind}, no visitor method exists for "
        f"{{{kind.group} {kind.kind}}}"
    )


def group_kind(kind: Kind) -> str:
    """Return "Job.batch", or "Service" for the core group."""
    return f"{kind.kind}.{kind.group}" if kind.group else kind.kind


def patch_each(
    ctx: Context, args: Args, change: Callable[[Context, Info], Object], done: str, nothing: str
) -> Output:
    """Patch every object by `change` and print `done` for each, going on after errors.

    `change` returns a strategic patch, or raises `Failure` with the reason only; `nothing` is the error when
    the patch changes nothing.
    """
    infos, errors = targets(ctx, args)
    if not infos and not errors:
        args.screen.err(f"No resources found in {ctx.namespace} namespace.\n")
    printer = result_printer(ctx, args, done)
    failures: list[Exception] = []
    for info in infos:
        try:
            patch = change(ctx, info)
        except Failure as failure:
            failures.append(Failure(f'error: {info.kind.resource} "{info.name}" {failure.text}'))
            continue
        if not patch:
            failures.append(Failure(nothing))
            continue
        try:
            obj = ctx.api.patch(
                info.kind.resource,
                info.namespace,
                info.name,
                patch,
                STRATEGIC_PATCH,
                options=Options(field_manager=args.text("field-manager")),
            )
        except StatusError as error:
            failures.append(Failure(f"failed to patch: {error.message}"))
            continue
        printer.print(obj, args.screen)
    failures.extend(errors)
    raise_listed(failures)
    return args.screen.done()
