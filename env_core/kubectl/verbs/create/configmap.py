"""`kubectl create configmap`."""

from __future__ import annotations

import base64

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.kubectl.verbs.create._key_values import (
    SOURCE_FLAGS,
    add_env_files,
    add_files,
    add_literals,
    check_sources,
    hashed_name,
)
from env_core.objects import names
from env_core.objects.problems import quoted
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    check_sources(args)
    data: dict[str, str] = {}

    def add(key: str, value: str) -> None:
        complaints = names.is_config_map_key(key)
        if complaints:
            raise Failure(f"{quoted(key)} is not a valid key name for a ConfigMap: {','.join(complaints)}")
        if key in data:
            raise Failure(
                f"cannot add key {quoted(key)}, another key by that name already exists in Data for "
                f"ConfigMap {quoted(name)}"
            )
        data[key] = value

    add_files(ctx, args, add)
    add_literals(args, add)
    add_env_files(ctx, args, "config", add)
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata_of(ctx, name)}
    texts = {key: value for key, value in data.items() if _is_text(value)}
    if texts:
        obj["data"] = texts
    if len(texts) < len(data):
        # What is no UTF-8 (lone surrogates stand for such bytes) goes to binaryData, as handleConfigMapFromFileSources does.
        obj["binaryData"] = {
            key: base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
            for key, value in data.items()
            if key not in texts
        }
    if args.is_set("append-hash"):
        obj = {**obj, "metadata": {**obj["metadata"], "name": hashed_name(obj)}}
    return create_generated(ctx, args, "configmaps", obj, "failed to create configmap: ")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


VERB = Verb(
    name="configmap",
    usage=(
        "create configmap NAME [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]"
    ),
    aliases=("cm",),
    summary="Creates a config map.",
    flags=(*GENERATOR_FLAGS, *SOURCE_FLAGS),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_configmap.go",
)
