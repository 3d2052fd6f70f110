"""`kubectl create poddisruptionbudget`."""

from __future__ import annotations

import re

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.objects import selectors
from env_core.objects.int_or_percent import parse_int_or_string
from env_core.world import Object, Output

_AMOUNT = re.compile(r"[0-9]+%?\Z")


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    selector = args.text("selector")
    least, most = args.text("min-available"), args.text("max-unavailable")
    if not selector:
        raise Failure("a selector must be specified")
    if not least and not most:
        raise Failure("one of min-available or max-unavailable must be specified")
    if least and most:
        raise Failure("min-available and max-unavailable cannot be both specified")
    if least and not _AMOUNT.match(least):
        raise Failure("invalid format specified for min-available")
    if most and not _AMOUNT.match(most):
        raise Failure("invalid format specified for max-unavailable")
    try:
        spec: Object = {"selector": selectors.to_label_selector(selector)}
    except selectors.SelectorError as error:
        raise Failure(str(error)) from None
    spec["minAvailable" if least else "maxUnavailable"] = parse_int_or_string(least or most)
    obj = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata_of(ctx, name),
        "spec": spec,
    }
    return create_generated(
        ctx, args, "poddisruptionbudgets.policy", obj, "failed to create poddisruptionbudgets: "
    )


VERB = Verb(
    name="poddisruptionbudget",
    usage=(
        "create poddisruptionbudget NAME --selector=SELECTOR --min-available=N [--dry-run=server|client|none]"
    ),
    aliases=("pdb",),
    summary="Creates a disruption budget.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("max-unavailable", str, words="Number or percentage that may be down."),
        Flag("min-available", str, words="Number or percentage that must be up."),
        Flag("selector", str, words="Label selector of the pods."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_pdb.go",
)
