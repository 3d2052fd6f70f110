"""The Impersonate- headers: whom a request acts as, and whether it may."""

from __future__ import annotations

from urllib.parse import unquote

from env_core.apiserver import errors
from env_core.apiserver.authz import MASTERS, Authorizer, impersonation_text
from env_core.apiserver.impersonation import groups_of, may_impersonate
from env_core.apiserver.request import Identity
from env_core.objects.problems import quoted
from env_core.rest.message import HttpRequest
from env_core.rest.paths import Target

_EXTRA = "impersonate-extra-"


def acting(
    request: HttpRequest, identity: Identity, authorizer: Authorizer, target: Target | None, verb: str
) -> Identity:
    """Return the identity that a request acts as.

    Raises:
        StatusError: 400 for groups, a uid or extras without a user; 403 when RBAC says no.
    """
    user = request.header("impersonate-user")
    groups = request.headers_of("impersonate-group")
    uid = request.header("impersonate-uid")
    extras = tuple(
        (unquote(name[len(_EXTRA) :]), value) for name, value in request.headers if name.startswith(_EXTRA)
    )
    if not user:
        if groups or uid or extras:
            raise errors.bad_request(_without_user(groups, uid, extras))
        return identity
    if MASTERS not in identity.groups and not may_impersonate(
        authorizer, identity, user, groups, uid, extras
    ):
        what = target or Target("", "", "")
        why = impersonation_text(identity, verb, what.group, what.plural, what.namespace)
        raise errors.forbidden(what.group, what.plural, what.name, why)
    return Identity(user, groups_of(user, groups), uid)


def _without_user(groups: tuple[str, ...], uid: str, extras: tuple[tuple[str, str], ...]) -> str:
    listed = ", ".join(map(quoted, groups))
    shown_groups = f"[]string{{{listed}}}" if groups else "[]string(nil)"
    by_key: dict[str, list[str]] = {}
    for key, value in extras:
        by_key.setdefault(key, []).append(value)
    shown_extra = "map[string][]string(nil)"
    if by_key:
        pairs = (f"{quoted(key)}:[]string{{{', '.join(map(quoted, by_key[key]))}}}" for key in sorted(by_key))
        shown_extra = f"map[string][]string{{{', '.join(pairs)}}}"
    return (
        f'requested &user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{shown_groups}, Extra:{shown_extra}}} '
        "without impersonating a user name"
    )
