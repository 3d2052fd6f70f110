"""JSON Patch (RFC 6902) as the API server applies it."""

from __future__ import annotations

import re
from typing import Any, Final

from env_core.objects._patch_problem import PatchError, bad_request, unprocessable
from env_core.objects.gojson import JsonSyntaxError, Repeated, copied, kind_word, plain, read
from env_core.objects.jsonout import json_size
from env_core.world import Object

__all__ = ["JsonPatchError", "PatchError", "apply_json_patch", "read_json_patch"]

JsonPatchError = PatchError

OPERATIONS_MAX: Final = 10_000
COPIED_BYTES_MAX: Final = 3 * 1024 * 1024
"""Source: k8s.io/apiserver pkg/server/config.go JSONPatchMaxCopyBytes; json-patch errors.go. Unrecorded."""
_MEMBERS: Final = ("op", "from", "path", "value")
_INDEX: Final = re.compile(r"[+-]?\d+")


def apply_json_patch(document: Any, operations: list[Any]) -> Any:
    """Apply the operations of a JSON Patch. Containers on the way to a change are copied, with their keys sorted.

    The sorted keys are what Go prints; untouched containers keep their order.

    Raises:
        PatchError: 422 for a patch that does not fit, 413 for too many operations.

    Source: endpoints/handlers/patch.go, gopkg.in/evanphx/json-patch.v4; tests/golden/l0/patch_json.
    """
    if len(operations) > OPERATIONS_MAX:
        message = f"The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {len(operations)}"
        raise PatchError(message, 413, "RequestEntityTooLarge")
    root = _Root(document)
    for operation in operations:
        _apply(root, operation)
    root.sort()
    return root.document


def read_json_patch(patch: str | bytes) -> tuple[list[Any], tuple[str, ...]]:
    """Parse the text of a JSON Patch; return its operations and the strict warnings about unknown members.

    Raises:
        PatchError: 400, in the server's words.
    """
    try:
        operations = read(patch)
    except JsonSyntaxError as why:
        raise bad_request(f"error decoding patch: {why}") from None
    if operations is None:
        return [], ()
    if not isinstance(operations, list):
        raise _wrong_type(kind_word(operations), "Go value", "[]handlers.jsonPatchOp")
    warnings: dict[str, None] = {}
    for index, operation in enumerate(operations):
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise _wrong_type(kind_word(operation), "Go value", "handlers.jsonPatchOp")
        _check_members(operation, index, warnings)
    return [plain(operation) for operation in operations], tuple(warnings)


def _check_members(operation: Object, index: int, warnings: dict[str, None]) -> None:
    pairs = operation.pairs if isinstance(operation, Repeated) else operation.items()
    seen = set()
    for name, value in pairs:
        if name not in _MEMBERS:
            warnings[f'json patch unknown field "[{index}].{name}"'] = None
            continue
        if name in seen:
            warnings[f'json patch duplicate field "[{index}].{name}"'] = None
        seen.add(name)
        if name != "value" and value is not None and not isinstance(value, str):
            raise _wrong_type(kind_word(value), f"Go struct field jsonPatchOp.{name}", "string")


def _wrong_type(word: str, place: str, type_: str) -> PatchError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {word} into {place} of type {type_}")


class _Root:
    """The document under change. Containers in `owned` (by identity) are this patch's own copies and may be changed."""

    __slots__ = ("copied_bytes", "document", "owned")

    def __init__(self, document: Any) -> None:
        self.document = document
        self.owned: dict[int, Any] = {}
        self.copied_bytes = 0

    def own(self, container: Any) -> Any:
        """Return a container that may be changed."""
        if id(container) in self.owned:
            return container
        built = (
            {key: container[key] for key in sorted(container)}
            if isinstance(container, dict)
            else list(container)
        )
        self.owned[id(built)] = built
        return built

    def count_copy(self, value: Any) -> None:
        """Count a value that is about to be copied: copies of copies double.

        Raises:
            PatchError: 422, when all copies together are too large.
        """
        self.copied_bytes += json_size(value)
        if self.copied_bytes > COPIED_BYTES_MAX:
            raise unprocessable(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self.copied_bytes}, exceeding the limit {COPIED_BYTES_MAX}"
            )

    def sort(self) -> None:
        """Sort the keys of the own objects, as Go writes maps."""
        for container in self.owned.values():
            if isinstance(container, dict):
                members = sorted(container.items(), key=_name)
                container.clear()
                container.update(members)

    def container(self, path: str) -> tuple[Any, str]:
        """Return the container that holds `path` and the last key; the container is None when it is missing."""
        parts = path.split("/")
        if len(parts) < 2:
            return None, ""
        self.document = here = self.own(self.document)
        for part in parts[1:-1]:
            name = _unescaped(part)
            inner = _get(here, name)
            if not isinstance(inner, (dict, list)):
                return None, ""
            inner = self.own(inner)
            here[name if isinstance(here, dict) else _position(here, name)] = inner
            here = inner
        return here, _unescaped(parts[-1])


