"""`kubectl create role`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.kubectl.verbs.create._rules import RULE_FLAGS, resource_rules, verbs_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    verbs = verbs_of(args)
    if not verbs:
        raise Failure("at least one verb must be specified")
    rules = resource_rules(ctx, args, verbs, missing="at least one resource must be specified")
    obj = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata_of(ctx, name),
        "rules": rules,
    }
    return create_generated(ctx, args, "roles.rbac.authorization.k8s.io", obj)


VERB = Verb(
    name="role",
    usage=(
        "create role NAME --verb=verb --resource=resource.group/subresource [--resource-name=resourcename] "
        "[--dry-run=server|client|none]"
    ),
    summary="Creates a role with one rule for each API group.",
    flags=(*GENERATOR_FLAGS, *RULE_FLAGS),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_role.go",
)
