"""What the sub-commands of `config` share."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.help import help_text
from env_core.kubectl.kubeconfig import Kubeconfig, kubeconfig_of, store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args


def unexpected(args: Args) -> Failure:
    """Print the help and return the error of a line with too few or too many words."""
    args.screen.out(help_text(args.verb, args.path))
    return Failure(f"Unexpected args: [{' '.join(args.positional)}]")


def only_word(args: Args) -> str:
    """Return the only word of a line.

    Raises:
        Failure: when there are none or more.
    """
    if len(args.positional) != 1:
        raise unexpected(args)
    return args.positional[0]


def config_of(ctx: Context, args: Args) -> Kubeconfig:
    """Return the terminal's kubeconfig, the only one that it has.

    Raises:
        Failure: when --kubeconfig names another file.
    """
    path = args.text("kubeconfig")
    if path and ctx.files.absolute(path) != ctx.kubeconfig_path:
        raise Failure(f"open {path}.lock: permission denied")
    return kubeconfig_of(ctx)


def delete_entry(ctx: Context, args: Args, part: str, what: str, name: str) -> None:
    """Take an entry out of the kubeconfig and say so.

    Raises:
        Failure: when there is none.
    """
    config = config_of(ctx, args)
    if name not in config.entries(part):
        raise Failure(f"cannot delete {what} {name}, not in {ctx.kubeconfig_path}")
    if part == "contexts" and name == config.current_context:
        args.screen.err(
            'warning: this removed your active context, use "kubectl config use-context" to select a different one\n'
        )
    store(ctx, config.with_entry(part, name, None))
    args.screen.out(f"deleted {what} {name} from {ctx.kubeconfig_path}\n")
