"""A whole cluster, with its controllers and scheduler, whose containers follow the recordings' scripts."""

from __future__ import annotations

import base64
import json
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from env_core.apiserver.request import ADMIN, MERGE_PATCH, STRATEGIC_PATCH, Options
from env_core.apiserver.store import WatchEvent
from env_core.cluster import Cluster
from env_core.kubectl import command as kubectl
from env_core.kubectl.context import Context
from env_core.kubectl.discovery_cache import CachedDiscovery
from env_core.node._records import PodRecord, Settings
from env_core.node.eviction import ROUND_MS
from env_core.node.kubelet import Kubelets
from env_core.node.node_status import NETWORK_PROBLEM
from env_core.objects import quantity
from env_core.shell.context import FileSystem
from env_core.world import Object, Output
from tests.node.scripted import ScriptedImages, ScriptedRuntime

CREATED_MS = 1_767_225_600_400
"""kubelet: "the pod's creation time (flow: start) is 2026-01-01T00:00:00Z": the moment within its second is ours."""
SCRIPT = "oracle/script"
"""The annotation under which a recorded pod carried its script."""


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Object:
    found: Object = json.loads(text)
    return found


def settings_of(config: Mapping[str, Any]) -> Settings:
    """Return how a recorded node was set up."""
    kubelet = config.get("kubelet") or {}
    soft = (kubelet.get("evictionSoft") or {}).get("memory.available")
    grace = (kubelet.get("evictionSoftGracePeriod") or {}).get("memory.available", "0s")
    resolver = config.get("host_resolv_conf") or {}
    return Settings(
        soft_memory_bytes=quantity.to_bytes(soft) if soft else 0,
        soft_grace_ms=int(grace.removesuffix("s")) * 1_000,
        soft_pod_grace_s=kubelet.get("evictionMaxPodGracePeriod", 0),
        pressure_transition_ms=60_000
        if kubelet.get("evictionPressureTransitionPeriod") == "1m0s"
        else 300_000,
        nameservers=tuple(resolver.get("nameservers") or ()),
        searches=tuple(resolver.get("searches") or ()),
        has_cluster_dns="clusterDNS" in kubelet or not kubelet,
        has_apparmor=False,
        csi_drivers=tuple(config.get("csi_drivers") or ()),
    )


