"""What the secret generators share: adding keys, and the hash behind the name."""

from __future__ import annotations

import base64

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag
from env_core.kubectl.verbs.create._generator import create_generated, metadata_of
from env_core.kubectl.verbs.create._key_values import Add, hashed_name
from env_core.objects import names
from env_core.objects.problems import quoted
from env_core.world import Object, Output

APPEND_HASH = Flag("append-hash", bool, words="Put a hash of the content behind the name.")


def encoded(text: str) -> str:
    """Return text in base64."""
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def adder(data: dict[str, str]) -> Add:
    """Return the function that adds a key with its value in plain text.

    It raises `Failure` for a key that no secret can have, or has already.
    """

    def add(key: str, value: str) -> None:
        complaints = names.is_config_map_key(key)
        if complaints:
            raise Failure(f"{quoted(key)} is not valid key name for a Secret {';'.join(complaints)}")
        if key in data:
            raise Failure(f"cannot add key {key}, another key by that name already exists")
        data[key] = encoded(value)

    return add


def create_secret(ctx: Context, args: Args, name: str, secret_type: str, data: dict[str, str]) -> Output:
    """Create the secret, or only show it."""
    obj: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata_of(ctx, name)}
    if data:
        obj["data"] = data
    if secret_type:
        obj["type"] = secret_type
    if args.is_set("append-hash"):
        obj = {**obj, "metadata": {**obj["metadata"], "name": hashed_name(obj)}}
    return create_generated(ctx, args, "secrets", obj, "failed to create secret ")
