"""`kubectl auth whoami`: who the server takes you for."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import FORMATS, object_printer, output_format
from env_core.kubectl.output.table import align
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Verb
from env_core.world import Object, Output

_RESOURCE = "selfsubjectreviews.authentication.k8s.io"
_REFUSED = "the selfsubjectreviews API is not enabled in the cluster or you do not have permission to call it"


def _run(ctx: Context, args: Args) -> Output:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    try:
        answer = ctx.api.create(_RESOURCE, "", review)
    except StatusError as error:
        if error.code == 403:
            raise Failure(_REFUSED) from None
        raise
    if output_format(args):
        object_printer(ctx, args, formats=FORMATS).print(answer, args.screen)
    else:
        args.screen.out(_table((answer.get("status") or {}).get("userInfo") or {}))
    return args.screen.done()


def _table(user: Object) -> str:
    rows = [["ATTRIBUTE", "VALUE"]]
    if user.get("username"):
        rows.append(["Username", user["username"]])
    if user.get("uid"):
        rows.append(["UID", user["uid"]])
    if user.get("groups"):
        rows.append(["Groups", _go_list(user["groups"])])
    extra = user.get("extra") or {}
    rows.extend([f"Extra: {key}", _go_list(extra[key])] for key in sorted(extra))
    return align(rows)


def _go_list(items: list[str]) -> str:
    return "[" + " ".join(items) + "]"


VERB = Verb(
    name="whoami",
    usage="auth whoami",
    summary="Tells who the server takes you for.",
    flags=PRINT_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/auth whoami.go",
)
