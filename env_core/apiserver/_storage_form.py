"""What storing an object makes of it: lists without anything in them are no lists any more.

Source: objects are stored as protobuf, which does not tell an empty list from none at all; recorded:
tests/golden/l2/facts/errors (put-create-missing-role).
"""

from __future__ import annotations

from functools import lru_cache

from env_core.apiserver.kind import Kind
from env_core.apiserver.schema import StructType, schema_for, struct_named
from env_core.world import Object

_LISTS = ("slice", "map")


def as_stored(kind: Kind, obj: Object) -> Object:
    """Return an object as it comes back from storage; the same one if nothing changes.

    Only lists that Go always prints are looked at, in the object itself and in its spec.
    """
    for outer, name in _lists_of(kind.group, kind.version, kind.kind):
        holder = obj.get(outer) if outer else obj
        if not isinstance(holder, dict) or holder.get(name) not in ([], {}):
            continue
        bare = {**holder, name: None}
        obj = {**obj, outer: bare} if outer else bare
    return obj


@lru_cache(maxsize=256)
def _lists_of(group: str, version: str, kind: str) -> tuple[tuple[str, str], ...]:
    """Return the lists of a kind that are printed even when they are not there, each with the field that it is in."""
    struct = schema_for(group, version, kind)
    if struct is None:
        return ()
    found = _always_printed("", struct)
    spec = struct.fields.get("spec")
    if spec is not None and spec.type.kind == "struct":
        found += _always_printed("spec", struct_named(spec.type.ref))
    return tuple(found)


def _always_printed(outer: str, struct: StructType) -> list[tuple[str, str]]:
    return [
        (outer, name)
        for name, field in struct.fields.items()
        if field.type.kind in _LISTS and not field.omitempty and not field.omitzero
    ]
