"""The API server: authorise, decode, default, admit, validate, store, audit. It knows no particular kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from env_core.apiserver import errors, reading, writing
from env_core.apiserver.audit import AuditLog
from env_core.apiserver.authz import Authorizer
from env_core.apiserver.converting import answer_converted
from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import AdmissionChain
from env_core.apiserver.policies.calls import Caller
from env_core.apiserver.proxying import Forwarder
from env_core.apiserver.rbacview import RbacView
from env_core.apiserver.registry import Registry, ServedKinds
from env_core.apiserver.request import ApiRequest, ApiResponse, Identity
from env_core.apiserver.space import Space
from env_core.apiserver.store import Store
from env_core.apiserver.tracking import with_trackers
from env_core.apiserver.version_webhook import converted
from env_core.apiserver.warnings import sent
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.world import Interrupted, Object, Output

_REQUEST_WORK = 100
"""Units of work that a request counts as, besides the objects that it lists or writes."""
MASTERS = "system:masters"
_METHODS = {"create": "post", "list": "get", "update": "put", "deletecollection": "delete", "watch": "get"}


class Remarks:
    """What is said of a request beyond its answer: warnings to the client, and what goes into the audit record."""

    __slots__ = ("annotations", "cut_off", "warnings")

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}
        self.cut_off: list[Object] = []
        """Pods that it gave no time to end, as they were."""

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.warnings or self.annotations or self.cut_off)

    def warn(self, text: str) -> None:
        """Warn the client, once per text."""
        if text not in self.warnings:
            self.warnings.append(text)


class PodBackend(Protocol):
    """The kubelets behind `log`, `exec` and `attach`."""

    def log(self, pod: Object, request: ApiRequest) -> str:
        """Return the log text; raises `StatusError`."""

    def exec(self, pod: Object, request: ApiRequest) -> Output:
        """Run a command in a container; raises `StatusError`."""

    def attach(self, pod: Object, request: ApiRequest) -> bool:
        """Whether the container that a session is opened to goes on running; raises `StatusError`."""


Virtual = Callable[["ApiServer", ApiRequest, Kind], Object]
"""Answers a resource that is computed, not stored (reviews, metrics)."""


class ApiServer:
    """The only door to a cluster's objects.

    Refusals are answers (`ApiResponse` with a `Status`), never exceptions; an exception out of `handle`
    is a bug of ours. `origin` is the server that this one is a fork of.
    """

    __slots__ = (
        "admission",
        "audit",
        "authorizer",
        "backend",
        "forwarder",
        "loop",
        "metrics",
        "registry",
        "remarks",
        "space",
        "store",
        "streams",
        "tokens",
        "views",
        "virtual",
        "webhooks",
    )

    def __init__(
        self,
        *,
        registry: Registry,
        store: Store,
        loop: EventLoop,
        streams: Streams,
        admission: AdmissionChain,
        virtual: Mapping[str, Virtual],
        audit: AuditLog | None = None,
        authorizer: Authorizer | None = None,
        origin: ApiServer | None = None,
    ) -> None:
        self.registry: ServedKinds = origin.registry.fork(store) if origin else ServedKinds(registry, store)
        self.store = store
        self.loop = loop
        self.streams = streams
        self.admission = admission
        self.virtual = virtual
        self.audit = audit if audit is not None else AuditLog()
        self.authorizer = authorizer if authorizer is not None else Authorizer(RbacView(store))
        self.backend: PodBackend | None = None
        self.metrics: Callable[[str, str, Callable[[Object], bool] | None], list[Object]] = (
            lambda _resource, _namespace, _matches: []
        )
        self.remarks = Remarks()
        self.space: Space = origin.space.fork() if origin else Space()
        self.webhooks: Caller | None = None
        self.forwarder: Forwarder | None = None
        self.views: Mapping[str, Callable[[Object, int], Object]] = {}
        self.tokens: Mapping[str, Identity] = {}

    def handle(self, request: ApiRequest) -> ApiResponse:
        """Answer one request.

        Raises:
            Interrupted: for a request of nobody's own component after more work than may be done.
        """
        work = self.loop.work
        work.done += _REQUEST_WORK
        if work.is_spent and not request.identity.name.startswith("system:"):
            raise Interrupted
        try:
            response = self._answer(request)
        except StatusError as error:
            response = ApiResponse(error.code, error.status)
        remarks = self.remarks
        if not remarks:
            self.audit.add(self.loop.now_ms, request, response.code)
            return response._replace(warnings=sent(response.warnings)) if response.warnings else response
        self.remarks = Remarks()
        self.audit.add(self.loop.now_ms, request, response.code, remarks.annotations, remarks.cut_off)
        return response._replace(warnings=sent((*response.warnings, *remarks.warnings)))

    def _answer(self, request: ApiRequest) -> ApiResponse:
        kind = self.registry.by_resource(request.resource)
        if kind is None:
            raise self._unknown(request)
        kind = kind.served_by or kind
        self.authorize(request.identity, request.verb, kind, request)
        virtual = self.virtual.get(kind.resource)
        if virtual is not None:
            response = ApiResponse(201 if request.verb == "create" else 200, virtual(self, request, kind))
            return with_trackers(self, request, kind, response) if request.sees_managed_fields else response
        answer = self._tracked if request.sees_managed_fields else self._served
        if kind.conversion is not None:
            return answer_converted(self, request, kind, answer)
        # Not through `_served`: reads are what is asked most.
        if request.verb == "get" and not request.sees_managed_fields:
            return reading.get(self, request, kind)
        return answer(request, kind)

    def _tracked(self, request: ApiRequest, kind: Kind) -> ApiResponse:
        return with_trackers(self, request, kind, self._served(request, kind))

    def _served(self, request: ApiRequest, kind: Kind) -> ApiResponse:
        if request.verb == "get":
            return reading.get(self, request, kind)
        if request.verb == "list":
            return reading.collection(self, request, kind)
        if kind.is_namespaced and not request.namespace and request.verb != "watch":
            raise errors.bad_request(
                "an empty namespace may not be set during creation"
                if request.verb == "create"
                else "namespace is required"
            )
        return writing.write(self, request, kind)

    def _unknown(self, request: ApiRequest) -> StatusError:
        group = request.resource.partition(".")[2]
        if any(kind.group == group for kind in self.registry.kinds):
            return errors.resource_unknown()
        return errors.path_unknown(_METHODS.get(request.verb, request.verb), request.resource, request.name)

    def authorize(self, identity: Identity, verb: str, kind: Kind, request: ApiRequest) -> None:
        """Raise Forbidden unless RBAC allows the request."""
        if MASTERS in identity.groups:
            return
        self.authorizer.check(
            identity, verb, kind.group, kind.plural, request.subresource, request.namespace, request.name
        )

    def view(self, kind: Kind, obj: Object) -> Object:
        """Return an object as clients see it now: what is computed at read (heartbeats, leases) filled in."""
        if kind.read is not None:
            obj = kind.read(converted(self, kind, (obj,))[0])
        view = self.views.get(kind.resource)
        return obj if view is None else view(obj, self.loop.now_ms)
