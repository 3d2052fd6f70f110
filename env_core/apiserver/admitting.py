"""Runs the admission plugins over a write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.request import ApiRequest
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def attributes_of(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    operation: str,
    body: Object | None,
    old: Object | None,
) -> Attributes:
    """Return what admission is told about a write."""
    return Attributes(
        operation=operation,
        kind=kind,
        namespace=request.namespace,
        name=request.name,
        subresource=request.subresource,
        object=body,
        old=old,
        identity=request.identity,
        options=request.options,
        store=server.store,
        streams=server.streams,
        now_ms=server.loop.now_ms,
    )


def admit(server: ApiServer, attributes: Attributes) -> Object:
    """Run the mutating plugins and return the object to go on with."""
    body = attributes.object
    assert body is not None
    resource = attributes.kind.resource
    for plugin in server.admission:
        if plugin.mutate is not None and plugin.handles(
            attributes.operation, resource, attributes.subresource
        ):
            body = plugin.mutate(_with_object(attributes, body))
    return body


def admit_validating(server: ApiServer, attributes: Attributes, body: Object | None) -> None:
    """Run the validating plugins."""
    resource = attributes.kind.resource
    final = attributes if body is attributes.object else _with_object(attributes, body)
    for plugin in server.admission:
        if plugin.validate is not None and plugin.handles(
            attributes.operation, resource, attributes.subresource
        ):
            plugin.validate(final)


def _with_object(attributes: Attributes, body: Object | None) -> Attributes:
    if body is attributes.object:
        return attributes
    return Attributes(
        attributes.operation, attributes.kind, attributes.namespace, attributes.name, attributes.subresource, body,
        attributes.old, attributes.identity, attributes.options, attributes.store, attributes.streams, attributes.now_ms,
    )  # fmt: skip
