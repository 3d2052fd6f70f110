"""The kubeconfig of an episode: the on-call engineer's, as the terminal has it, with the episode's address and token."""

from __future__ import annotations

from env_core.objects.yamlout import to_yaml
from env_core.scenarios.platform import ON_CALL

CLUSTER = "prod"


def kubeconfig(server: str, token: str) -> str:
    """Return a kubeconfig as YAML."""
    context = f"{ON_CALL.name}@{CLUSTER}"
    return to_yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CLUSTER, "cluster": {"server": server}}],
            "users": [{"name": ON_CALL.name, "user": {"token": token}}],
            "contexts": [
                {
                    "name": context,
                    "context": {"cluster": CLUSTER, "user": ON_CALL.name, "namespace": "default"},
                }
            ],
            "current-context": context,
        }
    )
