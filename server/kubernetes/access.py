"""Who may speak to an episode's Kubernetes API: who has its token, in a header or in the address.

Client-go sends no credentials over plain HTTP (clientcmd reads the user only for TLS), so a kubeconfig for a server without
TLS carries the token in its address.
"""

from __future__ import annotations

import hmac

from starlette.types import Scope

from server.play import Play
from server.sessions import Session


def authenticated(play: Play, scope: Scope) -> Session | None:
    """Return the session whose id and token a request has, None for any other."""
    offered = b""
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            offered = value[7:].strip()
    episode_id = scope["path_params"]["episode_id"]
    if not offered:
        offered = scope["path_params"].get("token", "").encode()
    for session in play.table.named(episode_id):
        if offered and hmac.compare_digest(session.token.encode(), offered):
            return session
    return None


def prefix_of(scope: Scope) -> str:
    """Return what the path of a request to the API begins with, as it came."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    parts = raw.decode("latin-1").partition("?")[0].split("/")
    return "/".join(parts[: parts.index("k8s") + 1])
