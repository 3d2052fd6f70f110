"""`kubectl create token`: a token for a service account."""

from __future__ import annotations

import base64
import json
from hashlib import sha256

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import object_printer, output_format
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import PRINT_FLAGS, Args, Array, Duration, Flag, Verb
from env_core.kubectl.verbs.create._generator import name_argument
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

_KINDS = {"Node": "v1", "Pod": "v1", "Secret": "v1"}
_FAILED = "failed to create token: "
_DEFAULT_SECONDS = 3600
_SECONDS_MIN = 600
_AUDIENCE = "https://kubernetes.default.svc.cluster.local"


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    _check(args)
    seconds = args.number("duration") // 1000 or _DEFAULT_SECONDS
    try:
        account = ctx.api.get("serviceaccounts", ctx.namespace, name)
    except StatusError as error:
        raise Failure(_FAILED + error.message) from None
    if seconds < _SECONDS_MIN:
        raise Failure(
            f'{_FAILED}TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
            f"{seconds}: may not specify a duration less than 10 minutes"
        )
    request = _token_request(ctx, args, account, seconds)
    if output_format(args):
        object_printer(ctx, args).print(request, args.screen)
    else:
        args.screen.out(request["status"]["token"])
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


def _token_request(ctx: Context, args: Args, account: Object, seconds: int) -> Object:
    """Return the answered request; the token is a JWT whose signature nobody checks."""
    issued = ctx.clock.now_ms // 1000
    audiences = list(args.items("audience")) or [_AUDIENCE]
    name = account["metadata"]["name"]
    claims = {
        "aud": audiences,
        "exp": issued + seconds,
        "iat": issued,
        "iss": _AUDIENCE,
        "kubernetes.io": {
            "namespace": ctx.namespace,
            "serviceaccount": {"name": name, "uid": account["metadata"]["uid"]},
        },
        "nbf": issued,
        "sub": f"system:serviceaccount:{ctx.namespace}:{name}",
    }
    head = _part(json.dumps({"alg": "RS256", "kid": "simulated"}, separators=(",", ":")).encode())
    body = _part(json.dumps(claims, separators=(",", ":")).encode())
    seed = sha256(f"{head}.{body}".encode()).digest()
    signature = _part(b"".join(sha256(seed + bytes((index,))).digest() for index in range(8)))
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {
            "creationTimestamp": rfc3339(ctx.clock.now_ms),
            "name": name,
            "namespace": ctx.namespace,
        },
        "spec": {"audiences": audiences, "boundObjectRef": None, "expirationSeconds": seconds},
        "status": {
            "expirationTimestamp": rfc3339((issued + seconds) * 1000),
            "token": f"{head}.{body}.{signature}",
        },
    }


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


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