def _name(member: tuple[str, Any]) -> str:
    return member[0]


def _unescaped(part: str) -> str:
    return (
        part
        if "~" not in part
        else re.sub("~[01]", lambda found: "/" if found.group() == "~1" else "~", part)
    )


def _number(text: str) -> int:
    if _INDEX.fullmatch(text) is None:
        raise unprocessable(f'strconv.Atoi: parsing "{text}": invalid syntax')
    digits = text.lstrip("+-").lstrip("0") or "0"
    # Python refuses to read thousands of digits; 19 hold every int64.
    number = int(digits) if len(digits) <= 19 else 2**63
    if number >= 2**63:
        raise unprocessable(f'strconv.Atoi: parsing "{text}": value out of range')
    return -number if text.startswith("-") else number


def _position(items: list[Any], text: str) -> int:
    number = _number(text)
    if not -len(items) <= number < len(items):
        raise unprocessable(f"Unable to access invalid index: {number}")
    return number + len(items) if number < 0 else number


def _get(container: Any, key: str) -> Any:
    return container.get(key) if isinstance(container, dict) else container[_position(container, key)]


def _add(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
        return
    if key == "-":
        container.append(value)
        return
    number, size = _number(key), len(container) + 1
    if not -size <= number < size:
        raise unprocessable(f"Unable to access invalid index: {number}")
    container.insert(number + size if number < 0 else number, value)


def _remove(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        if key not in container:
            raise unprocessable(f"Unable to remove nonexistent key: {key}")
        return container.pop(key)
    return container.pop(_position(container, key))


def _text(operation: Object, name: str) -> str:
    value = operation.get(name)
    if value is None:
        raise unprocessable(f"operation missing {name} field")
    text: str = value
    return text


def _found(root: _Root, path: str) -> tuple[Any, str]:
    container, key = root.container(path)
    if container is None:
        raise unprocessable(f'doc is missing path: "{path}"')
    return container, key


def _apply(root: _Root, operation: Object | None) -> None:
    if operation is None:
        raise unprocessable("Unexpected kind: unknown")
    kind = operation.get("op")
    if kind == "add":
        container, key = _found(root, _text(operation, "path"))
        _add(container, key, copied(operation.get("value")))
    elif kind == "remove":
        _remove(*_found(root, _text(operation, "path")))
    elif kind == "replace":
        _replace(root, _text(operation, "path"), copied(operation.get("value")))
    elif kind == "move":
        container, key = _found(root, _text(operation, "from"))
        moved = _get(container, key)
        _remove(container, key)
        _add(*_found(root, _text(operation, "path")), moved)
    elif kind == "test":
        _test(root, _text(operation, "path"), operation.get("value"))
    elif kind == "copy":
        value = _get(*_found(root, _text(operation, "from")))
        container, key = _found(root, _text(operation, "path"))
        root.count_copy(value)
        _add(container, key, copied(value))
    else:
        raise unprocessable(f"Unexpected kind: {kind}")


def _replace(root: _Root, path: str, value: Any) -> None:
    if path == "":
        if not isinstance(value, (dict, list)):
            raise unprocessable("replace operation value must be object or array")
        root.document = value
        return
    container, key = _found(root, path)
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        raise unprocessable('strconv.Atoi: parsing "-": invalid syntax')
    else:
        container[_position(container, key)] = value


def _test(root: _Root, path: str, value: Any) -> None:
    present = root.document if path == "" else _get(*_found(root, path))
    if not _same(present, value):
        raise unprocessable(f"testing value {path} failed")


def _same(left: Any, right: Any) -> bool:
    """Compare JSON values; `1` and `true` differ although Python calls them equal."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(item, right[key]) for key, item in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
