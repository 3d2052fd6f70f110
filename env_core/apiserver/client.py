"""The API as its users hold it: one identity's calls, objects back, `StatusError` when refused."""

from __future__ import annotations

from typing import Any, Protocol

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import (
    MERGE_PATCH,
    NO_OPTIONS,
    ApiRequest,
    ApiResponse,
    ExecOptions,
    Identity,
    LogOptions,
    Options,
)
from env_core.world import Object, Objects, Output


class Api(Protocol):
    """What answers requests."""

    def handle(self, request: ApiRequest) -> ApiResponse:
        """Answer one request; refusals are responses, not exceptions."""


class ApiClient:
    """Calls the API as one identity.

    `resource` is a plural ("pods") or group-qualified plural ("deployments.apps"). Every method raises
    `StatusError` when the API refuses. Warnings of the last call are in `warnings`.
    `sees_managed_fields` may be set to get objects with their managedFields.
    """

    __slots__ = ("_api", "identity", "sees_managed_fields", "user_agent", "warnings")

    def __init__(self, api: Api, identity: Identity, user_agent: str = "") -> None:
        self._api = api
        self.identity = identity
        self.user_agent = user_agent
        self.sees_managed_fields = False
        self.warnings: tuple[str, ...] = ()

    @property
    def api(self) -> Api:
        """What answers the calls."""
        return self._api

    def call(
        self,
        verb: str,
        resource: str,
        namespace: str = "",
        name: str = "",
        *,
        subresource: str = "",
        body: Any = None,
        content_type: str = "",
        options: Options = NO_OPTIONS,
    ) -> Object:
        """Send one request and return the object of the answer."""
        return self._send(
            ApiRequest(
                verb=verb,
                resource=resource,
                namespace=namespace,
                name=name,
                subresource=subresource,
                body=body,
                content_type=content_type,
                identity=self.identity,
                options=options,
                user_agent=self.user_agent,
                sees_managed_fields=self.sees_managed_fields,
            )
        ).object

    def _send(self, request: ApiRequest) -> ApiResponse:
        response = self._api.handle(request)
        self.warnings = response.warnings
        if response.code >= 400:
            raise StatusError(response.object)
        return response

    def get(self, resource: str, namespace: str, name: str, subresource: str = "") -> Object:
        """Return the object (for cluster-scoped resources, `namespace` is "")."""
        return self.call("get", resource, namespace, name, subresource=subresource)

    def find(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return the object, or None when it does not exist."""
        try:
            return self.get(resource, namespace, name)
        except StatusError as error:
            if error.code == 404:
                return None
            raise

    def list(
        self, resource: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Objects:
        """Return the matching objects, sorted by namespace and name; all namespaces for ""."""
        options = NO_OPTIONS
        if label_selector or field_selector:
            options = Options(label_selector=label_selector, field_selector=field_selector)
        items: Objects = self.call("list", resource, namespace, options=options)["items"]
        return items

    def create(
        self,
        resource: str,
        namespace: str,
        body: Object,
        *,
        subresource: str = "",
        name: str = "",
        options: Options = NO_OPTIONS,
    ) -> Object:
        """Create an object and return it as stored."""
        return self.call(
            "create", resource, namespace, name, subresource=subresource, body=body, options=options
        )

    def update(
        self,
        resource: str,
        namespace: str,
        body: Object,
        *,
        subresource: str = "",
        options: Options = NO_OPTIONS,
    ) -> Object:
        """Replace an object; a stale `metadata.resourceVersion` is a Conflict."""
        return self.call(
            "update",
            resource,
            namespace,
            body["metadata"]["name"],
            subresource=subresource,
            body=body,
            options=options,
        )

    def update_status(self, resource: str, namespace: str, body: Object) -> Object:
        """Replace the status of an object."""
        return self.update(resource, namespace, body, subresource="status")

    def patch(
        self,
        resource: str,
        namespace: str,
        name: str,
        patch: Any,
        content_type: str = MERGE_PATCH,
        *,
        subresource: str = "",
        options: Options = NO_OPTIONS,
    ) -> Object:
        """Patch an object and return the result."""
        return self.call(
            "patch",
            resource,
            namespace,
            name,
            subresource=subresource,
            body=patch,
            content_type=content_type,
            options=options,
        )

    def delete(self, resource: str, namespace: str, name: str, options: Options = NO_OPTIONS) -> Object:
        """Delete an object; returns the object (still terminating) or a Status."""
        return self.call("delete", resource, namespace, name, options=options)

    def logs(self, namespace: str, pod: str, log: LogOptions) -> str:
        """Return the log of a container."""
        request = ApiRequest(
            verb="get",
            resource="pods",
            namespace=namespace,
            name=pod,
            subresource="log",
            identity=self.identity,
            log=log,
        )
        output = self._send(request).output
        assert output is not None
        return output.stdout

    def attach(self, namespace: str, pod: str, options: ExecOptions) -> bool:
        """Open a session with a container; returns whether it lasts (else the process is over already)."""
        request = ApiRequest(
            verb="create",
            resource="pods",
            namespace=namespace,
            name=pod,
            subresource="attach",
            identity=self.identity,
            exec=options,
        )
        return self._send(request).output is None

    def exec(self, namespace: str, pod: str, options: ExecOptions) -> Output:
        """Run a command in a container and return what it printed."""
        request = ApiRequest(
            verb="create",
            resource="pods",
            namespace=namespace,
            name=pod,
            subresource="exec",
            identity=self.identity,
            exec=options,
        )
        output = self._send(request).output
        assert output is not None
        return output
