"""Requests to real API servers, in a line each."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.request import ADMIN, MERGE_PATCH, ApiRequest, ApiResponse, Identity, Options
from env_core.apiserver.server import ApiServer


class Asking:
    """What an identity asks of a server."""

    def __init__(self, server: ApiServer, identity: Identity = ADMIN) -> None:
        self.server = server
        self.identity = identity

    def ask(
        self, verb: str, resource: str, name: str = "", namespace: str = "", body: Any = None, **more: Any
    ) -> ApiResponse:
        subresource = more.pop("subresource", "")
        request = ApiRequest(
            verb=verb,
            resource=resource,
            namespace=namespace,
            name=name,
            subresource=subresource,
            body=body,
            content_type=MERGE_PATCH if verb == "patch" else "",
            identity=self.identity,
            options=Options(**more),
        )
        return self.server.handle(request)

    def get(self, resource: str, name: str, namespace: str = "") -> Any:
        return self.done("get", resource, name, namespace)

    def names(self, resource: str, namespace: str = "", **options: Any) -> list[str]:
        items = self.done("list", resource, "", namespace, **options)["items"]
        return [item["metadata"]["name"] for item in items]

    def create(self, resource: str, body: Any, namespace: str = "", **more: Any) -> Any:
        return self.done("create", resource, more.pop("name", ""), namespace, body, **more)

    def done(self, *args: Any, **more: Any) -> Any:
        """Return the object of an answer that must be no refusal."""
        answer = self.ask(*args, **more)
        assert answer.code < 400, answer.object
        return answer.object

    def refusal(self, *args: Any, **more: Any) -> tuple[int, str]:
        """Return code and message of the refusal that the request must meet."""
        answer = self.ask(*args, **more)
        assert answer.code >= 400, answer.object
        return answer.code, answer.object["message"]
