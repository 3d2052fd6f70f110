"""Whose calls a command makes: the terminal's user, or the one that --as names, if that is allowed.

Source: tests/golden/l2/facts/errors (impersonation), tests/golden/l2/kubectl/rbac.
"""

from __future__ import annotations

from env_core.apiserver.client import Api, ApiClient
from env_core.apiserver.errors import StatusError, forbidden
from env_core.apiserver.impersonation import SERVICE_ACCOUNT, groups_of
from env_core.apiserver.request import ApiRequest, ApiResponse, Identity
from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.verb import Args

USER_AGENT = "kubectl"


class CommandClient(ApiClient):
    """An `ApiClient` that prints the server's warnings as they come."""

    __slots__ = ("_screen",)

    def __init__(self, api: Api, identity: Identity, screen: Screen, user_agent: str) -> None:
        super().__init__(api, identity, user_agent)
        self._screen = screen

    def _send(self, request: ApiRequest) -> ApiResponse:
        try:
            return super()._send(request)
        finally:
            for warning in self.warnings:
                self._screen.warn(warning)


class _Refusing:
    """An API that refuses everything, because the user may not impersonate."""

    __slots__ = ("_user",)

    def __init__(self, user: str) -> None:
        self._user = user

    def handle(self, request: ApiRequest) -> ApiResponse:
        plural, _, group = request.resource.partition(".")
        where = f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
        why = (
            f'User "{self._user}" cannot impersonate-on:user-info:{request.verb} resource "{plural}" '
            f'in API group "{group}" {where}'
        )
        return ApiResponse(403, forbidden(group, plural, request.name, why).status)


def client_for(ctx: Context, args: Args, screen: Screen) -> ApiClient:
    """Return the client that the command's calls go through.

    Raises:
        Failure: for --as-group and its like without --as, and for a token that no server knows.
    """
    base = ctx.api
    agent = USER_AGENT
    name = args.text("as")
    groups = args.items("as-group")
    if not name:
        if groups or args.text("as-uid") or args.items("as-user-extra"):
            raise Failure(f"requesting uid, groups or user-extra for {ctx.user} without impersonating a user")
        return CommandClient(base.api, base.identity, screen, agent)
    if not _may_impersonate(base, name, groups):
        return CommandClient(_Refusing(base.identity.name), base.identity, screen, agent)
    return CommandClient(
        base.api, Identity(name, groups_of(name, groups), args.text("as-uid")), screen, agent
    )


def _may_impersonate(client: ApiClient, name: str, groups: tuple[str, ...]) -> bool:
    wanted: list[dict[str, str]] = []
    if name.startswith(SERVICE_ACCOUNT) and name.count(":") == 3:
        _, _, namespace, account = name.split(":")
        wanted.append({"resource": "serviceaccounts", "namespace": namespace, "name": account})
    else:
        wanted.append({"resource": "users", "name": name})
    wanted.extend({"resource": "groups", "name": group} for group in groups)
    return all(_allowed(client, {"verb": "impersonate", **attributes}) for attributes in wanted)


def _allowed(client: ApiClient, attributes: dict[str, str]) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": attributes},
    }
    try:
        answer = client.create("selfsubjectaccessreviews.authorization.k8s.io", "", review)
    except StatusError:
        return False
    return bool((answer.get("status") or {}).get("allowed"))
