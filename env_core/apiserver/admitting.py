"""Runs the admission plugins over a write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.request import ApiRequest
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

_GROUP = "admissionregistration.k8s.io"
CONFIGURED = (
    f"validatingadmissionpolicybindings.{_GROUP}",
    f"validatingwebhookconfigurations.{_GROUP}",
)
"""What users configure validating admission with."""
_OWN = frozenset(
    (
        ("pods", "resize"),
        ("certificatesigningrequests", "approval"),
        ("certificatesigningrequests", "status"),
    )
)
"""Writes of part of an object that plugins of the API server itself look at."""


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
        operation, kind, request.namespace, request.name, request.subresource, body, old, request.identity,
        request.options, server.store, server.streams, server.loop.now_ms, server,
    )  # fmt: skip


def admit(server: ApiServer, attributes: Attributes) -> Object:
    """Run the mutating plugins and return the object to go on with."""
    body = attributes.object
    assert body is not None
    chain = server.admission.mutating(attributes.operation, attributes.kind.resource, attributes.subresource)
    for mutate in chain:
        body = mutate(attributes if body is attributes.object else attributes._replace(object=body))
    return body


def admit_validating(server: ApiServer, attributes: Attributes, body: Object | None) -> None:
    """Run the validating plugins."""
    chain = server.admission.validating(
        attributes.operation, attributes.kind.resource, attributes.subresource
    )
    if not chain:
        return
    final = attributes if body is attributes.object else attributes._replace(object=body)
    for validate in chain:
        validate(final)


def admit_part(server: ApiServer, request: ApiRequest, kind: Kind, old: Object, new: Object) -> None:
    """Run the validating plugins over the write of a subresource, which only what users configure looks at.

    Controllers and kubelets write statuses all the time, so nothing is done while nothing is configured. Resizes, and what
    is written of requests for certificates, are looked at by plugins of their own as well.
    """
    if (kind.plural, request.subresource) in _OWN or server.store.newest_write(CONFIGURED):
        admit_validating(server, attributes_of(server, request, kind, "UPDATE", new, old), new)
