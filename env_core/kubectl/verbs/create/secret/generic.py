"""`kubectl create secret generic`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, name_argument
from env_core.kubectl.verbs.create._key_values import (
    SOURCE_FLAGS,
    add_env_files,
    add_files,
    add_literals,
    check_sources,
)
from env_core.kubectl.verbs.create.secret._secret import adder, create_secret
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    check_sources(args)
    data: dict[str, str] = {}
    add = adder(data)
    add_literals(args, add)
    add_files(ctx, args, add)
    add_env_files(ctx, args, "secret", add)
    return create_secret(ctx, args, name, args.text("type"), data)


VERB = Verb(
    name="generic",
    usage=(
        "create secret generic NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1] "
        "[--dry-run=server|client|none]"
    ),
    summary="Creates a secret from literals and files.",
    flags=(*GENERATOR_FLAGS, *SOURCE_FLAGS, Flag("type", str, words="Type of the secret.")),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_secret.go",
)
