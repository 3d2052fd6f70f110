"""`--overrides`: a generated object changed by an inline patch.

Source: k8s.io/kubectl pkg/cmd/util override_options.go, helpers.go (Merge, JSONPatch, StrategicMerge).
"""

from __future__ import annotations

from typing import Any

from env_core.apiserver.schema import schema_for
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag
from env_core.kubectl.writes import as_typed
from env_core.objects.gojson import JsonSyntaxError, plain, read
from env_core.objects.patch_json import apply_json_patch
from env_core.objects.patch_merge import PatchError, apply_merge_patch
from env_core.objects.patch_strategic import apply_strategic_patch
from env_core.world import Object

OVERRIDE_FLAGS = (
    Flag("override-type", str, default="merge", words="json, merge or strategic."),
    Flag("overrides", str, words="Inline JSON that changes the generated object."),
)


def overridden(args: Args, obj: Object) -> Object:
    """Return the generated object with --overrides applied.

    Raises:
        Failure: for text that is no such patch.
    """
    text = args.text("overrides")
    if not text:
        return obj
    kind = args.text("override-type") or "merge"
    if kind not in ("json", "merge", "strategic"):
        raise Failure(f"invalid override type: {kind}")
    try:
        patch: Any = plain(read(text))
    except JsonSyntaxError as why:
        raise Failure("Invalid JSON Patch" if kind == "merge" else str(why)) from None
    try:
        if kind == "json":
            return as_typed(apply_json_patch(obj, patch if isinstance(patch, list) else [patch]))
        if not isinstance(patch, dict):
            raise Failure("Invalid JSON Patch")
        if kind == "merge":
            return as_typed(apply_merge_patch(obj, patch))
        schema = schema_for("", "v1", obj["kind"])
        assert schema is not None
        return as_typed(apply_strategic_patch(obj, patch, schema))
    except PatchError as error:
        raise Failure(error.message) from None
