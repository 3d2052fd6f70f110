"""`kubectl create quota`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    checked_quantity,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    spec: Object = {}
    hard: dict[str, str] = {}
    for term in args.text("hard").split(",") if args.text("hard") else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise Failure(f"Invalid argument syntax {term}, expected <resource>=<value>")
        hard[parts[0]] = checked_quantity(parts[1])
    scopes = args.text("scopes").split(",") if args.text("scopes") else []
    if "" in scopes:
        raise Failure('invalid resource quota scope ""')
    if hard:
        spec["hard"] = hard
    if scopes:
        spec["scopes"] = scopes
    obj = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata_of(ctx, name), "spec": spec}
    return create_generated(ctx, args, "resourcequotas", obj, "failed to create quota: ")


VERB = Verb(
    name="quota",
    usage=(
        "create quota NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2] [--dry-run=server|client|none]"
    ),
    aliases=("resourcequota",),
    summary="Creates a resource quota.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("hard", str, words="Limits RESOURCE=QUANTITY, separated by commas."),
        Flag("scopes", str, words="Scopes, separated by commas."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_quota.go",
)
