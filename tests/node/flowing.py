"""A recorded flow played with our own controllers, scheduler and two kubelets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.node.lab import CREATED_MS, Lab
from tests.node.playing import DEFAULT_CONFIG, SETTLE_MS, Record

NODES = ("node-1", "node-2")
NAMESPACE_MS = 1_000
"""How long before its objects a flow's namespace was made."""
STEP_MS = 150
AFTER_MS = 1_500
SUFFIX_LENGTH = 5
Result = tuple[int, str, str]
_READS = ("get", "describe", "logs")
_SUFFIXED = ("Pod", "EndpointSlice", "ControllerRevision")


def _waits(line: str) -> bool:
    words = line.split()
    return words[1] in ("wait", "delete") or words[1:3] == ["rollout", "status"]


class FlowPlay:
    """One flow in its own namespace. Offsets count from its start."""

    def __init__(self, record: Record, seed: int = 7) -> None:
        self.record = record
        self.namespace = f"flow-{record['flow']}"
        self.start_ms = CREATED_MS
        world = self.world = Lab(CREATED_MS - SETTLE_MS, seed)
        for name in NODES:
            world.join(name, DEFAULT_CONFIG)
        world.loop.run_until(CREATED_MS - NAMESPACE_MS)
        world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        world.loop.run_until(CREATED_MS)
        world.is_watching = True
        kinds = {kind.kind: kind for kind in reversed(world.registry.kinds)}
        for body in record["objects"]:
            kind = kinds[body["kind"]]
            version = f"{kind.group}/{kind.version}" if kind.group else kind.version
            metadata = {**body["metadata"], "namespace": self.namespace}
            world.create({"apiVersion": version, **body, "metadata": metadata})

    def run_to(self, offset_ms: int) -> None:
        """Play on to a moment."""
        self.world.loop.run_until(max(self.start_ms + offset_ms, self.world.now_ms))

    def run_command(self, index: int, fits: Callable[[Record, Result], bool]) -> Result:
        """Run one of the recorded commands at its moment; what only reads is tried for a while until it fits.

        What waits was run beside the others: its output comes from a flow of its own, in which nothing follows.
        """
        each = self.record["kubectl"][index]
        if _waits(each["argv"]):
            beside = FlowPlay(self.record)
            for before in self.record["kubectl"][:index]:
                beside.change(before)
            beside.run_to(each["at_ms"])
            result = beside.run(each["argv"])
            self.change(each)
            return result
        self.run_to(each["at_ms"])
        first = result = self.run(each["argv"])
        if each["argv"].split()[1] in _READS:
            end_ms = each["end_ms"] + AFTER_MS
            while not fits(each, result) and self.world.now_ms - self.start_ms < end_ms:
                self.world.advance(STEP_MS)
                result = self.run(each["argv"])
            if not fits(each, result):
                return first
        return result

    def change(self, each: Record) -> None:
        """Run a recorded command for what it changes, without waiting."""
        self.run_to(each["at_ms"])
        words = each["argv"].split()
        if words[1] == "delete":
            self.run(each["argv"] if "--wait=false" in words else each["argv"] + " --wait=false")
        elif words[1] not in (*_READS, "wait") and words[1:3] not in (
            ["rollout", "status"],
            ["rollout", "history"],
        ):
            self.run(each["argv"])

    def run(self, line: str) -> Result:
        """Run a kubectl command now."""
        output = self.world.kubectl(line, self.namespace)
        return output.exit_code, self.shown(output.stdout), self.shown(output.stderr)

    def _names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Hashes and drawn suffixes of what there was so far, with what stands for them."""
        hashes: dict[str, str] = {}
        suffixes: dict[str, str] = {}
        for _, change in self.world.changes:
            metadata = change.object["metadata"]
            if metadata.get("namespace") != self.namespace or change.ref.resource == "events":
                continue
            found = (metadata.get("labels") or {}).get("pod-template-hash")
            if found:
                hashes.setdefault(found, "$H")
            found = (metadata.get("labels") or {}).get("controller-revision-hash")
            if found:
                hashes.setdefault(found.rpartition("-")[2], "$R")
            kind = change.object.get("kind", "")
            if kind in _SUFFIXED and metadata.get("generateName"):
                suffix = metadata["name"].removeprefix(metadata["generateName"])
                if len(suffix) != SUFFIX_LENGTH:
                    continue
                suffixes.setdefault(suffix, {"Pod": "$P", "EndpointSlice": "$E"}.get(kind, "$R"))
        return hashes, suffixes

    def plain(self, text: str) -> str:
        """Return a text of ours with what stands for hashes and drawn suffixes."""
        hashes, suffixes = self._names()
        for drawn, alias in {**hashes, **suffixes}.items():
            text = re.sub(rf"(?<=-){re.escape(drawn)}(?![0-9a-z])", alias, text)
        return text

    def shown(self, text: str) -> str:
        """Return a printed text of ours with the recording's stand-ins."""
        hashes, suffixes = self._names()
        for drawn in hashes:
            text = re.sub(rf"\b{re.escape(drawn)}(?![0-9a-z])", "hhhhhhhh01", text)
        for drawn, alias in suffixes.items():
            text = re.sub(
                rf"(?<=-){re.escape(drawn)}(?![0-9a-z])", "eee01" if alias == "$E" else "ppp01", text
            )
        return text

    def events(self) -> Iterator[Any]:
        """Yield each event of the namespace."""
        for _, change in self.world.changes:
            if (
                change.ref.resource == "events"
                and change.type == "ADDED"
                and change.ref.namespace == self.namespace
            ):
                yield change.object

    def states(self) -> Iterator[tuple[str, str, Any]]:
        """Yield (kind, name, status) of each change of an object of the namespace."""
        for _, change in self.world.changes:
            if change.ref.namespace == self.namespace and change.type != "DELETED":
                obj = change.object
                status = obj.get("status") or {}
                drawn = {
                    key: self.plain(status[key])
                    for key in ("currentRevision", "updateRevision")
                    if key in status
                }
                yield obj.get("kind", ""), change.ref.name, {**status, **drawn}
