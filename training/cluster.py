"""Replicas on the machines of a Ray cluster; otherwise just like those of `training.replicas`. Needs `pip install 'ray[default]'`.

    with cluster_replicas(16, address="auto") as replicas:      # or `environment: {cluster: auto}` in a plan

One actor holds one server process, wherever Ray finds room; when its machine is lost, another takes its place elsewhere. The
machines need this checkout at the same path, with its environment (`make run` makes it). Machines of one cluster must share
Ray's own token, which Ray 2.60 writes to ~/.ray/auth_token at its first start.
"""

from __future__ import annotations

import contextlib
import secrets
from typing import Any

from training.replicas import START_S_MAX, Child, ReplicaError, Replicas

ASK_S_MAX = 10.0


class Holder:
    """What the actor is: a server on the actor's machine, reachable from the others."""

    def __init__(self, variables: dict[str, str]) -> None:
        import ray

        self._child = Child(host=ray.util.get_node_ip_address(), variables=variables)

    def start(self) -> str:
        """Start the server and return its URL."""
        self._child.start()
        return self._child.url

    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._child.is_running()

    def said(self) -> str:
        """Return the last lines of what the server wrote."""
        return self._child.said()

    def stop(self) -> None:
        """End the server."""
        self._child.stop()


class ClusterHost:
    """A server that an actor of Ray holds."""

    def __init__(self, ray: Any, variables: dict[str, str], cpus: float) -> None:
        self.url = ""
        self._ray = ray
        self._variables = variables
        self._kind = ray.remote(Holder).options(num_cpus=cpus, scheduling_strategy="SPREAD")
        self._actor: Any = None

    def start(self) -> None:
        """Start the server, in a new actor if the one before is gone.

        Raises:
            ReplicaError: if the cluster has no room for it.
        """
        if self._actor is None or self._asked("is_running") is None:
            self._actor = self._kind.remote(self._variables)
        url = self._asked("start", START_S_MAX)
        if url is None:
            raise ReplicaError("Ray has no room for a server, or lost it at once")
        self.url = url

    def is_running(self) -> bool:
        """Whether the actor lives and its process is there."""
        return bool(self._asked("is_running"))

    def said(self) -> str:
        """Return the last lines of what the server wrote."""
        return str(self._asked("said") or "")

    def stop(self) -> None:
        """End the server and its actor."""
        self._asked("stop")
        actor, self._actor = self._actor, None
        if actor is not None:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)

    def _asked(self, method: str, seconds: float = ASK_S_MAX) -> Any:
        """Return the actor's answer; None if it is gone or does not answer in time."""
        if self._actor is None:
            return None
        try:
            return self._ray.get(getattr(self._actor, method).remote(), timeout=seconds)
        except self._ray.exceptions.RayError:
            return None


def cluster_replicas(
    count: int,
    *,
    address: str,
    cpus: float = 1.0,
    token: str = "",
    variables: dict[str, str] | None = None,
) -> Replicas:
    """Start servers on the cluster and return them once they answer.

    Args:
        count: How many.
        address: Where the cluster is; `auto` for that of this machine, `local` for a new one on this machine.
        cpus: Processor cores that Ray sets aside for each.
        token: The bearer token of the servers, which others on the network could reach; made up if empty.
        variables: Environment variables of the servers.

    Raises:
        ReplicaError: if Ray is not installed, has no room, or a server does not come up.
    """
    try:
        import ray
    except ModuleNotFoundError:
        raise ReplicaError(
            "replicas on a cluster need Ray: pip install 'ray[default]>=2.60'; on one machine use Replicas.started"
        ) from None
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    secret = token or secrets.token_urlsafe(24)
    given = {**(variables or {}), "KUBEDRILL_TOKEN": secret}
    replicas = Replicas([ClusterHost(ray, given, cpus) for _ in range(count)], token=secret)
    replicas.start()
    return replicas
