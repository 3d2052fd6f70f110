"""`debug --custom`: part of a container's spec, merged into the one that a profile has made.

Source: k8s.io/kubectl pkg/cmd/debug debug.go (Complete, applyCustomProfile, applyCustomProfileEphemeral).
"""

from __future__ import annotations

from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.schema import struct_named
from env_core.apiserver.strict import IGNORE, decode
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.objects import gojson
from env_core.objects.patch_strategic import apply_strategic_patch
from env_core.objects.yamlin import YamlProblem, read_yaml
from env_core.world import Object

_DECODING = "error unmarshaling JSON: while decoding JSON: "
_FIXED = ("name", "command", "image", "lifecycle", "volumeDevices")


def custom_profile(ctx: Context, args: Args) -> Object | None:
    """Return the container spec of --custom, None without the flag.

    Raises:
        Failure: when the file is missing, or holds no container spec.
    """
    path = args.text("custom")
    if not path:
        return None
    try:
        text = ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(
            f"must pass a container spec json file for custom profile: open {path}: no such file or directory"
        ) from None
    wrong = f"{path} does not contain a valid container spec"
    try:
        found: Any = gojson.loads(text)
    except ValueError:
        try:
            found = read_yaml(text)
        except YamlProblem as problem:
            raise Failure(f"{wrong}: error converting YAML to JSON: yaml: {problem}") from None
    if found is None:
        return None
    if not isinstance(found, dict):
        kind = "string" if isinstance(found, str) else "array" if isinstance(found, list) else "number"
        raise Failure(f"{wrong}: {_DECODING}json: cannot unmarshal {kind} into Go value of type v1.Container")
    return _typed(found, wrong)


def check_profile(profile: Object | None) -> None:
    """Refuse what a profile may not say.

    Raises:
        Failure: always in the same words.
    """
    if profile is not None and any(profile.get(name) for name in _FIXED):
        raise Failure(
            "name, command, image, lifecycle and volume devices are not modifiable via custom profile"
        )


def with_custom(pod: Object, part: str, name: str, profile: Object | None) -> Object:
    """Return the pod with a profile merged into one of its containers."""
    if profile is None:
        return pod
    schema = struct_named("api/core/v1.Container")
    patch = {"resources": {}, **profile, "name": name}
    items = [
        apply_strategic_patch(item, patch, schema) if item["name"] == name else item
        for item in pod["spec"].get(part) or ()
    ]
    return {**pod, "spec": {**pod["spec"], part: items}}


def _typed(found: Object, wrong: str) -> Object:
    """Return a spec with the fields that a container has."""
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [found]}}
    try:
        container: Object = decode(pod, "", "v1", "Pod", IGNORE).object["spec"]["containers"][0]
    except StatusError as error:
        text = (error.message.partition(": ")[2] or error.message).replace(".spec.containers.", ".")
        raise Failure(f"{wrong}: {_DECODING}{text}") from None
    return {name: value for name, value in container.items() if name in found}
