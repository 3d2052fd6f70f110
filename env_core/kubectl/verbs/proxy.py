"""`kubectl proxy`: refused, this terminal has no ports."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.klog import klog_line
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Duration, Flag, Verb
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    port = args.number("port")
    if port != _PORT and args.text("unix-socket"):
        raise Failure("cannot set --unix-socket and --port at the same time")
    directory = args.text("www")
    if directory and not ctx.files.is_dir(directory):
        text = (
            f"Failed to stat static file directory {directory}: stat {directory}: no such file or directory"
        )
        args.screen.err(klog_line(ctx, "W", "proxy.go:203", text))
    if not args.text("unix-socket") and not 0 <= port <= 65_535:
        raise Failure(f"listen tcp: address {port}: invalid port")
    raise Failure(
        "proxy is not simulated: nothing in this terminal can listen on a port; use kubectl get --raw PATH"
    )


_PORT = 8001

VERB = Verb(
    name="proxy",
    usage="proxy [--port=PORT] [--www=static-dir] [--www-prefix=prefix] [--api-prefix=prefix]",
    summary="Serves the API on a local port.",
    flags=(
        Flag("accept-hosts", str, default=r"^localhost$,^127\.0\.0\.1$,^\[::1\]$", words="Hosts to accept."),
        Flag("accept-paths", str, default="^.*", words="Paths to accept."),
        Flag("address", str, default="127.0.0.1", words="Address to listen on."),
        Flag("api-prefix", str, default="/", words="Prefix of the API."),
        Flag("append-server-path", bool, words="Add the server's own path."),
        Flag("disable-filter", bool, words="Accept every request."),
        Flag("keepalive", Duration, default="0s", words="Time between keep-alive probes."),
        Flag("port", int, shorthand="p", default=_PORT, words="Port to listen on."),
        Flag("reject-methods", str, default="^$", words="Methods to reject."),
        Flag(
            "reject-paths",
            str,
            default="^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach",
            words="Paths to reject.",
        ),
        Flag("unix-socket", str, shorthand="u", words="Socket to listen on."),
        Flag("www", str, shorthand="w", words="Directory to serve too."),
        Flag("www-prefix", str, shorthand="P", default="/static/", words="Prefix of that directory."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/proxy",
    unrecorded="serving itself: it is refused",
)
