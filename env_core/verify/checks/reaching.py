"""Checks of both kinds about who reaches whom: the needed call passes, and the forbidden one is still refused.

Calls that are needed are really made, from the pods that need them, names and Services included. Calls that must not be
possible are tried by pods that may not exist, with the labels that their workloads would give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from env_core.objects import selectors
from env_core.objects.conditions import is_pod_ready
from env_core.verify.checks._model import Check
from env_core.verify.trials import Owner
from env_core.verify.view import View
from env_core.world import Object, Objects

_BATCH: Final = ".batch"
_SOMEWHERE: Final = "10.244.250.250"
_OUTSIDE: Final = "203.0.113.7"
_HTTPS: Final = 443
_UNUSED_PORT: Final = 9_999
_STRANGERS: Final = ("default", "kube-public")
"""Namespaces whose pods nobody has business with."""


class Call(NamedTuple):
    """A call that a workload makes: where to, as its configuration says it."""

    caller: Owner
    host: str
    port: int


class Door(NamedTuple):
    """A port on which a workload's pods listen."""

    owner: Owner
    port: int


def template_of(owner: Object) -> Object:
    """Return the pod template of a workload, of a CronJob that of its jobs."""
    spec = owner["spec"]
    found: Object = (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]
    return found


def ready_pods(view: View, owner: Owner) -> Objects:
    """Return the ready pods that a workload selects.

    Raises:
        KeyError: if it is gone.
    """
    found = view.get(*owner)
    if found is None:
        raise KeyError(f"{owner.resource} {owner.name} is gone")
    if "selector" not in found["spec"]:
        return []
    selector = selectors.from_object(found["spec"]["selector"])
    return [
        pod
        for pod in view.list("pods", owner.namespace)
        if selector.matches(pod["metadata"].get("labels") or {}) and is_pod_ready(pod)
    ]


def reaches(calls: Sequence[Call], what: str) -> Check:
    """Every ready pod of each caller finds the host and gets a connection; a caller without any fails, but for batch runs."""

    def fails(view: View) -> str:
        for call in calls:
            pods = ready_pods(view, call.caller)
            if not pods and not call.caller.resource.endswith(_BATCH):
                return f"{call.caller.name} has no ready pod"
            for pod in pods:
                failure = view.dial(pod, call.host, call.port)
                if failure:
                    return f"{call.caller.name} gets {failure} from {call.host}:{call.port}"
        return ""

    return Check(what, fails)


def looks_up(owners: Sequence[Owner], name_servers: Owner, what: str) -> Check:
    """Every ready pod of the workloads may ask every name server, by UDP and, as long answers take, by TCP.

    A workload without any fails, but for batch runs.
    """

    def fails(view: View) -> str:
        servers = ready_pods(view, name_servers)
        if not servers:
            return "there is no name server"
        for owner in owners:
            pods = ready_pods(view, owner)
            if not pods and not owner.resource.endswith(_BATCH):
                return f"{owner.name} has no ready pod"
            for pod in pods:
                for protocol in ("UDP", "TCP"):
                    if not all(view.can_connect(pod, server, 53, protocol) for server in servers):
                        return f"{owner.name} may not look up names by {protocol}"
        return ""

    return Check(what, fails)


def is_refused(doors: Sequence[Door], what: str) -> Check:
    """No pod of a namespace that has no business there, and no host outside, gets a connection to the workloads' pods."""

    def fails(view: View) -> str:
        for door in doors:
            target = _imagined(view, door.owner)
            for source in (*_strangers(_STRANGERS), _outsider()):
                if view.can_connect(source, target, door.port):
                    return f"{door.owner.name} is open to {_named(source)}"
        return ""

    return Check(what, fails)


def is_kept_inside(owners: Sequence[Owner], what: str) -> Check:
    """The workloads' pods get no connection to pods that they have no business with, nor to hosts outside."""

    def fails(view: View) -> str:
        for owner in owners:
            source = _imagined(view, owner)
            for target in (*_strangers(_STRANGERS), _outsider()):
                if view.can_connect(source, target, _HTTPS):
                    return f"{owner.name} may connect to {_named(target)}"
        return ""

    return Check(what, fails)


def kept_apart(healthy: View, owners: Sequence[Owner], doors: Sequence[Door], what: str) -> Check:
    """Whoever was kept out, or kept in, by the healthy world's policies is so still.

    The workloads, pods with no business and hosts outside are tried as callers of every door and of a port beside it,
    and the workloads as callers of strangers and of hosts outside.
    """

    def fails(view: View) -> str:
        for source, target, port in _tried(healthy, owners, doors):
            if view.can_connect(source, target, port) and not healthy.can_connect(source, target, port):
                return f"{_named(source)} may connect to {_named(target)}:{port}"
        return ""

    return Check(what, fails)


def _tried(healthy: View, owners: Sequence[Owner], doors: Sequence[Door]) -> list[tuple[Object, Object, int]]:
    spaces = sorted({door.owner.namespace for door in doors})
    inside = [_imagined(healthy, owner) for owner in owners]
    away = [*_strangers(_STRANGERS), _outsider()]
    found = [
        (source, _imagined(healthy, door.owner), port)
        for door in doors
        for source in (*inside, *_strangers(spaces), *away)
        for port in (door.port, _UNUSED_PORT)
    ]
    return found + [(source, target, _HTTPS) for source in inside for target in away]


def _imagined(view: View, owner: Owner) -> Object:
    """Return a pod as a workload would make it; it has an address, but nobody runs it.

    Raises:
        KeyError: if the workload is gone.
    """
    found = view.get(*owner)
    if found is None:
        raise KeyError(f"{owner.resource} {owner.name} is gone")
    template = template_of(found)
    return _pod(owner.namespace, owner.name, template["metadata"].get("labels") or {}, template["spec"])


def _strangers(namespaces: Iterable[str]) -> list[Object]:
    return [_pod(namespace, "", {"run": "somebody"}, {"containers": []}) for namespace in namespaces]


def _outsider() -> Object:
    """Return a host outside the cluster, dressed as a pod on the nodes' network: policies know it by its address only."""
    found = _pod("", "", {}, {"containers": [], "hostNetwork": True})
    return {**found, "status": {"podIP": _OUTSIDE, "podIPs": [{"ip": _OUTSIDE}]}}


def _pod(namespace: str, name: str, labels: Object, spec: Object) -> Object:
    return {
        "metadata": {"namespace": namespace, "name": name, "uid": "", "labels": labels},
        "spec": spec,
        "status": {"podIP": _SOMEWHERE, "podIPs": [{"ip": _SOMEWHERE}]},
    }


def _named(pod: Object) -> str:
    metadata = pod["metadata"]
    if not metadata["namespace"]:
        return "a host outside"
    return f"{metadata['name'] or 'a stranger'} in {metadata['namespace']}"
