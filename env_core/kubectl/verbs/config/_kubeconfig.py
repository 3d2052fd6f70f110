"""The terminal's kubeconfig: one cluster, one user, one context, whose namespace can be changed."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.world import Object

PATH = "/root/.kube/config"


def context_name(ctx: Context) -> str:
    """Return the name of the only context."""
    return f"{ctx.user}@{ctx.cluster}"


def kubeconfig(ctx: Context, *, shows_secrets: bool = False) -> Object:
    """Return the kubeconfig as an object, its fields in the order of the Go type."""
    context: Object = {"cluster": ctx.cluster, "user": ctx.user, "namespace": ctx.namespace}
    return {
        "kind": "Config",
        "apiVersion": "v1",
        "clusters": [
            {"name": ctx.cluster, "cluster": {"server": ctx.server, "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": ctx.user, "user": {"token": f"tok-{ctx.user}" if shows_secrets else "REDACTED"}}],
        "contexts": [{"name": context_name(ctx), "context": context}],
        "current-context": context_name(ctx),
    }
