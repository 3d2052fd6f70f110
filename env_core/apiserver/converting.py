"""Other forms of stored resources: requests and answers are converted on the way in and out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from env_core.apiserver.kind import Column, Conversion, Kind, Reader
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def completed(kind: Kind, stored: Kind) -> Kind:
    """Return a kind that is another form of `stored` with the columns and the text that `stored` has."""
    conversion = kind.conversion
    assert conversion is not None
    return replace(
        kind,
        columns=tuple(replace(column, cell=_cell(column, conversion)) for column in stored.columns),
        describe=_describe(stored, conversion),
        has_status=stored.has_status,
        has_generation=stored.has_generation,
    )


def _cell(column: Column, conversion: Conversion) -> Callable[[Object, int], Any]:
    return lambda obj, now_ms: column.cell(conversion.to_stored(obj), now_ms)


def _describe(stored: Kind, conversion: Conversion) -> Callable[[Object, Reader, bool], str] | None:
    describe = stored.describe
    if describe is None:
        return None
    return lambda obj, reader, show_events: describe(conversion.to_stored(obj), reader, show_events)


@lru_cache(maxsize=32)
def _worked_on(kind: Kind, stored: Kind) -> Kind:
    """Return the stored kind, with its place and hooks, under the name of the form that is asked for."""
    made = replace(
        stored,
        group=kind.group,
        version=kind.version,
        field_labels=kind.field_labels,
        conversion=kind.conversion,
    )
    object.__setattr__(made, "api_version", stored.api_version)
    object.__setattr__(made, "resource", stored.resource)
    return made


def answer_converted(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    answer: Callable[[ApiRequest, Kind], ApiResponse],
) -> ApiResponse:
    """Answer a request to another form of a stored resource.

    Bodies are converted where they are decoded and patched (`decoding.py`, `patching.py`).

    Raises:
        StatusError: what `answer` raises.
    """
    conversion = kind.conversion
    assert conversion is not None
    stored = server.registry.by_resource(conversion.resource)
    assert stored is not None
    response = answer(request._replace(resource=stored.resource), _worked_on(kind, stored))
    return response._replace(object=_shown(response.object, kind, stored, conversion))


def _shown(obj: Object, kind: Kind, stored: Kind, conversion: Conversion) -> Object:
    if obj.get("kind") == stored.kind:
        return conversion.from_stored(obj)
    if obj.get("kind") == f"{stored.kind}List":
        items = [conversion.from_stored(item) for item in obj["items"]]
        return {**obj, "apiVersion": kind.api_version, "kind": f"{kind.kind}List", "items": items}
    return obj
