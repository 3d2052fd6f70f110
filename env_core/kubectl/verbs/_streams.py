"""What `logs -f`, `exec` and `attach` share: refused streams, and the output of containers as it comes."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import LogOptions
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.kubectl.verbs._get_watch import timeout_ms

_NO_TTY = "Unable to use a TTY - input is not a terminal or the right kind of file\n"


@dataclass(frozen=True, slots=True)
class Source:
    """One container's log."""

    namespace: str
    pod: str
    container: str

    @property
    def prefix(self) -> str:
        return f"[pod/{self.pod}/{self.container}] "


def say_no_tty(args: Args, *, is_wanted: bool) -> None:
    """Say that a wanted TTY is in vain; without -i it is forgotten silently. Source: pkg/cmd/exec exec.go (SetupTTY)."""
    if args.is_set("stdin") and is_wanted and not args.is_set("quiet"):
        args.screen.err(_NO_TTY)


def refused(error: StatusError) -> Failure:
    """Return the error of a stream that was not opened."""
    if error.reason == "InternalError":
        return Failure(error.message)
    return Failure(f"unable to upgrade connection: {error.message}")


def prefixed(text: str, prefix: str) -> str:
    """Return lines, each behind a prefix."""
    return "".join(prefix + line for line in text.splitlines(keepends=True))


def follow(
    ctx: Context, args: Args, sources: list[Source], options: LogOptions, started_ms: int, has_prefix: bool
) -> None:
    """Print what the containers add until they end or the bound of a followed command is reached."""
    bound_ms = timeout_ms(args)
    seen = {source: _whole(ctx, source, options) for source in sources}
    deadline = started_ms + bound_ms
    live = dict.fromkeys(sources)
    while live and ctx.clock.now_ms < deadline:
        ctx.clock.advance(min(1000, deadline - ctx.clock.now_ms))
        for source in list(live):
            now = _whole(ctx, source, options)
            if now is None:
                del live[source]
                continue
            before = seen[source] or ""
            if now != before:
                added = now[len(before) :] if now.startswith(before) else now
                args.screen.out(prefixed(added, source.prefix) if has_prefix else added)
                seen[source] = now
            if not _is_running(ctx, source):
                del live[source]


def _whole(ctx: Context, source: Source, options: LogOptions) -> str | None:
    try:
        return ctx.api.logs(
            source.namespace,
            source.pod,
            LogOptions(container=source.container, previous=options.previous, timestamps=options.timestamps),
        )
    except StatusError:
        return None


def _is_running(ctx: Context, source: Source) -> bool:
    pod = ctx.api.find("pods", source.namespace, source.pod)
    if pod is None:
        return False
    status = pod.get("status") or {}
    for part in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for one in status.get(part) or ():
            if one["name"] == source.container:
                return "running" in (one.get("state") or {})
    return True
