"""What the generators of `create` share: flags, the name argument, creating and printing.

Source: k8s.io/kubectl pkg/cmd/create create.go (NameFromCommandArgs); tests/golden/l0/kubectl_commands.
"""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.last_applied import saved
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import DRY_RUN, PRINT_FLAGS, Args, Flag, field_manager
from env_core.kubectl.writes import (
    SAVE_CONFIG,
    VALIDATE,
    as_typed,
    options_of,
    result_printer_of,
    validation_of,
)
from env_core.objects import quantity
from env_core.world import Object, Output

GENERATOR_FLAGS: tuple[Flag, ...] = (
    *PRINT_FLAGS,
    DRY_RUN,
    SAVE_CONFIG,
    VALIDATE,
    field_manager("kubectl-create"),
)


def name_argument(args: Args) -> str:
    """Return the only argument in front of `--`.

    Raises:
        Failure: when there is none, or several.
    """
    count = len(args.positional) if args.before_dash < 0 else args.before_dash
    if count != 1:
        raise usage_failure(args.path, f"exactly one NAME is required, got {count}")
    return args.positional[0]


def metadata_of(ctx: Context, name: str) -> Object:
    """Return metadata with the name, and with the namespace if the command line says one."""
    return {"name": name, "namespace": ctx.namespace} if ctx.is_namespace_explicit else {"name": name}


def create_generated(
    ctx: Context, args: Args, resource: str, obj: Object, failed: str = "", *, is_namespaced: bool = True
) -> Output:
    """Create the object, or only show it, and print the result.

    Raises:
        StatusError: when the server refuses, without `failed`.
        Failure: with `failed` in front, else.
    """
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)
    options = options_of(args, dry_run, validation_of(args))
    obj = saved(as_typed(obj), is_wanted=args.is_set("save-config"), is_typed=True)
    if dry_run != "client":
        try:
            obj = ctx.api.create(resource, ctx.namespace if is_namespaced else "", obj, options=options)
        except StatusError as error:
            if not failed:
                raise
            raise Failure(failed + error.message) from None
    printer("created").print(obj, args.screen)
    return args.screen.done()


def checked_quantity(text: str) -> str:
    """Return a quantity in canonical form.

    Raises:
        Failure: for text that is none.
    """
    try:
        return str(quantity.parse(text))
    except ValueError as error:
        raise Failure(str(error)) from None
