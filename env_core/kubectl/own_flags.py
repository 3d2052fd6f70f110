"""Verbs whose own flags have the names of global ones: `--user` of role bindings names a subject, no kubeconfig entry.

Such a verb says `needs_config=False` and makes its context here, without the flag that is not global for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from env_core.kubectl.context import Context
from env_core.kubectl.impersonation import client_for
from env_core.kubectl.verb import Args
from env_core.world import Output


def with_own_flags(run: Callable[[Context, Args], Output]) -> Callable[[Context, Args], Output]:
    """Return `run` with the terminal's context turned into that of the command line."""

    def wrapped(ctx: Context, args: Args) -> Output:
        namespace = args.text("namespace")
        return run(
            replace(
                ctx,
                api=client_for(ctx, args, args.screen),
                namespace=namespace or ctx.namespace,
                is_namespace_explicit=bool(namespace),
                warn=args.screen.remark,
            ),
            args,
        )

    return wrapped
