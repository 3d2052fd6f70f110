"""Approving and denying: one more condition of a certificate signing request.

Source: k8s.io/kubectl pkg/cmd/certificates; tests/golden/l2/flows/tls-csr.
"""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info, kind_named, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, Args, Flag
from env_core.kubectl.writes import result_printer_of
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

CERTIFICATE_FLAGS = (
    *PRINT_FLAGS,
    *FILE_FLAGS,
    Flag("force", bool, words="Update the request even if it says so already."),
)
_RESOURCE = "certificatesigningrequests.certificates.k8s.io"


def run_condition(ctx: Context, args: Args, wanted: str, forbidden: str, done: str) -> Output:
    """Give every request the condition `wanted`, unless it has `forbidden`.

    Raises:
        Failure: when no request is named.
    """
    printer = result_printer_of(ctx, args)(done)
    if not args.positional and not args.items("filename") and not args.text("kustomize"):
        raise Failure("one or more CSRs must be specified as <name> or -f <filename>")
    if args.positional:
        kind = kind_named(ctx, _RESOURCE)
        targets = [Info(kind, "", name) for name in args.positional]
        errors: list[Exception] = []
    else:
        selection = select(ctx, args, ())
        targets, errors = list(selection.infos), list(selection.errors)
    failures: list[Exception] = []
    for target in targets:
        try:
            info = target.fetch(ctx)
            if info.kind.resource != _RESOURCE:
                kind_name = f"{info.kind.kind}.{info.kind.group}" if info.kind.group else info.kind.kind
                raise Failure(
                    f"can only handle CertificateSigningRequest.certificates.k8s.io objects, got {kind_name}"
                )
            _approve(ctx, args, info.found(), wanted, forbidden)
            printer.print(info.found(), args.screen)
        except (Failure, StatusError) as error:
            failures.append(error)
    raise_all([*failures, *errors])
    if not targets:
        args.screen.out("No resources found\n")
    return args.screen.done()


def _approve(ctx: Context, args: Args, request: Object, wanted: str, forbidden: str) -> None:
    status = request.get("status") or {}
    conditions = list(status.get("conditions") or ())
    for condition in conditions:
        if condition["type"] == forbidden:
            name = request["metadata"]["name"]
            raise Failure(f'certificate signing request "{name}" is already {forbidden}')
    has_it = any(condition["type"] == wanted for condition in conditions)
    if has_it and not args.is_set("force"):
        return
    if not has_it:
        verb = "Approve" if wanted == "Approved" else "Deny"
        conditions.append(
            {
                "type": wanted,
                "status": "True",
                "reason": f"Kubectl{verb}",
                "message": f"This CSR was {wanted.lower()} by kubectl certificate {verb.lower()}.",
                "lastUpdateTime": rfc3339(ctx.clock.now_ms),
            }
        )
    changed = {**request, "status": {**status, "conditions": conditions}}
    ctx.api.update(_RESOURCE, "", changed, subresource="approval")
