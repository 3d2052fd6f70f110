"""Clusters with the real API server over recorded objects, to replay recorded writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from env_core import cluster, kinds
from env_core.apiserver import errors, virtual
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.client import ApiClient
from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import ApiRequest, Identity
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.discovery import discover
from env_core.kubectl.command import run
from env_core.kubectl.context import Context
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.world import Object, Output
from tests.kubectl.golden_world import MemoryFiles, normalized

ADMIN = Identity("kubernetes-admin", ("system:masters", "system:authenticated"), "1")
VERBS = (
    "apply", "create", "patch", "set", "scale", "delete", "label", "annotate", "expose", "run", "replace", "edit",
    "cordon", "uncordon", "drain", "taint", "autoscale", "diff", "certificate", "debug", "cp", "attach",
    "port-forward", "proxy", "kustomize", "plugin", "completion", "kuberc",
)  # fmt: skip

CONTROLLED = frozenset(
    (
        "orphan",
        "foregroundDeletion",
        "kubernetes.io/pvc-protection",
        "kubernetes.io/pv-protection",
        "batch.kubernetes.io/job-tracking",
    )
)
"""Finalizers that controllers take off."""

_MASKS = (
    (re.compile(r'(resourceVersion: )"\d+"'), r'\1"RV"'),
    (re.compile(r'("resourceVersion\\*":\s?\\*")(?:\d+|RV)'), r"\1RV"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| \+0000)"), "TIME"),
    (re.compile(r"/(LIVE|MERGED)-\d+/"), r"/\1/"),
    (re.compile(r"kube-api-access-\w{5}"), "kube-api-access-X"),
    (re.compile(r"((?:node-)?debugger-(?:[a-z0-9-]+-)?)\w{5}\b"), r"\1X"),
    (re.compile(r"<JWT>|eyJ[\w.-]+"), "JWT"),
)


def masked(text: str) -> str:
    """Return a text without what differs from run to run: versions, uids, times, random names."""
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return text


@cache
def served() -> Registry:
    """Return the kinds that the API serves."""
    return Registry([*discover(kinds, "KIND", Kind).values(), *virtual.KINDS])


class World:
    """The real API server over a store, and a clock on which only terminating pods end."""

    def __init__(self, now_ms: int, store: Store | None = None) -> None:
        self.loop = EventLoop(now_ms)
        self.store = store or Store()
        streams = Streams(1)
        if store is None:
            for resource, obj in boot_objects(streams, now_ms):
                self.store.put(resource, obj)
        self.server = ApiServer(
            registry=served(),
            store=self.store,
            loop=self.loop,
            streams=streams,
            admission=cluster.admission(),
            virtual=virtual.VIRTUAL,
        )
        self.server.backend = self

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self.loop.now_ms

    def fork(self, now_ms: int) -> World:
        """Return an independent copy at another moment."""
        return World(now_ms, self.store.fork())

    def advance(self, duration_ms: int) -> None:
        """Let time pass: what has to end does so, unless a finalizer of somebody else holds it."""
        for ref, obj in list(self.store.everything()):
            metadata = obj["metadata"]
            if "deletionTimestamp" in metadata and CONTROLLED.issuperset(metadata.get("finalizers") or ()):
                self.store.remove(ref.resource, ref.namespace, ref.name)
        self.loop.now_ms += duration_ms

    def log(self, _pod: Object, _request: ApiRequest) -> str:
        """Return no log."""
        return ""

    def attach(self, _pod: Object, _request: ApiRequest) -> bool:
        """Say that the process is over."""
        return False

    def exec(self, pod: Object, request: ApiRequest) -> Output:
        """Answer like the recorder's script kubelet, which knows no tar.

        Raises:
            StatusError: always.
        """
        assert request.exec is not None
        if not pod["spec"].get("nodeName"):
            raise errors.bad_request(f"pod {request.name} does not have a host assigned")
        rows = {row["name"]: row for row in (pod.get("status") or {}).get("containerStatuses") or ()}
        if "running" not in (rows.get(request.exec.container) or {}).get("state", {}):
            raise errors.bad_request("unable to upgrade: missing websocket key")
        raise errors.internal(
            'error executing command in container: failed to exec in container: failed to start exec "d34db33f": '
            f'OCI runtime exec failed: exec failed: unable to start container process: exec: "{request.exec.command[0]}": '
            "executable file not found in $PATH"
        )

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until `is_met()`, or `timeout_ms`."""
        end_ms = self.now_ms + timeout_ms
        while not is_met():
            if self.now_ms >= end_ms:
                return False
            self.advance(min(1000, end_ms - self.now_ms))
        return True


@cache
def _booted() -> World:
    return World(0)


def world_of(objects: Iterable[Object], namespace: str, now_ms: int) -> World:
    """Return a world at a moment with the given objects."""
    world = _booted().fork(now_ms)
    put_account(world, namespace)
    for obj in objects:
        kind = served().by_gvk(obj["apiVersion"], obj["kind"])
        if kind is not None:
            world.store.put(kind.resource, obj)
    return world


def put_account(world: World, namespace: str) -> None:
    """Add what the recordings leave out of a namespace: itself, its root certificate, its default account."""
    labels = {"kubernetes.io/metadata.name": namespace}
    world.store.put(
        "namespaces",
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "uid": "00000000-0000-4000-8000-00000000000a", "labels": labels},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        },
    )
    for resource, kind, name in (
        ("serviceaccounts", "ServiceAccount", "default"),
        ("configmaps", "ConfigMap", "kube-root-ca.crt"),
    ):
        metadata = {"name": name, "namespace": namespace, "uid": "00000000-0000-4000-8000-00000000000b"}
        world.store.put(resource, {"apiVersion": "v1", "kind": kind, "metadata": metadata})


def context_of(
    world: World,
    namespace: str,
    *,
    stdin: str = "",
    files: dict[str, str] | None = None,
    identity: Identity = ADMIN,
) -> Context:
    """Return the context of one command over a world."""
    return Context(
        api=ApiClient(world.server, identity),
        clock=world,
        files=MemoryFiles(dict(files or {})),
        discovery=served(),
        namespace=namespace,
        stdin=stdin,
        user="admin",
        cluster="l2",
        server="https://127.0.0.1:6443",
    )


def replay(
    world: World, namespace: str, record: dict[str, Any], identity: Identity = ADMIN
) -> tuple[int, str, str]:
    """Run a recorded command and return its masked result."""
    ctx = context_of(world, namespace, stdin=record.get("stdin") or "", identity=identity)
    exit_code, stdout, stderr = normalized(run(list(record["argv"]), ctx))
    return exit_code, masked(stdout), masked(stderr)


def recorded(record: dict[str, Any]) -> tuple[int, str, str]:
    """Return the masked result of a recording."""
    return record["rc"], masked(record["stdout"]), masked(record["stderr"])