class Lab(Cluster):
    """A cluster as the recordings' laboratory was one. `changes` are all writes since `watch`, with their times.

    `moments` are, by pod, the times at which the recorded kubelet did something for it, `starts` those at which it
    started a container. Where the kubelet draws
    how far a retry is put off, the draw is the one that comes next to the recorded time (FINDINGS 3: the
    re-sync comes after `min(remaining, 60 s) x U(1, 1.5)`).
    """

    __slots__ = ("admin", "changes", "images", "is_watching", "moments", "scripted", "scripts", "starts")

    def __init__(self, now_ms: int, seed: int = 7) -> None:
        self.scripts: dict[tuple[str, str], Object] = {}
        self.moments: dict[str, list[int]] = {}
        self.starts: dict[str, list[int]] = {}
        self.changes: list[tuple[int, WatchEvent]] = []
        self.is_watching = False
        super().__init__(seed=seed, now_ms=now_ms)
        self.scripted = ScriptedRuntime(self.runtime, self.loop, self.script_of)
        self.images = ScriptedImages(self.scripted.program, self.script_of)
        self.kubelets = Kubelets(
            server=self.server,
            state=self.state,
            runtime=self.runtime,
            network=self.scripted,
            exec_in=self.scripted.execute,
            images=self.images,
            jitter=self._jitter,
        )
        self.server.backend = self.kubelets
        self.server.views = self.kubelets.views
        self.loop.bind("kubelet", self.kubelets.handle)
        self.admin = self.client(ADMIN)
        self.boot()

    def script_of(self, namespace: str, name: str) -> Object:
        """Return what a pod's containers do."""
        return self.scripts.get((namespace, name)) or {}

    def _jitter(self, record: PodRecord, wait_ms: int) -> float:
        now_ms = self.now_ms
        moments = self.moments.get(record.name)
        if not moments:
            return 0.25
        index = bisect_left(moments, now_ms + wait_ms - 200)
        if index == len(moments) or moments[index] > now_ms + wait_ms * 3 // 2 + 1_300:
            return 0.25
        if not wait_ms:
            starts = self.starts.get(record.name) or []
            return 0.5 if any(-300 <= at_ms - now_ms <= 800 for at_ms in starts) else 0.0
        # Ticks come every second: half of one before the moment is the draw that comes nearest.
        return min(max((moments[index] - 500 - now_ms - wait_ms) / wait_ms, 0.0), 0.5)

    def _on_write(self, event: WatchEvent) -> None:
        if event.ref.resource == "pods":
            script = (event.object["metadata"].get("annotations") or {}).get(SCRIPT)
            if script:
                self.scripts[(event.ref.namespace, event.ref.name)] = _parsed(script)
        if self.is_watching:
            self.changes.append((self.now_ms, event))
        super()._on_write(event)

    def join(
        self, name: str, config: Mapping[str, Any], round_ms: int | None = None, *, is_new: bool = False
    ) -> None:
        """Add a recorded node; `round_ms` is a time at which its eviction manager looks."""
        capacity = config["capacity"]
        start = config.get("at_start") or {}
        self.kubelets.join(
            name,
            cpu=capacity["cpu"],
            memory=capacity["memory"],
            pods=int(capacity["pods"]),
            taints=config.get("taints") or (),
            settings=settings_of(config),
            is_new=is_new,
            network_problem="" if start.get("networkReady", True) else NETWORK_PROBLEM,
        )
        if round_ms is not None:
            table = self.state.table("kubelet/nodes")
            table[name] = table[name]._replace(evict_ms=round_ms % ROUND_MS)

    def kubectl(self, line: str, namespace: str = "default") -> Output:
        """Run a kubectl command as an administrator."""
        context = Context(
            api=self.client(ADMIN),
            clock=self,
            files=FileSystem(),
            discovery=CachedDiscovery(self.registry, lambda: self.now_ms),
            namespace=namespace,
            stdin="",
            user="admin",
            cluster="lab",
            server="https://127.0.0.1:6443",
        )
        # Recorded commands are their words with blanks between: a patch is one of them.
        head, brace, patch = line.partition(" {")
        words = head.split()[1:] + (["{" + patch] if brace else [])
        return kubectl.run(words, context)

    def create(self, body: Object) -> Object:
        """Create an object of a recording."""
        kind = self.registry.by_gvk(body["apiVersion"], body["kind"])
        assert kind is not None
        namespace = body["metadata"].get("namespace", "default") if kind.is_namespaced else ""
        if body["kind"] == "Secret" and "stringData" in body:
            data = {
                key: base64.b64encode(value.encode()).decode() for key, value in body["stringData"].items()
            }
            body = {key: value for key, value in body.items() if key != "stringData"} | {"data": data}
        if body["kind"] == "Secret" and ".dockerconfigjson" in (body.get("data") or {}):
            self.images.secrets.add("good")
        return self.admin.create(kind.resource, namespace, body)

    def post(self, record: Mapping[str, Any]) -> Object:
        """Create a recorded pod, with its script."""
        manifest = record["manifest"]
        metadata = manifest["metadata"]
        if record["script"]:
            annotations = {**(metadata.get("annotations") or {}), SCRIPT: json.dumps(record["script"])}
            metadata = {**metadata, "annotations": annotations}
        return self.create({**manifest, "metadata": metadata})

    def act(self, action: list[Any], pod: Object) -> None:
        """Perform one action of a recording."""
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        verb, body = action[0], action[1] if len(action) > 1 else None
        if verb == "delete":
            self.admin.delete("pods", namespace, name, Options(grace_period_seconds=body))
        elif verb == "patch":
            kind = MERGE_PATCH if "metadata" in body else STRATEGIC_PATCH
            self.admin.patch("pods", namespace, name, body, kind)
        elif verb == "patch_status":
            self.admin.patch("pods", namespace, name, body, STRATEGIC_PATCH, subresource="status")
        elif verb == "resize":
            self.admin.patch("pods", namespace, name, body, STRATEGIC_PATCH, subresource="resize")
        elif verb == "create":
            self.create(body)
        elif verb == "ephemeral":
            patch = {"spec": {"ephemeralContainers": [body]}}
            self.admin.patch(
                "pods", namespace, name, patch, STRATEGIC_PATCH, subresource="ephemeralcontainers"
            )
        elif verb == "end_sandbox":
            self.kubelets.end_sandbox(namespace, name)
        elif verb == "exit":
            uid = metadata["uid"]
            run = self.runtime.run(uid, action[1])
            assert run is not None
            self.runtime.end(run, self.now_ms, action[2], action[3] if len(action) > 3 else "")
            self.loop.wake(self.now_ms, "kubelet", ("run", uid, action[1]))
        else:
            raise NotImplementedError(verb)
