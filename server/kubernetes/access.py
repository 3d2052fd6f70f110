"""Who may speak to an episode's Kubernetes API: who has its key, in a header or in the address.

A kubeconfig goes to an agent or to a person, the episode's token to whoever runs the episode: with it one resumes, paces and scores.
So a kubeconfig holds a key and a name that are derived from the token, and that open nothing but the Kubernetes API.

Client-go sends no credentials over plain HTTP (clientcmd reads the user only for TLS), so a kubeconfig for a server without
TLS carries the key in its address.
"""

from __future__ import annotations

import hmac

from starlette.types import Scope

from server.play import Play
from server.sessions import Session, derived


def key_of(session: Session) -> str:
    """Return the key of the episode's Kubernetes API."""
    return derived(session.token, "key")


def in_control(play: Play, scope: Scope) -> Session | None:
    """Return the session whose id and token a request has, None for any other."""
    offered = _offered(scope)
    for session in play.table.named(scope["path_params"]["episode_id"]):
        if offered and hmac.compare_digest(session.token.encode(), offered):
            return session
    return None


def authenticated(play: Play, scope: Scope) -> Session | None:
    """Return the session whose Kubernetes API a request may use: it has the token, or the key."""
    found = in_control(play, scope)
    if found is not None:
        return found
    offered, name = _offered(scope), scope["path_params"]["episode_id"]
    for session in play.table.known_as(name):
        if offered and hmac.compare_digest(key_of(session).encode(), offered):
            return session
    return None


def _offered(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            offered: bytes = value[7:].strip()
            if offered:
                return offered
    return str(scope["path_params"].get("token", "")).encode()


def prefix_of(scope: Scope) -> str:
    """Return what the path of a request to the API begins with, as it came."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    parts = raw.decode("latin-1").partition("?")[0].split("/")
    return "/".join(parts[: parts.index("k8s") + 1])
