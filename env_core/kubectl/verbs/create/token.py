"""`kubectl create token`: a token for a service account."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import object_printer, output_format
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Array, Duration, Flag, Verb
from env_core.kubectl.verbs.create._generator import name_argument
from env_core.world import Object, Output

_KINDS = {"Node": "v1", "Pod": "v1", "Secret": "v1"}
_FAILED = "failed to create token: "


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    _check(args)
    try:
        answer = ctx.api.create(
            "serviceaccounts", ctx.namespace, _token_request(args), subresource="token", name=name
        )
    except StatusError as error:
        raise Failure(_FAILED + error.message) from None
    if output_format(args):
        object_printer(ctx, args).print(answer, args.screen)
    else:
        args.screen.out(answer["status"]["token"])
    return args.screen.done()


def _check(args: Args) -> None:
    if args.number("duration") < 0:
        raise Failure("--duration must be greater than or equal to 0")
    if args.number("duration") % 1000:
        raise Failure("--duration cannot be expressed in units less than seconds")
    if "" in args.items("audience"):
        raise Failure("--audience must not be an empty string")
    kind = args.text("bound-object-kind")
    if not kind:
        if args.text("bound-object-name"):
            raise Failure("--bound-object-name can only be set if --bound-object-kind is provided")
        if args.text("bound-object-uid"):
            raise Failure("--bound-object-uid can only be set if --bound-object-kind is provided")
    elif kind not in _KINDS:
        raise Failure(f"supported --bound-object-kind values are {', '.join(_KINDS)}")
    elif not args.text("bound-object-name"):
        raise Failure("--bound-object-name is required if --bound-object-kind is provided")


def _token_request(args: Args) -> Object:
    spec: Object = {"audiences": list(args.items("audience")) or None}
    if args.number("duration"):
        spec["expirationSeconds"] = args.number("duration") // 1000
    kind = args.text("bound-object-kind")
    if kind:
        reference = {"kind": kind, "apiVersion": _KINDS[kind], "name": args.text("bound-object-name")}
        uid = args.text("bound-object-uid")
        spec["boundObjectRef"] = {**reference, "uid": uid} if uid else reference
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}


VERB = Verb(
    name="token",
    usage="create token SERVICE_ACCOUNT_NAME",
    summary="Asks for a token of a service account.",
    flags=(
        *PRINT_FLAGS,
        Flag("audience", Array, words="Audience of the token."),
        Flag("bound-object-kind", str, words="Pod, Secret or Node that the token is bound to."),
        Flag("bound-object-name", str, words="Name of that object."),
        Flag("bound-object-uid", str, words="UID of that object."),
        Flag("duration", Duration, default="0s", words="How long the token is good."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_token.go",
    unrecorded="the claims of the token: recordings hide it",
)
