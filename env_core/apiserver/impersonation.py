"""Acting as somebody else: which groups come with a name, and who may.

Source: k8s.io/apiserver pkg/endpoints/filters/impersonation; tests/golden/l2/facts/errors.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.authz import Authorizer
from env_core.apiserver.request import Identity

SERVICE_ACCOUNT = "system:serviceaccount:"
_ANONYMOUS = "system:anonymous"
_AUTHENTICATED = "system:authenticated"
_AUTHN = "authentication.k8s.io"


def groups_of(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return the groups of an impersonated user: the wanted ones, and those that come with the name."""
    if groups:
        own = tuple(dict.fromkeys(groups))
    elif name.startswith(SERVICE_ACCOUNT):
        namespace = name[len(SERVICE_ACCOUNT) :].partition(":")[0]
        own = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    else:
        own = ()
    if name == _ANONYMOUS:
        return (*own, "system:unauthenticated")
    return own if _AUTHENTICATED in own else (*own, _AUTHENTICATED)


def may_impersonate(
    authorizer: Authorizer,
    identity: Identity,
    name: str,
    groups: Iterable[str],
    uid: str = "",
    extras: Iterable[tuple[str, str]] = (),
) -> bool:
    """Whether RBAC lets an identity act as a user with these groups, uid and extra values."""
    if name.startswith(SERVICE_ACCOUNT) and name.count(":") == 3:
        _, _, namespace, account = name.split(":")
        is_allowed = authorizer.allowed(
            identity, "impersonate", "", "serviceaccounts", "", namespace, account
        )
    else:
        is_allowed = authorizer.allowed(identity, "impersonate", "", "users", "", "", name)
    is_allowed = is_allowed and all(
        authorizer.allowed(identity, "impersonate", "", "groups", "", "", group) for group in groups
    )
    if uid:
        is_allowed = is_allowed and authorizer.allowed(identity, "impersonate", _AUTHN, "uids", "", "", uid)
    return is_allowed and all(
        authorizer.allowed(identity, "impersonate", _AUTHN, "userextras", key, "", value)
        for key, value in extras
    )
