"""The client under the name that `openenv push` looks for; everything else imports `kubedrill`."""

from kubedrill.client import KubeEnv

__all__ = ["KubeEnv"]
