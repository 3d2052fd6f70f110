"""`kubectl create secret docker-registry`."""

from __future__ import annotations

import json

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Slice, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, name_argument
from env_core.kubectl.verbs.create._key_values import add_files
from env_core.kubectl.verbs.create.secret._secret import APPEND_HASH, adder, create_secret, encoded
from env_core.world import Output

_TYPE = "kubernetes.io/dockerconfigjson"
_KEY = ".dockerconfigjson"


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    user, password, server = (args.text(f"docker-{part}") for part in ("username", "password", "server"))
    data: dict[str, str] = {}
    if args.items("from-file"):
        add_files(ctx, args, adder(data))
    elif not (user and password and server):
        raise Failure(
            "either --from-file or the combination of --docker-username, --docker-password and --docker-server "
            "is required"
        )
    else:
        entry = {"username": user, "password": password}
        if args.text("docker-email"):
            entry["email"] = args.text("docker-email")
        entry["auth"] = encoded(f"{user}:{password}")
        text = json.dumps({"auths": {server: entry}}, separators=(",", ":"), ensure_ascii=False)
        data[_KEY] = encoded(text)
    return create_secret(ctx, args, name, _TYPE, data)


VERB = Verb(
    name="docker-registry",
    usage=(
        "create secret docker-registry NAME --docker-username=user --docker-password=password --docker-email=email "
        "[--docker-server=string] [--from-file=[key=]source] [--dry-run=server|client|none]"
    ),
    summary="Creates a secret for pulling images.",
    flags=(
        *GENERATOR_FLAGS,
        APPEND_HASH,
        Flag("docker-email", str, words="Mail address at the registry."),
        Flag("docker-password", str, words="Password at the registry."),
        Flag("docker-server", str, default="https://index.docker.io/v1/", words="Address of the registry."),
        Flag("docker-username", str, words="User at the registry."),
        Flag("from-file", Slice, words="File with the credentials."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_secret_docker.go",
)
