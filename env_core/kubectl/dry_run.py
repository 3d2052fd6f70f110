"""`--dry-run`: whether a write is made, only sent, or only shown."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.klog import klog_line
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args


def dry_run_of(ctx: Context, args: Args) -> str:
    """Return "" (write), "client" or "server".

    Raises:
        Failure: for another value.
    """
    value = args.text("dry-run")
    if value == "none":
        return ""
    if value in ("client", "server"):
        return value
    if value == "unchanged":
        args.screen.err(
            klog_line(
                ctx,
                "W",
                "helpers.go:714",
                "--dry-run is deprecated and can be replaced with --dry-run=client.",
            )
        )
        return "client"
    if value.lower() in ("true", "false", "1", "0", "t", "f"):
        is_set = value.lower() in ("true", "1", "t")
        args.screen.err(
            klog_line(
                ctx,
                "W",
                "helpers.go:728" if is_set else "helpers.go:731",
                f"--dry-run={value} is deprecated (boolean value) and can be replaced with "
                f"--dry-run={'client' if is_set else 'none'}.",
            )
        )
        return "client" if is_set else ""
    raise Failure(f'Invalid dry-run value ({value}). Must be "none", "server", or "client".')
