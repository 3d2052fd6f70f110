"""JSON patches of a kustomization, and what their library says when they do not fit.

Source: gopkg.in/evanphx/json-patch.v4 patch.go; what kubectl 1.37.1 answers to wrong operations.
"""

from __future__ import annotations

from typing import Any

from env_core.kubectl.kustomize.problem import KustomizeError
from env_core.objects.patch_json import PatchError, apply_json_patch


def patched(tree: Any, operations: list[Any]) -> Any:
    """Return a tree after a JSON patch.

    Raises:
        KustomizeError: in the library's words.
    """
    for operation in operations:
        tree = _applied(tree, operation)
    return tree


def _applied(tree: Any, operation: Any) -> Any:
    kind = operation.get("op") if isinstance(operation, dict) else None
    if not isinstance(kind, str):
        raise KustomizeError("Unexpected kind: unknown")
    if kind not in ("add", "remove", "replace", "move", "copy", "test"):
        raise KustomizeError(f"Unexpected kind: {kind}")
    if kind in ("move", "copy"):
        origin = operation.get("from")
        if not isinstance(origin, str):
            raise KustomizeError(
                f"{kind} operation failed to decode from: operation, missing from field: missing value"
            )
        if kind == "move":
            _check_origin(tree, origin)
    if not isinstance(operation.get("path"), str):
        raise KustomizeError(f"{kind} operation failed to decode path: missing value")
    try:
        return apply_json_patch(tree, [operation])
    except PatchError as error:
        raise KustomizeError(_words(kind, operation, error.why or error.message)) from None


def _check_origin(tree: Any, origin: str) -> None:
    try:
        apply_json_patch(tree, [{"op": "remove", "path": origin}])
    except PatchError as error:
        why = error.why
        if why.startswith("doc is missing path"):
            raise KustomizeError(
                f"move operation does not apply: doc is missing from path: {origin}: missing value"
            ) from None
        raise KustomizeError(
            f"error in move for path: '{origin.rpartition('/')[2]}': {_cause(why)}"
        ) from None


def _words(kind: str, operation: dict[str, Any], why: str) -> str:
    path = operation["path"]
    if why.startswith("doc is missing path"):
        missing = why.partition('"')[2].removesuffix('"')
        if kind in ("move", "copy"):
            side = "from" if missing == operation["from"] and missing != path else "destination"
            return f"{kind} operation does not apply: doc is missing {side} path: {missing}: missing value"
        what = {"test": f"is missing path: {path}", "replace": f"doc is missing path: {path}"}.get(
            kind, f'doc is missing path: "{path}"'
        )
        return f"{kind} operation does not apply: {what}: missing value"
    if why.startswith("testing value"):
        return f"{why}: test failed"
    if why.startswith("replace operation value"):
        return f"{why}: %!w(<nil>)"
    if kind == "replace":
        return f"replace operation does not apply: doc is missing key: {path}: missing value"
    if kind == "add" and why.startswith("strconv"):
        why = f"value was not a proper array index: '{path.rpartition('/')[2]}': {why}"
    return f"error in {kind} for path: '{path}': {_cause(why)}"


def _cause(why: str) -> str:
    if why.startswith("Unable to access invalid index"):
        return f"{why}: invalid index referenced"
    return f"{why}: missing value" if why.startswith("Unable to remove") else why
