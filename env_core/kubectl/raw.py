"""`--raw`: a path of the server, asked as HTTP asks it.

Source: k8s.io/kubectl pkg/rawhttp raw.go; k8s.io/client-go rest/request.go (transformResponse).
"""

from __future__ import annotations

import json
from dataclasses import replace

from env_core.apiserver.errors import StatusError, status
from env_core.apiserver.server import ApiServer
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects.problems import quoted
from env_core.rest.api import RestApi
from env_core.rest.message import HttpRequest, HttpResponse
from env_core.world import Object, Output

_JSON = "application/json"


def check(args: Args, *, most_files: int = 1, least_files: int = 0) -> None:
    """Refuse what goes not with --raw, and what is no path.

    Raises:
        Failure: in the words of the real command.
    """
    path = args.text("raw")
    files = args.items("filename")
    if not least_files <= len(files) <= most_files:
        raise Failure("--raw can only use a single local file or stdin")
    if files and files[0].startswith(("http://", "https://")):
        raise Failure("--raw cannot read from a url")
    if args.is_set("recursive"):
        raise Failure("--raw and --recursive are mutually exclusive")
    if args.text("output"):
        raise Failure("--raw and --output are mutually exclusive")
    if not path.startswith("/"):
        raise Failure(f"--raw must be a valid URL path: parse {quoted(path)}: invalid URI for request")


def body_of(ctx: Context, path: str) -> str:
    """Return the text of the file that --raw sends.

    Raises:
        Failure: when there is none.
    """
    if path == "-":
        return ctx.stdin
    try:
        return ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(f"open {path}: no such file or directory") from None


def send(ctx: Context, args: Args, method: str, body: str = "") -> Output:
    """Send a request to the path of --raw and print the answer.

    Raises:
        StatusError: when the server refuses.
    """
    api = ctx.api.api
    if not isinstance(api, ApiServer):
        # Only what refuses every request is no server.
        ctx.api.call(method.lower(), args.text("raw"))
        return args.screen.done()
    headers = [("accept", f"{_JSON}, */*"), ("user-agent", ctx.api.user_agent)]
    if method not in ("GET", "DELETE"):
        headers.append(("content-type", _JSON))
    request = HttpRequest(
        method=method,
        target=args.text("raw"),
        headers=tuple(headers),
        body=body.encode("utf-8", "surrogateescape"),
    )
    answer = RestApi(api).handle(request, ctx.api.identity)
    if isinstance(answer, HttpResponse) and answer.code == 301 and answer.header("location"):
        # Go's client follows: the server answers so for a proxy path without its slash.
        request = replace(request, target=answer.header("location"))
        answer = RestApi(api).handle(request, ctx.api.identity)
    # What goes on (a watch, a followed log) is cut off at once: this terminal cannot stop it later.
    text = answer.body.decode("utf-8", "replace") if isinstance(answer, HttpResponse) else ""
    if isinstance(answer, HttpResponse):
        for name, value in answer.headers:
            if name == "Warning":
                args.screen.warn(json.loads(value.split(" ", 2)[2]))
        if answer.code >= 400:
            raise StatusError(_refusal(answer, text))
    args.screen.out(text)
    return args.screen.done()


def _refusal(answer: HttpResponse, text: str) -> Object:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict) and found.get("kind") == "Status":
        return found
    if answer.code == 404:
        return status(404, "NotFound", "the server could not find the requested resource")
    return status(answer.code, "InternalError", text)
